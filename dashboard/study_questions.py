"""What kind of study is this? Three questions at the top of the Data page, answered by a guess."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from dashboard.data_widgets import MOST_LISTED_LEVELS, levels_of
from dashboard.role_widgets import GENERATION, change_roles, visit_key
from dashboard.session import keep, kept, memo, the_analysis
from dashboard.show import literal
from dashboard.table import LoadedTable
from smdp.data.column_findings import actions_taken, is_by_chance, share_taken
from smdp.data.column_roles import Assignment, NextValue
from smdp.data.columns import numbers
from smdp.data.guess_roles import HARM, Role, match_probabilities, named
from smdp.data.outcome import LONGEST_UNIT, AboutOutcome, OutcomeKind, recognise_outcome
from smdp.data.role_edits import give_role, possible_outcomes, with_outcome
from smdp.data.role_table import states_in
from smdp.data.study_kind import (
    ASSIGNED,
    HOWS,
    MEANS,
    WHAT_IS_NOT,
    WHAT_IS_THERE,
    WHAT_IT_NEEDS,
    How,
    guess_how,
    how_in,
    look_without_treatment,
)
from smdp.text import percent, shorten

if TYPE_CHECKING:
    import pandas as pd

    from smdp.data.study import Study

KINDS: dict[OutcomeKind, str] = {
    "continuous": "A number (continuous)",
    "yes/no": "Yes or no",
    "count": "A count: 0, 1, 2 …",
}
MORE, LESS = "More is better", "Less is better"
CHOOSE = "Choose …"


class Answers(NamedTuple):
    """What was answered, as the roles take it."""

    how: How
    assignment: Assignment | None
    nothing_hidden: bool
    probability: float | dict[str, str | float] | None
    next_value: NextValue | None
    outcome: AboutOutcome

    def of(self, roles: pd.DataFrame) -> pd.DataFrame:
        """The table of roles, in which probabilities count only if they were answered."""
        if self.how == "column":
            return roles
        return roles.assign(role=roles["role"].replace("probability", "ignore"))


def ask(source: LoadedTable, frame: pd.DataFrame, roles: pd.DataFrame) -> Answers:
    """The three questions side by side, and what the answers mean for what follows."""
    st.markdown("**What kind of study is this?** Guessed from the table; correct what is wrong.")
    treatment, outcome, people = st.columns(3, gap="medium")
    with treatment:
        how, guessed = _how(frame, roles)
        probability, nothing_hidden = None, False
        if how == "observed":
            nothing_hidden = _nothing_hidden()
        if how != "none":
            _column_of("action", "Which column is the treatment?", source, roles, _may_be_action)
            probability = _probability(source, frame, roles, how)
    with outcome:
        next_value, about = _outcome(source, frame, roles, how)
    with people:
        _column_of("subject", "Who? The column of the person", source, roles)
        _column_of("time", "When? The column of the time", source, roles)
        _decision_points(frame, roles)
    _consequence(how, guessed)
    planned = the_analysis().plan.roles
    unsaid = planned.assignment is None and how == how_in(planned) and "?" not in planned.subject
    assigned = None if unsaid else ASSIGNED[how]
    return Answers(how, assigned, nothing_hidden, probability, next_value, about)


def explain_no_treatment() -> None:
    """For a table without treatments: what there is for them, what not, what it would need."""
    with st.container(border=True):
        st.markdown(
            f"**A study without treatments.** {WHAT_IS_THERE}\n\n**What cannot be done.** "
            f"{WHAT_IS_NOT}\n\n**What it would need.** {WHAT_IT_NEEDS}"
        )


def without_treatment(frame: pd.DataFrame, read_as: object, roles: pd.DataFrame) -> Study:
    """The study, to be looked at only."""
    subject, time = column_with("subject", roles), column_with("time", roles)
    states, column = states_in(roles), column_with("utility", roles)
    key = (read_as, subject, time, tuple(states), column)
    return memo(
        "without treatment",
        key,
        lambda: look_without_treatment(frame, subject, time, states, column),
    )


def column_with(role: Role, roles: pd.DataFrame) -> str | None:
    """The first column with this role."""
    return next(iter(roles.loc[roles["role"] == role, "column"]), None)


def _generation() -> int:
    found: int = st.session_state.get(GENERATION, 0)
    return found


def _how(frame: pd.DataFrame, roles: pd.DataFrame) -> tuple[How, bool]:
    """Who decided on treatment, and whether that is the guess."""
    columns = list(roles.loc[roles["role"] == "probability", "column"])
    guess = guess_how(frame, column_with("action", roles), columns)
    answered: How | None = kept("how", None)
    now = answered or guess
    chosen = st.selectbox(
        "How was treatment decided?",
        list(HOWS),
        index=list(HOWS).index(now),
        format_func=HOWS.__getitem__,
        key=visit_key(f"how-{now}"),
        help="Randomised: a coin, a computer or a list decided, at each decision anew. Observed: "
        "the person, somebody treating them, or circumstances did.",
    )
    if chosen != now:
        keep("how", chosen)
        st.rerun()
    return now, answered is None


def _nothing_hidden() -> bool:
    """Whether the assumption is made without which nothing observed speaks of effects."""
    planned: bool = the_analysis().plan.roles.nothing_hidden
    return keep(
        "nothing hidden",
        st.checkbox(
            "Nothing unmeasured decided it",
            value=kept("nothing hidden", planned),
            key=visit_key("nothing-hidden"),
            help="Tick it if you take it that nothing unmeasured decided who was treated. Whoever "
            "was treated may have differed in something that is not in the table. If "
            "so, what looks like an effect of treatment is none. No data can show that this is not "
            "the case; without the assumption, recommendations are shown with reserve.",
        ),
    )


def _column_of(
    role: Role,
    label: str,
    source: LoadedTable,
    roles: pd.DataFrame,
    fits: Callable[[dict[str, Any]], bool] = lambda row: True,
) -> None:
    """The one column with this role, to be chosen here or in the table of columns."""
    now = column_with(role, roles)
    rows = roles.to_dict("records")
    names = [row["column"] for row in rows if row["column"] == now or fits(row)]
    options = names if now is not None else [CHOOSE, *names]
    chosen = st.selectbox(
        label,
        options,
        index=0 if now is None else names.index(now),
        key=visit_key(f"{role}-{now}-{_generation()}"),
        help=f"It gets the role '{role}' in the table of columns below.",
    )
    if chosen not in (now, CHOOSE):
        change_roles(source, f"{role}: {shorten(chosen, 30)}", give_role(roles, [chosen], role))
        st.rerun()


def _may_be_action(row: dict[str, Any]) -> bool:
    return 2 <= int(row["distinct"]) <= MOST_LISTED_LEVELS


def _probability(
    source: LoadedTable, frame: pd.DataFrame, roles: pd.DataFrame, how: How
) -> float | dict[str, str | float] | None:
    action = column_with("action", roles)
    levels = levels_of(frame, action)
    if action is None or not levels:
        return None
    if how == "column":
        return _from_columns(source, frame, roles, action, levels)
    if how != "constant":
        return None
    labels = {level: kept(f"label:{action}:{level}", level) or level for level in levels}
    names = {k: f"{action} = {name}" if name.isdigit() else name for k, name in labels.items()}
    chosen: dict[str, str | float] = {}
    taken = actions_taken(frame, action, column_with("available", roles))
    shares = {level: share_taken(taken, level) for level in levels[1:]}
    for level, share in shares.items():
        name = f"probability:{action}:{level}"
        chosen[level] = keep(
            name,
            st.number_input(
                f"Probability of {literal(shorten(names[level], 30))}",
                min_value=0.01,
                max_value=0.99,
                value=kept(name, _likely(share, len(taken), len(levels))),
                key=visit_key(name),
                help="With which probability each person got it at each decision.",
            ),
        )
    found = ", ".join(f"{shorten(names[k], 30)} at {percent(s)}" for k, s in shares.items())
    st.caption(literal(f"In the table: {found} of {len(taken):,} decisions."))
    planned = the_analysis().plan.roles.probability
    if isinstance(planned, float) and len(levels) == 2 and chosen == {levels[1]: planned}:
        return planned  # the same, as the plan of an opened analysis writes it
    return chosen


def _likely(share: float, decisions: int, levels: int) -> float:
    """Equal chances, unless the table contradicts them: then a round number that fits it."""
    equal = round(1 / levels, 2)
    if is_by_chance(share, equal, decisions):
        return equal
    return min(max(round(20 * share) / 20, 0.05), 0.95)


def _from_columns(
    source: LoadedTable, frame: pd.DataFrame, roles: pd.DataFrame, action: str, levels: list[str]
) -> dict[str, str | float] | None:
    columns = list(roles.loc[roles["role"] == "probability", "column"])
    matched = match_probabilities(frame, action, columns) if columns else None
    if isinstance(matched, dict):
        st.caption("Chances of the treatments: " + literal(shorten(", ".join(columns), 80)))
        return matched
    if len(levels) == 2:
        label = f"Column with the chance of {literal(shorten(levels[-1], 20))}"
        _column_of("probability", label, source, roles, lambda row: _is_share(frame[row["column"]]))
        return None
    st.caption(
        literal(
            "Give the role 'probability', in the table of columns, to one column for each "
            f"treatment, called like it: prob_{shorten(levels[-1], 20)}."
        )
    )
    return None


def _is_share(column: pd.Series) -> bool:
    values, bad = numbers(column)
    return not len(bad) and bool(((values >= 0) & (values <= 1)).any()) and not (values > 1).any()


def _outcome(
    source: LoadedTable, frame: pd.DataFrame, roles: pd.DataFrame, how: How
) -> tuple[NextValue | None, AboutOutcome]:
    """What a good decision changes: its column, when it is measured, kind, unit and direction."""
    now, options = _picked(roles), possible_outcomes(roles)
    labels = {_called(each): each for each in options}
    asked = {} if now is not None else {CHOOSE: None}
    label = st.selectbox(
        "Outcome (utility, U)" if how != "none" else "Outcome, if there is one",
        [*asked, *labels],
        index=0 if now is None else options.index(now),
        key=visit_key(f"utility-{now}-{len(labels)}-{_generation()}"),
        help="What a good decision changes: a column that was measured after the decision of its "
        "row, or the value that a state has at the next decision.",
    )
    chosen = labels.get(label)
    if chosen is not None and chosen != now:
        change_roles(source, f"outcome: {label}", with_outcome(roles, chosen))
        keep("next value", _signed(chosen) if isinstance(chosen, NextValue) else None)
        st.rerun()
    if now is None:
        if how != "none":
            st.caption("What should become better? It is measured after the decision.")
        keep("next value", None)
        return None, AboutOutcome()
    column = now.variable if isinstance(now, NextValue) else now
    kind = _kind(frame, column)
    unit_place, way_place = st.columns((1, 1.3))
    unit = unit_place.text_input(
        "Unit",
        value=kept(f"outcome unit:{column}", ""),
        max_chars=LONGEST_UNIT,
        key=visit_key(f"outcome-unit-{column}"),
        placeholder="steps, points …",
        help="What its numbers count. It is named with every number and on every axis.",
    )
    keep(f"outcome unit:{column}", unit.strip())
    less = _less_is_better(column)
    way = way_place.selectbox(
        "Direction",
        [MORE, LESS],
        index=int(less),
        key=visit_key(f"outcome-way-{column}-{less}-{_generation()}"),
        help="Which way is good. Where less is better, the program counts minus the outcome, so "
        "that more utility is always better.",
    )
    if (way == LESS) != less:
        change_roles(source, f"outcome: {way.lower()}")
        keep(f"less is better:{column}", way == LESS)
        if isinstance(now, NextValue):
            keep("next value", _signed(now))
        st.rerun()
    planned = the_analysis().plan.roles
    unit, same = unit.strip(), planned.outcome_name.column == column
    if same and unit == planned.outcome_name.unit:
        unit = planned.outcome.unit  # the plan may say it of the state
    if same and planned.outcome.kind is None and kind == _recognised(frame, column):
        kind = None
    if isinstance(now, NextValue):
        return keep("next value", _signed(now)), AboutOutcome(kind, unit)
    return keep("next value", None), AboutOutcome(kind, unit, less)


def _picked(roles: pd.DataFrame) -> str | NextValue | None:
    """The outcome as the list of the possible ones has it; None if it is not among them."""
    column = column_with("utility", roles)
    following: NextValue | None = kept("next value", None)
    now: str | NextValue | None = column
    if column is None and following is not None:
        now = NextValue(following.variable)
        if kept(f"less is better:{following.variable}", None) is None:
            keep(f"less is better:{following.variable}", following.sign < 0)
    return now if now in possible_outcomes(roles) else None


def _less_is_better(column: str) -> bool:
    """As it was chosen, else as the name sounds."""
    return bool(kept(f"less is better:{column}", bool(named([column], HARM))))


def _signed(outcome: NextValue) -> NextValue:
    return NextValue(outcome.variable, -1 if _less_is_better(outcome.variable) else 1)


def _kind(frame: pd.DataFrame, column: str) -> OutcomeKind | None:
    said: OutcomeKind | None = kept(f"outcome kind:{column}", None)
    now = said or _recognised(frame, column)
    kind = st.selectbox(
        "What kind of outcome is it?",
        list(KINDS),
        index=list(KINDS).index(now),
        format_func=KINDS.__getitem__,
        key=visit_key(f"outcome-kind-{column}"),
        help="Recognised from its values. Ratings count as numbers.",
    )
    return keep(f"outcome kind:{column}", kind)


def _recognised(frame: pd.DataFrame, column: str) -> OutcomeKind:
    return recognise_outcome(numbers(frame[column])[0])


def _called(outcome: str | NextValue) -> str:
    """The name first: a list beside others is narrow."""
    if isinstance(outcome, str):
        return f"{outcome} (measured after this decision)"
    return f"{outcome.variable} (next value)"


def _decision_points(frame: pd.DataFrame, roles: pd.DataFrame) -> None:
    """What counts as a decision point here."""
    subject = column_with("subject", roles)
    text = "Each row is one decision point: one person at one time."
    if subject is not None and len(frame):
        rows = frame.groupby(subject).size()
        least, most = int(rows.min()), int(rows.max())
        each = f"{most:,}" if least == most else f"{least:,} to {most:,}"
        people = "1 person" if len(rows) == 1 else f"{len(rows):,} people"
        text += f" {people} with {each} rows."
    st.caption(literal(text))


def _consequence(how: How, guessed: bool) -> None:
    """What the answer on treatment means, where it is more than that all is well."""
    if how == "observed":
        unless = " If a coin or a computer decided, say so above." if guessed else ""
        st.warning(f"{MEANS[how]}{unless}", icon=":material/visibility:")
    elif how != "none":
        st.caption(MEANS[how])
