"""The rows of the passport that other steps have found: what each of them says, as facts.

Each function takes the result of a step, or None where it was not run, and gives a row: a verdict
and the numbers that it rests on. What a row says in words is in `smdp.words.passport`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from smdp.independence.pooling import at_most
from smdp.result import Content

if TYPE_CHECKING:
    import pandas as pd

    from smdp.data.column_roles import ColumnRoles
    from smdp.data.leaks import Leak
    from smdp.evaluation.placebo import PlaceboCheck
    from smdp.evaluation.rule_value import RuleReport
    from smdp.evaluation.value import PolicyValue
    from smdp.feature_map.fitted_map import FittedFeatureMap
    from smdp.feature_map.stability import FeatureMapStability
    from smdp.markov.markov_check import MarkovCheck
    from smdp.validation.imputation_draws import ImputationDraws
    from smdp.validation.missing_related import MissingRelated
    from smdp.validation.randomisation import RandomisationCheck

Thing = Literal[
    "leaks",
    "randomisation",
    "missingness",
    "look-back",
    "process",
    "effect over time",
    "dimension",
    "form",
    "variables",
    "positivity",
    "value",
    "rule",
]
#: "holds": nothing was found against it, or it is good enough; never that it is proven.
Verdict = Literal["holds", "doubt", "not checked", "untestable"]

#: Where each thing is looked at: the step on whose page it is.
STEPS: dict[Thing, str] = {
    "leaks": "data",
    "randomisation": "data",
    "missingness": "imputations",
    "look-back": "markov",
    "process": "markov",
    "effect over time": "markov",
    "dimension": "features",
    "form": "features",
    "variables": "stability",
    "positivity": "evaluation",
    "value": "placebo",
    "rule": "rule",
}
THINGS: tuple[Thing, ...] = tuple(STEPS)
#: Rows that another step has found, by the steps that they are made of.
GATHERED: dict[Thing, tuple[str, ...]] = {
    "missingness": ("imputations",),
    "look-back": ("markov",),
    "process": ("markov",),
    "effect over time": ("markov",),
    "dimension": ("features",),
    "form": ("features",),
    "variables": ("stability",),
    "positivity": ("features",),
    "value": ("evaluation", "placebo"),
    "rule": ("rule",),
}

#: A variable, or a card's first question, that comes back in fewer samples of people is unstable.
SELDOM = 0.5
#: Decisions at which an action was hardly tried in similar states, worth a doubt from here on.
UNSUPPORTED = 0.05
#: Of the variance of an average effect, the share from missing values that is worth a doubt.
LARGE_SHARE = 0.3


@dataclass(frozen=True, eq=False)
class PassportRow(Content):
    """One thing that the conclusions rest on. `facts`: numbers and names, by their own names.

    `why_not`: a sentence, where a check could not be done although it was asked for.
    """

    thing: Thing
    verdict: Verdict
    facts: Mapping[str, Any] = field(default_factory=dict)
    why_not: str = ""

    @property
    def step(self) -> str:
        return STEPS[self.thing]


def not_checked(thing: Thing, why_not: str = "") -> PassportRow:
    return PassportRow(thing, "not checked", {}, why_not)


def _verdict(doubt: bool) -> Verdict:
    return "doubt" if doubt else "holds"


def look_back_row(found: MarkovCheck | None) -> PassportRow:
    """Doubted where the present state alone is rejected."""
    if found is None:
        return not_checked("look-back")
    first = found.ladder.iloc[0]
    facts = {
        "look_back": found.look_back,
        "own_look_back": found.own_look_back,
        "longest": found.longest,
        "p_value": float(first["p_value"]),
        "own_p_value": float(first["own_p_value"]),
        "people": found.people,
        "decisions": found.decisions,
        "all_decisions": found.all_decisions,
        "level": found.settings.level,
    }
    return PassportRow("look-back", _verdict(found.look_back != 0), facts)


def process_row(found: MarkovCheck | None) -> PassportRow:
    from smdp.markov.stationarity import EVERYTHING, PROCESS

    if found is None:
        return not_checked("process")
    p = found.p_value(PROCESS, EVERYTHING)
    facts = {"p_value": p, "in_state": found.time_in_state, "level": found.settings.level}
    return PassportRow("process", _verdict(found.process_changes), facts)


def effect_row(found: MarkovCheck | None) -> PassportRow:
    from smdp.markov.stationarity import EFFECT, UTILITY

    if found is None:
        return not_checked("effect over time")
    p = found.p_value(EFFECT, UTILITY)
    if p is None:
        why = "There are no two treatments that can be compared."
        return PassportRow("effect over time", "untestable", {}, why)
    facts: dict[str, Any] = {
        "p_value": p,
        "in_state": found.time_in_state,
        "level": found.settings.level,
    }
    if found.effect_changes and len(found.effect):
        action, own = next(iter(found.effect.groupby("action", sort=False)))
        ends = [own.iloc[0], own.iloc[-1]]
        facts |= {
            "action": str(action),
            "against": str(ends[0]["against"]),
            "decisions": tuple(int(each["decision"]) for each in ends),
            "estimates": tuple(float(each["estimate"]) for each in ends),
            "errors": tuple(float(each["upper"] - each["lower"]) / 4 for each in ends),
        }
    return PassportRow("effect over time", _verdict(found.effect_changes), facts)


def _chosen(fitted: FittedFeatureMap) -> pd.Series | None:
    """The candidate that the map is; None for a map that no test has chosen."""
    table = fitted.candidates
    if table.empty or not table["chosen"].any():
        return None
    return table[table["chosen"]].iloc[-1]


def _number(row: pd.Series, name: str) -> float:
    value = row.get(name, math.nan)
    return float(value) if value is not None else math.nan


def dimension_row(fitted: FittedFeatureMap | None) -> PassportRow:
    """Doubted where the test rejects it and it is not enough in practice either."""
    if fitted is None:
        return not_checked("dimension")
    chosen = _chosen(fitted)
    if chosen is None:
        why = "This map is there to compare with: no test has chosen how many features it has."
        return PassportRow("dimension", "untestable", {"kind": fitted.kind}, why)
    column = "p_exact"
    if column not in chosen:
        absolute = getattr(fitted.settings, "test", "") == "absolute"
        column = "p_absolute" if absolute else "p_relative"
    p = _number(chosen, column)
    kept = _number(chosen, "kept_count")
    whole = p >= 1 and fitted.dimension >= kept
    rejected, practical = bool(chosen["rejected"]), bool(chosen.get("practical", False))
    facts = {
        "features": fitted.dimension,
        "variables": len(fitted.wholes_used),
        "p_value": p,
        "by_definition": bool(whole),
        "rejected": rejected,
        "practical": practical,
        "share": _number(chosen, "share_kept"),
        "at_least": _number(chosen, "share_at_least"),
        "level": float(fitted.settings.level),
    }
    if p != p and not practical:
        why = "Whether so few features are enough was not tested in this fit."
        return PassportRow("dimension", "untestable", facts, why)
    return PassportRow("dimension", _verdict(rejected and not practical), facts)


def form_row(fitted: FittedFeatureMap | None) -> PassportRow:
    """Doubted where it loses more than is negligible, or its form is rejected, and it matters."""
    if fitted is None:
        return not_checked("form")
    chosen = _chosen(fitted)
    if chosen is None or "share_kept" not in chosen:
        why = "What this map loses was not measured against the full state."
        return PassportRow("form", "untestable", {"kind": fitted.kind}, why)
    share, at_least = _number(chosen, "share_kept"), _number(chosen, "share_at_least")
    explained, p = _number(chosen, "explained_by_state"), _number(chosen, "p_form")
    asked = 1 - float(getattr(fitted.settings, "negligible", UNSUPPORTED))
    practical = bool(chosen["practical"])
    level = float(fitted.settings.level)
    facts = {
        "p_value": p,
        "share": share,
        "at_least": at_least,
        "asked": asked,
        "explained": explained,
        "practical": practical,
        "layers": len(fitted.layers),
        "level": level,
    }
    known = explained > 0 and math.isfinite(at_least)
    if not known and p != p:
        why = "The state says nothing certain of the outcome, so that nothing can be lost of it."
        return PassportRow("form", "untestable", facts, why)
    rejected = p == p and bool(at_most(p, level))
    lost = known and share < asked
    return PassportRow("form", _verdict((rejected or lost) and not practical), facts)


def variables_row(found: FeatureMapStability | None) -> PassportRow:
    """Doubted where a variable that the map uses is seldom used for other people."""
    if found is None:
        return not_checked("variables")
    used = {name: float(found.selection[name]) for name in found.fitted.variables_used}
    seldom = [name for name, share in used.items() if share < SELDOM]
    dimension = found.dimensions.get(found.fitted.dimension, 0.0)
    facts = {
        "used": len(used),
        "seldom": tuple(seldom),
        "least": min(used.values(), default=math.nan),
        "samples": found.bootstraps,
        "same_dimension": float(dimension),
    }
    return PassportRow("variables", _verdict(bool(seldom)), facts)


def rule_row(found: RuleReport | None) -> PassportRow:
    """Doubted where the first question seldom comes back, or is not the same card again."""
    if found is None:
        return not_checked("rule")
    again = float(found.questions["in_place"].iloc[0]) if len(found.questions) else math.nan
    facts = {
        "questions": len(found.questions),
        "again": again,
        "agreement": float(found.resample_agreement),
        "samples": found.resamples,
        "with_policy": float(found.agreement),
    }
    if not found.resamples:
        why = "People were not drawn anew when the card was made."
        return PassportRow("rule", "not checked", facts, why)
    alike = again if again == again else found.resample_agreement
    return PassportRow("rule", _verdict(alike < SELDOM), facts)


def value_row(value: PolicyValue | None, placebo: PlaceboCheck | None, level: float) -> PassportRow:
    """Holds where shuffled treatments seldom do as well, and the gain is clear if it is known."""
    if value is None and placebo is None:
        return not_checked("value")
    facts: dict[str, Any] = {"level": level}
    doubt = False
    if value is not None:
        gain = value.gain
        facts |= {
            "gain": float(gain["estimate"]),
            "lower": float(gain["lower"]),
            "upper": float(gain["upper"]),
            "error": float(gain["standard_error"]),
            "trusted": bool(gain["trusted"]),
            "quick": value.quick,
        }
        doubt = not gain["trusted"] or not gain["lower"] > 0
    if placebo is None:
        return PassportRow("value", "doubt" if doubt else "not checked", facts)
    shuffles = len(placebo.placebo)
    facts |= {"p_value": placebo.p_value, "shuffles": shuffles}
    if not at_most(1 / (shuffles + 1), level):
        needed = math.ceil(1 / level) - 1
        why = f"{shuffles} shuffles are too few to tell: to reach {level:g} takes {needed}."
        return PassportRow("value", "doubt" if doubt else "not checked", facts, why)
    return PassportRow("value", _verdict(doubt or not at_most(placebo.p_value, level)), facts)


def leaks_row(found: Sequence[Leak] | None, roles: ColumnRoles) -> PassportRow:
    """`found`: of all states, as if nobody had been asked; None: there was no table to look at."""
    if found is None:
        return not_checked("leaks", "The table itself is not here, so that nobody could look.")
    evidence = {leak.column: leak.describe() for leak in reversed(found)}
    columns = [name for name in roles.state_names if name in evidence]
    answered = [name for name in columns if name in roles.known_before]
    open_ones = [name for name in columns if name not in answered]
    facts = {
        "states": len(roles.state_names),
        "answered": tuple(answered),
        "open": tuple(open_ones),
        "evidence": tuple(f"'{name}' {evidence[name]}" for name in (open_ones or answered)),
    }
    if open_ones:
        return PassportRow("leaks", "doubt", facts)
    return PassportRow("leaks", "untestable" if answered else "holds", facts)


def randomisation_row(found: RandomisationCheck, roles: ColumnRoles, level: float) -> PassportRow:
    """Nobody can see in the data that nothing unmeasured decided, where chance did not."""
    facts: dict[str, Any] = {
        "people": found.people,
        "choices": found.choices,
        "all_choices": found.all_choices,
        "estimated": found.estimated,
        "level": level,
        "observed": not roles.randomised,
        "nothing_hidden": roles.nothing_hidden,
    }
    if found.why_not:
        return PassportRow("randomisation", "untestable", facts, found.why_not)
    order = found.tests.sort_values("adjusted", kind="stable")
    related = order[order["adjusted"] <= level]
    off = found.shares.iloc[-1]
    facts |= {
        "p_value": found.p_value,
        "groups": tuple(related["group"].tolist()),
        "action": str(off["action"]),
        "taken": float(off["taken"]),
        "stated": float(off["stated"]),
    }
    if not roles.randomised:
        return PassportRow("randomisation", "untestable", facts)
    return PassportRow("randomisation", _verdict(at_most(found.p_value, level)), facts)


def missing_row(
    found: MissingRelated, level: float, drawn: ImputationDraws | None = None
) -> PassportRow:
    """`drawn`: how much results move when what is missing is drawn several times."""
    some = found.counts[found.counts["count"] > 0]
    facts: dict[str, Any] = {
        "missing": tuple(some["missing"].tolist()),
        "counts": tuple(some["count"].tolist()),
        "totals": tuple(some["total"].tolist()),
        "tested": tuple(some[some["tested"]]["missing"].tolist()),
        "level": level,
    }
    if found.nothing_missing:
        return PassportRow("missingness", "holds", facts)
    effects = [] if drawn is None else drawn.effects.dropna().to_dict("records")
    moved = False
    if drawn is not None and effects:
        most = max(effects, key=lambda each: each["missing_share"])
        moved = most["missing_share"] >= LARGE_SHARE
        facts |= {"draws": len(drawn.draws)}
        facts |= {
            name: float(most[name])
            for name in ("estimate", "standard_error", "least", "most", "missing_share")
        }
    if found.why_not:
        return PassportRow("missingness", "doubt" if moved else "untestable", facts, found.why_not)
    order = found.tests.sort_values("adjusted", kind="stable")
    related = order[order["adjusted"] <= level]
    facts |= {
        "p_value": found.p_value,
        "related": tuple(related["missing"].tolist()),
        "groups": tuple(related["group"].tolist()),
    }
    return PassportRow("missingness", _verdict(moved or at_most(found.p_value, level)), facts)


def positivity_row(table: pd.DataFrame | None, rare: float, why_not: str, of: int) -> PassportRow:
    """`of`: how many features neighbours were sought in; 0: variables of the state."""
    if table is None:
        return PassportRow("positivity", "untestable", {}, why_not)
    worst = table.sort_values("unsupported", ascending=False, kind="stable").iloc[0]
    least = table.sort_values("smallest", kind="stable").iloc[0]
    facts = {
        "rare": rare,
        "features": of,
        "action": str(worst["action"]),
        "unsupported": float(worst["unsupported"]),
        "rarest": str(least["action"]),
        "smallest": float(least["smallest"]),
        "below": float(table["below"].max()),
    }
    doubt = (table["below"] > 0).any() or (table["unsupported"] >= UNSUPPORTED).any()
    return PassportRow("positivity", _verdict(bool(doubt)), facts)
