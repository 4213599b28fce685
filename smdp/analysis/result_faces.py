"""How each result shows itself in a notebook: its words, its table, its figure.

The result of a step shows what the step declares (`smdp.steps`): its summary, what it says, its
first table and its first figure. Other results, and those of which a step says more than can be
said without the rest of the analysis, are listed here.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from smdp.analysis.analysis import Analysis
from smdp.blocks import column_texts, readable
from smdp.steps import Step, step_named, steps
from smdp.text import listing, percent, plural, shorten

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from smdp.data.prepare import PreparedData
    from smdp.data.trajectories import Trajectories
    from smdp.evaluation.value import PolicyValue
    from smdp.explanation.patient_explanation import PatientExplanation
    from smdp.independence.single_test import TestResult
    from smdp.policy.decision_rule import Advice
    from smdp.result import Result
    from smdp.simulation.compare import Comparison
    from smdp.simulation.study_store import StudyRows

LONGEST_LINE, LONGEST_SENTENCE = 120, 240
MOST_ROWS, MOST_COLUMNS = 10, 12


@dataclass(frozen=True)
class Shows:
    """What a class of results shows; None: what its step declares."""

    line: Callable[[Any], str] | None = None
    says: Callable[[Any], Sequence[str]] | None = None
    table: Callable[[Any], pd.DataFrame] | None = None
    figure: Callable[[Any], go.Figure] | None = None


@dataclass(frozen=True)
class Face:
    """One result and how it shows itself; nothing is computed before it is asked for."""

    result: Any
    shows: Shows
    step: Step | None  # that it is the result of
    held: Any  # as the step holds it: some have a tuple of results

    def line(self) -> str:
        if self.shows.line is not None or self.step is None:
            return self.shows.line(self.result) if self.shows.line else ""
        return self.step.summary(self.held, self._alone)

    def says(self) -> Sequence[str]:
        if self.shows.says is not None or self.step is None:
            return self.shows.says(self.result) if self.shows.says else ()
        return self.step.says(self._alone)

    def words(self) -> str:
        """A few sentences."""
        return " ".join(readable(text) for text in self.says() if text) or self._headline()

    def table(self) -> pd.DataFrame:
        if self.shows.table is not None or self.step is None:
            return _required(self.shows.table, self.result)(self.result)
        return next(iter(self.step.tables(self._alone)))[1]

    def figure(self) -> go.Figure:
        if self.shows.figure is not None or self.step is None:
            return _required(self.shows.figure, self.result)(self.result)
        return next(iter(self.step.figures(self.held).values()))

    def short(self) -> str:
        """Two lines."""
        first = next((text for text in self.says() if text), "")
        sentence = shorten(readable(first), LONGEST_SENTENCE)
        return "\n".join(filter(None, [self._headline(), sentence]))

    def html(self) -> str:
        """Words, and the first rows of the table."""
        sentences = "".join(f"<p>{_escaped(text)}</p>" for text in list(self.says())[:3] if text)
        head = f"<p><b>{_escaped(self._headline())}</b></p>"
        return f"<div>{head}{sentences}{_html_table(self.table())}</div>"

    def _headline(self) -> str:
        line = shorten(readable(self.line()), LONGEST_LINE)
        return ": ".join(filter(None, [type(self.result).__name__, line]))

    @property
    def _alone(self) -> Analysis:
        """An analysis that knows this result only."""
        unknown: Any = None
        name = self.step.name if self.step is not None else ""
        return Analysis(unknown, unknown, results={name: self.held})


def face_of(result: Result) -> Face:
    kind = f"{type(result).__module__}:{type(result).__qualname__}"
    shows = SHOWN.get(kind, Shows())
    if kind in ONE_OF_SEVERAL:
        return Face(result, shows, step_named(ONE_OF_SEVERAL[kind]), (result,))
    own = next((step for step in steps() if step.result == kind), None)
    return Face(result, shows, own, result)


def _required(found: Any, result: object) -> Any:
    if found is None:
        raise TypeError(f"{type(result).__name__} is not listed in {__name__}")
    return found


def _html_table(frame: pd.DataFrame) -> str:
    if frame.empty:
        return ""
    shown = frame.iloc[:MOST_ROWS, :MOST_COLUMNS]
    columns = [column_texts(shown.iloc[:, j]) for j in range(shown.shape[1])]
    head = "".join(f"<th>{_escaped(name)}</th>" for name in shown.columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{_escaped(cell)}</td>' for cell in row)}</tr>"
        for row in zip(*columns, strict=True)
    )
    note = ""
    if frame.shape != shown.shape:
        size = f"{plural(len(frame), 'row')}, {plural(frame.shape[1], 'column')}"
        note = f"<p>The first of {size}: to_frame() has them all.</p>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{note}"


def _escaped(text: object) -> str:
    return html.escape(readable(text))


def _at(home: str) -> Callable[[Any], Any]:
    """The function "module:name", imported when it is called."""
    module, _, name = home.partition(":")
    return lambda result: getattr(import_module(module), name)(result)


# Prepared data


def _size(t: Trajectories) -> str:
    people, decisions = plural(len(t.subjects), "subject"), plural(t.actions.shape[1], "decision")
    return f"{people}, {decisions}, {plural(len(t.wholes), 'state variable')}"


def _trajectories_say(t: Trajectories) -> list[str]:
    used, places = int(t.valid.sum()), t.valid.size
    return [
        f"State variables: {listing(t.wholes, 12)}.",
        f"Actions: {listing(t.action_labels, 12)}.",
        f"{used:,} of {places:,} transitions can be used ({percent(used / max(places, 1))}).",
    ]


def _prepared_figure(prepared: PreparedData) -> go.Figure:
    from smdp.figures.data import decisions_figure
    from smdp.figures.rescaling import levels_figure

    if prepared.study.levels is None:
        return decisions_figure(prepared.trajectories)
    return levels_figure(prepared.study)


# Policies and their value


def _value_says(value: PolicyValue) -> list[str]:
    from smdp.words.policy_value import describe_value, gain_sentence

    kind = _kind(value)
    return [gain_sentence(value, kind), *describe_value(value, kind)]


def _value_figure(value: PolicyValue) -> go.Figure:
    from smdp.figures.policy import value_figure

    return value_figure({_kind(value): value}, _kind(value))


def _kind(value: PolicyValue) -> str:
    """'learned' or 'given'."""
    return str(value.table["policy"].iloc[0])


def _risk_says(risk: Any) -> list[str]:
    from smdp.words.policy_comparison import describe_risk

    return describe_risk(risk, "learned")


def _risk_figure(risk: Any) -> go.Figure:
    from smdp.figures.policy_comparison import distribution_figure

    return distribution_figure(risk, "learned")


def _placebo_says(check: Any) -> list[str]:
    from smdp.words.placebo import describe_placebo

    return describe_placebo(check, "learned")


def _advice_line(advice: Advice) -> str:
    given = int((advice.recommended >= 0).sum())
    return f"a recommendation in {given:,} of {plural(advice.recommended.size, 'state')}"


def _advice_says(advice: Advice) -> list[str]:
    counts = _advice_reasons(advice)
    return [f"In {plural(count, 'state')}: {reason}." for reason, count in counts.items()]


def _advice_reasons(advice: Advice) -> dict[str, int]:
    """Why there is none, and how often."""
    from smdp.policy.decision_rule import REASONS

    found = {text: int((advice.reason == code).sum()) for code, text in REASONS.items() if text}
    return {text: count for text, count in found.items() if count}


def _advice_table(advice: Advice) -> pd.DataFrame:
    import pandas as pd

    from smdp.policy.decision_rule import REASONS, Reason

    columns = {name: getattr(advice, name).ravel() for name in advice.__dataclass_fields__}
    columns["reason"] = [REASONS[Reason(int(code))] for code in advice.reason.ravel()]
    return pd.DataFrame(columns)


def _advice_figure(advice: Advice) -> go.Figure:
    from smdp.figures.explanation import counts_figure

    given = {"recommended": int((advice.recommended >= 0).sum())}
    return counts_figure(given | _advice_reasons(advice), "States")


# Reasons


def _patient_line(patient: PatientExplanation) -> str:
    return patient.recommendation or f"no recommendation: {patient.reason}"


# Tests and simulations


def _test_line(test: TestResult) -> str:
    from smdp.text import p_text

    return f"{p_text(test.p_value)}, statistic {test.statistic:.4g}"


def _test_says(test: TestResult) -> list[str]:
    among = "all" if test.exact else "a sample of"
    strata = f"{test.strata_tested} strata" if test.strata_tested != 1 else "one stratum"
    text = (
        f"Compared with {plural(test.permutations, 'rearrangement')} ({among} those possible) of "
        f"{plural(test.subjects_tested, 'subject')} within {strata}."
    )
    left = test.strata_left_out
    return [text, f"Too small to be tested: {left} more."] if left else [text]


def _test_table(test: TestResult) -> pd.DataFrame:
    from dataclasses import asdict

    import pandas as pd

    return pd.DataFrame([asdict(test)])


def _study_says(study: StudyRows) -> list[str]:
    from smdp.simulation.compare import compare_with_paper
    from smdp.words.simulation import describe_study

    return describe_study(study, compare_with_paper(study))


def _study_figure(study: StudyRows) -> go.Figure:
    """Of the first setting."""
    from smdp.figures.simulation import outcome_figure
    from smdp.figures.style import new_figure
    from smdp.simulation.study_tables import settings_of

    settings = settings_of(study)
    return outcome_figure(study, settings[0]) if settings else new_figure()


def _comparison_line(comparison: Comparison) -> str:
    rows, known = len(comparison.table), int(comparison.table["paper_neural"].notna().sum())
    return f"{plural(rows, 'row')}, {known} of them in the paper"


def _plan_line(plan: Any) -> str:
    return f"{plural(len(plan.table), 'size')} of study, model '{plan.model}'"


#: By class, as "module:Class".
SHOWN: dict[str, Shows] = {
    "smdp.data.prepare:CompletedStudy": Shows(table=_at("smdp.steps.missing:imputed_table")),
    "smdp.data.prepare:PreparedData": Shows(
        table=_at("smdp.data.long_table:prepared_table"), figure=_prepared_figure
    ),
    "smdp.data.trajectories:Trajectories": Shows(
        line=_size,
        says=_trajectories_say,
        table=_at("smdp.data.long_table:trajectory_table"),
        figure=_at("smdp.figures.data:decisions_figure"),
    ),
    "smdp.evaluation.value:PolicyValue": Shows(says=_value_says, figure=_value_figure),
    "smdp.evaluation.placebo:PlaceboCheck": Shows(says=_placebo_says),
    "smdp.evaluation.rule_value:RuleReport": Shows(
        says=_at("smdp.words.rule_card:describe_rule"), table=attrgetter("values")
    ),
    "smdp.evaluation.candidates:CandidateComparison": Shows(
        says=lambda found: [_at("smdp.words.policy_comparison:recommendation")(found)],
        table=attrgetter("differences"),
        figure=_at("smdp.figures.policy_comparison:comparison_figure"),
    ),
    "smdp.evaluation.outcome_risk:OutcomeRisk": Shows(
        says=_risk_says,
        table=attrgetter("figures"),
        figure=_risk_figure,
    ),
    "smdp.evaluation.outcome_risk:SubgroupGains": Shows(
        says=_at("smdp.words.policy_comparison:describe_subgroups"),
        table=attrgetter("groups"),
        figure=_at("smdp.figures.policy_comparison:subgroup_figure"),
    ),
    "smdp.evaluation.trial_effects:TrialSummary": Shows(
        says=_at("smdp.words.effects:describe_trial")
    ),
    "smdp.markov.markov_check:MarkovCheck": Shows(says=_at("smdp.words.markov:describe_markov")),
    "smdp.validation.passport:Passport": Shows(
        says=_at("smdp.words.passport:describe_passport"),
        table=_at("smdp.words.passport:rows_table"),
    ),
    "smdp.policy.decision_rule:Advice": Shows(
        line=_advice_line, says=_advice_says, table=_advice_table, figure=_advice_figure
    ),
    "smdp.explanation.policy_explanation:Explanation": Shows(
        line=lambda explanation: (
            f"{listing(explanation.actions)} rather than {explanation.reference}"
        ),
        says=_at("smdp.words.explanation:describe_explanation"),
        table=attrgetter("variables"),
        figure=_at("smdp.figures.explanation:variable_effects_figure"),
    ),
    "smdp.explanation.patient_explanation:PatientExplanation": Shows(
        line=_patient_line,
        says=_at("smdp.words.explanation:describe_patient"),
        table=attrgetter("variables"),
        figure=_at("smdp.figures.patient:contributions_figure"),
    ),
    "smdp.independence.single_test:TestResult": Shows(
        line=_test_line,
        says=_test_says,
        table=_test_table,
        figure=_at("smdp.figures.explanation:p_value_figure"),
    ),
    "smdp.simulation.study_store:StudyRows": Shows(
        line=_at("smdp.words.simulation:study_summary"),
        says=_study_says,
        table=_at("smdp.simulation.study_tables:summarise"),
        figure=_study_figure,
    ),
    "smdp.simulation.planning:StudyPlan": Shows(
        line=_plan_line,
        says=_at("smdp.words.simulation:describe_plan"),
        table=attrgetter("table"),
        figure=_at("smdp.figures.simulation:power_figure"),
    ),
    "smdp.simulation.compare:Comparison": Shows(
        line=_comparison_line,
        says=_at("smdp.simulation.compare:verdict"),
        table=attrgetter("table"),
        figure=_at("smdp.figures.simulation:comparison_figure"),
    ),
}
#: Results of which a step holds a tuple.
ONE_OF_SEVERAL = {
    "smdp.policy.learned_policy:LearnedPolicy": "policy",
    "smdp.evaluation.value:PolicyValue": "evaluation",
}
