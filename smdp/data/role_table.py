"""The roles as a table that people edit, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pandas as pd

from smdp.data.column_roles import Assignment, ColumnRoles, NextValue, StateVariable
from smdp.data.columns import levels_as_text, numbers, unique_finite
from smdp.data.guess_roles import RoleGuess, guess_columns
from smdp.data.outcome import AboutOutcome
from smdp.data.variables import KINDS, Kind
from smdp.errors import SettingError
from smdp.text import listing, number, shorten

FEWEST_COLUMNS = 4
#: Roles that no two columns have.
OF_ONE_COLUMN = ("subject", "time", "action", "utility", "available")


def role_table(frame: pd.DataFrame, guess: RoleGuess) -> pd.DataFrame:
    """One row for each column: its guessed role and type, and what it holds."""
    labels = frame.attrs.get("variable_labels", {})
    rows = []
    for column in guess.columns:
        cells = frame[column.column]
        rows.append(
            {
                "column": column.column,
                "role": column.role,
                "type": column.kind,
                "lowest": None,
                "highest": None,
                "unit": "",
                "group": "",
                "missing codes": "",
                **_facts(cells),
                "label": labels.get(column.column) or "",
                "why": column.why,
                "doubt": column.doubt,
            }
        )
    return _of_rows(rows)


def with_facts(table: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """The same roles, with what the columns hold in this frame; those it has not stay as they are.

    A table that an earlier version kept has fewer columns.
    """
    if "group" not in table.columns:
        table = table.assign(group="")
    old = table.to_dict("records")
    rows = [each | _facts(frame[n]) if (n := each["column"]) in frame else each for each in old]
    return _of_rows(rows)


def _of_rows(rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    return pd.DataFrame(rows).astype({"lowest": float, "highest": float, "type": object})


def held_by_columns(table: pd.DataFrame) -> pd.DataFrame:
    """To be read beside the roles: what each column holds, and why its role was guessed."""
    shown = pd.DataFrame(
        {
            "Column": [shorten(name, 40) for name in table["column"]],
            "Values": table["values"],
            "Missing": [f"{100 * share:.0f} %" for share in table["missing"]],
            "Different values": [f"{count:,}" for count in table["distinct"]],
            "Label in the file": [shorten(label, 80) for label in table["label"]],
            "Why this guess": table["why"],
        }
    )
    return shown if table["label"].any() else shown.drop(columns="Label in the file")


def left_out_in_doubt(table: pd.DataFrame) -> pd.DataFrame:
    """The columns that are left out because they look as if known only after the decision."""
    if "doubt" not in table.columns:  # kept by an earlier version
        table = table.assign(doubt="")
    doubt = table["doubt"].fillna("")
    found = table[(table["role"] == "ignore") & (doubt != "")]
    return pd.DataFrame({"Column": found["column"], "Why it is asked": found["doubt"]})


def roles_to_table(
    frame: pd.DataFrame, roles: ColumnRoles, codes: Mapping[str, Sequence[object]]
) -> pd.DataFrame:
    """The table that these roles and each column's missing codes would be read from.

    State variables come in the order of the roles, for that is the order of the state.
    """
    table = role_table(frame, guess_columns(frame)).set_index("column", drop=False)
    states = {variable.name: variable for variable in roles.variables}
    table[["role", "why"]] = ["ignore", "as in the analysis"]
    table["type"] = None
    for name in roles.columns():
        table.loc[name, "role"] = "probability"
    for role in ("utility", "subject", "time", "action", "available"):
        name = getattr(roles, role)
        if isinstance(name, str):
            table.loc[name, "role"] = role
    for name, variable in states.items():
        table.loc[name, ["role", "type"]] = ["state", variable.kind]
        table.loc[name, ["lowest", "highest"]] = [variable.low, variable.high]
        table.loc[name, "unit"] = variable.unit or ""
        table.loc[name, "group"] = variable.group or ""
    for name, found in codes.items():
        if name in table.index:
            table.loc[name, "missing codes"] = ", ".join(map(str, found))
    in_order = iter(states)
    order = [next(in_order) if name in states else name for name in table.index]
    return table.loc[order].reset_index(drop=True)


def codes_from_table(table: pd.DataFrame, everywhere: str = "") -> dict[str, list[str]]:
    """Each column's missing codes as typed ('-9, 999'): its own, and those for all columns.

    Subjects and times have codes of their own only: 999 may be somebody's number.
    """
    shared = split_codes(everywhere)
    codes = {}
    for row in table.to_dict("records"):
        own = split_codes(row["missing codes"]) if isinstance(row["missing codes"], str) else []
        codes[row["column"]] = own + ([] if row["role"] in ("subject", "time") else shared)
    return {name: found for name, found in codes.items() if found}


def codes_before_shaping(
    table: pd.DataFrame,
    everywhere: str,
    columns: Sequence[str],
    others: Mapping[str, Sequence[object]],
) -> dict[str, list[str]]:
    """The same of a table that was shaped: the codes of the `columns` that it had before.

    `others`: the codes of those that it has no more.
    """
    made = [name for name in codes_from_table(table) if name not in columns]
    if made:
        raise SettingError(
            f"There are missing codes for {listing(made)}, which the table has by being shaped: "
            "codes are marked as missing before that.",
            "Give them in the column that it is made of, or recode it in a step of its own.",
        )
    codes = codes_from_table(table, everywhere)
    shown, shared = set(table["column"]), split_codes(everywhere)
    for name in columns:
        if name not in shown:
            codes[name] = [*map(str, others.get(name, ())), *shared]
    return {name: codes[name] for name in columns if codes.get(name)}


def fitted_to(frame: pd.DataFrame, table: pd.DataFrame, earlier: pd.DataFrame) -> pd.DataFrame:
    """The roles for a table that has other columns now: what was chosen stays, new ones come first.

    `earlier`: rows of columns that were there before and may be again. A new column has the role
    that it had then, or that is guessed; 'ignore' if that is of one column only, and taken.
    """
    names = list(map(str, frame.columns))
    stays = table[table["column"].isin(names)]
    new = [name for name in names if name not in set(stays["column"])]
    known = earlier[earlier["column"].isin(new)].drop_duplicates("column", keep="last")
    unknown = set(new) - set(known["column"])
    if unknown:
        beside = list(stays.loc[stays["role"].isin(OF_ONE_COLUMN), "column"])
        looked_at = frame[[*beside, *(name for name in names if name in unknown)]]
        guessed = role_table(looked_at, guess_columns(looked_at))
        known = pd.concat([known, guessed[guessed["column"].isin(unknown)]])
    known = known.set_index("column", drop=False).loc[new].reset_index(drop=True)
    taken = set(stays["role"]) & set(OF_ONE_COLUMN)
    for place, role in enumerate(known["role"]):
        if role in taken:
            known.loc[place, ["role", "type"]] = ["ignore", None]
        elif role in OF_ONE_COLUMN:
            taken.add(role)
    return pd.concat([known, stays], ignore_index=True)


def add_codes(table: pd.DataFrame, codes: Mapping[str, Sequence[float]]) -> pd.DataFrame:
    """The table with these codes written into the columns' missing codes."""
    written = table.copy()
    for name, found in codes.items():
        rows = written["column"] == name
        old = [split_codes(text) for text in written.loc[rows, "missing codes"]]
        new = [", ".join([*o, *(f"{c:g}" for c in found)]) for o in old]
        written.loc[rows, "missing codes"] = new
    return written


def split_codes(text: str) -> list[str]:
    return [code for code in re.split(r"[,;\s]+", text.strip()) if code]


def _nobody_is(roles: list[str]) -> str:
    first, last = ", ".join(f"'{role}'" for role in roles[:-1]), f"'{roles[-1]}'"
    return f"No column has the role {f'{first} or {last}' if first else last}."


def _concerns(roles: list[str], columns: int) -> str:
    if columns < FEWEST_COLUMNS:
        return ""
    return "open outcome" if roles == ["utility"] else "open roles"


def _how_to_fill(roles: list[str], columns: int) -> str:
    if columns < FEWEST_COLUMNS:
        return (
            f"The table has {columns} column{'' if columns == 1 else 's'}, and needs at least "
            f"{FEWEST_COLUMNS}: subject, time, action and one state. If it has more in your "
            "program, save it as CSV with commas, semicolons or tabs between them."
        )
    text = f"Choose {'it' if len(roles) == 1 else 'them'} in the table of columns."
    if "utility" in roles:
        text += " The utility is the outcome: a column, or the next value of a state."
    if "action" in roles:
        text += (
            " The action is the treatment of each decision, such as message or none, 1 or 0. "
            "Without one the table can be looked at, but nothing can be learned from it."
        )
    return text


def roles_from_table(
    table: pd.DataFrame,
    *,
    next_value: NextValue | None = None,
    probability: float | Mapping[str, str | float] | None = None,
    action_levels: Mapping[str, str] | None = None,
    lags: int = 0,
    action_lags: int = 0,
    add_time: bool = False,
    known_before: Sequence[str] = (),
    assignment: Assignment | None = None,
    nothing_hidden: bool = False,
    outcome: AboutOutcome | None = None,
) -> ColumnRoles:
    """The edited table as `ColumnRoles`, or an error that says which role is open or doubled."""
    by_role = {role: list(rows["column"]) for role, rows in table.groupby("role", sort=False)}
    single = ("subject", "time", "action") + (() if next_value else ("utility",))
    open_roles = [role for role in single if role not in by_role]
    if open_roles:
        raise SettingError(
            _nobody_is(open_roles),
            _how_to_fill(open_roles, len(table)),
            concerns=_concerns(open_roles, len(table)),
        )
    for role in ("subject", "time", "action", "utility", "available"):
        if len(by_role.get(role, ())) > 1:
            raise SettingError(
                f"More than one column has the role '{role}': {listing(by_role[role])}.",
                "Keep one of them; set the others to 'state' or 'ignore'.",
            )
    if "state" not in by_role:
        raise SettingError(
            "No column has the role 'state'.",
            "Mark the variables on which the choice of treatment may depend.",
        )
    in_columns = by_role.get("probability", [])
    if probability is None and len(in_columns) > 1:
        raise SettingError(
            f"Several columns hold a randomisation probability: {listing(in_columns)}.",
            "Say which belongs to which action, or set all but one to 'ignore'.",
        )
    return ColumnRoles(
        subject=by_role["subject"][0],
        time=by_role["time"][0],
        action=by_role["action"][0],
        states=states_in(table),
        utility=next_value or by_role["utility"][0],
        available=next(iter(by_role.get("available", [])), None),
        probability=probability if probability is not None else next(iter(in_columns), None),
        action_levels=action_levels,
        lags=lags,
        action_lags=action_lags,
        add_time=add_time,
        known_before=tuple(known_before),
        assignment=assignment,
        nothing_hidden=nothing_hidden,
        outcome=outcome or AboutOutcome(),
    )


def states_in(table: pd.DataFrame) -> list[StateVariable]:
    """The state variables of an edited table, as they are declared there."""
    return [_state(row) for row in table[table["role"] == "state"].to_dict("records")]


def _state(row: Mapping) -> StateVariable:
    kind: Kind | None = next((k for k in KINDS if k == row["type"]), None)
    low = None if pd.isna(row["lowest"]) else float(row["lowest"])
    high = None if pd.isna(row["highest"]) else float(row["highest"])
    unit = row.get("unit") or None  # a table kept by an earlier version has none
    group = row.get("group")
    group = group.strip() or None if isinstance(group, str) else None
    return StateVariable(row["column"], kind, low, high, unit, group)


def _facts(column: pd.Series) -> dict[str, object]:
    return {
        "values": _glimpse(column),
        "missing": float(column.isna().mean()),
        "distinct": int(column.nunique()),
        "numeric": _is_numeric(column),
    }


def _is_numeric(column: pd.Series) -> bool:
    """Whether the column holds numbers, or yes and no, and more than one of them."""
    values, bad = numbers(column)
    return not len(bad) and len(unique_finite(values)) > 1


def _glimpse(column: pd.Series) -> str:
    """What a column holds, in a few words: its few values, or its range, or the first ones."""
    seen = column.dropna()
    if not len(seen):
        return "nothing"
    distinct = seen.unique()
    if pd.api.types.is_numeric_dtype(seen) and len(distinct) > 6:
        return " to ".join(shorten(number(float(end)), 16) for end in (seen.min(), seen.max()))
    shown = sorted(levels_as_text(pd.Series(distinct[:200])))
    if pd.api.types.is_numeric_dtype(seen):
        shown = sorted(shown, key=float)
    more = f", … ({len(distinct):,} different)" if len(distinct) > 6 else ""
    return ", ".join(shorten(v, 24) for v in shown[: 6 if not more else 3]) + more
