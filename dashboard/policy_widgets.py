"""The tabs of the Policy page: whom it would treat, and how far to trust what it would earn."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import controls
from dashboard.form import Form
from dashboard.gate import changed_notice
from dashboard.page import section_now
from dashboard.policy_choice import named_policies, short_name
from dashboard.running import job_box, run_or_start
from dashboard.session import State, done, is_done, memo, result, state, the_analysis
from dashboard.show import check, figure, literal, says, table
from smdp.data.trajectories import Trajectories
from smdp.evaluation.value import PolicyValue
from smdp.explanation.recommendations import recommendations, shares_by_group, shares_over_time
from smdp.figures.policy import methods_figure, placebo_figure, positivity_figure
from smdp.figures.recommendations import group_figure, time_figure
from smdp.policy.learned_policy import LearnedPolicy
from smdp.steps import EVALUATION, PLACEBO, POLICY, TRIAL, Step
from smdp.steps.evaluation import beside_other_steps
from smdp.steps.step_plans import EvaluationPlan
from smdp.words.placebo import check_placebo, describe_placebo
from smdp.words.policy_value import (
    difference_words,
    gain_sentence,
    positivity_words,
    share_words,
    value_words,
    without_interval,
)

FEW = 5
NOT_YET = "Appears here once what the policy would earn has been estimated."
DIAGNOSTICS = (
    "The doubly robust estimate is the one to be read. The others are diagnostics: fitted-Q "
    "evaluation trusts its model of the values and errs with it; weighted importance sampling "
    "needs no model but soon rests on next to nobody, as its effective number of subjects shows. "
    "An open symbol has no interval."
)


def of_these_policies(step: Step) -> bool:
    """Whether the step's last result was made from the present policies; also while it runs."""
    made, learned = done(step), done(POLICY)
    return (
        made is not None
        and learned is not None
        and made.inputs.get("policies") == learned.output
        and is_done(POLICY)
    )


def values_of_policies() -> dict[str, PolicyValue]:
    """What each of the present policies would earn, by its name; none before that is estimated."""
    if not of_these_policies(EVALUATION):
        return {}
    return dict(zip(named_policies(), result(EVALUATION), strict=True))


def recommended(trajectories: Trajectories, policy: LearnedPolicy) -> pd.DataFrame:
    """What the policy recommends at every decision; worked out once for each policy."""
    learned = done(POLICY)
    key = (learned and (learned.inputs, learned.output), short_name(policy))
    return memo("policy.recommendations", key, lambda: recommendations(trajectories, policy))


def gain_box(value: PolicyValue, kind: str) -> None:
    """The difference to what was done, and why some policies have no interval."""
    st.markdown(f"**{literal(gain_sentence(value, kind, the_analysis().outcome_name))}**")
    for text in without_interval(value, kind):
        st.caption(literal(text))


def beside_other_pages(policy: LearnedPolicy | None) -> None:
    """How the numbers of the pages relate that seem to answer one question."""
    place = 0 if policy is None else list(named_policies()).index(short_name(policy))
    analysis = the_analysis()
    records = analysis.records
    made = [records[s.name].output for s in (TRIAL, POLICY, EVALUATION) if s.name in records]
    lines = memo(
        "beside other pages",
        (made, analysis.out_of_date, place),
        lambda: beside_other_steps(analysis, place),
    )
    if lines:
        says(lines, "Beside the other pages")


def how(value: PolicyValue) -> None:
    """How the estimate was made, for those who ask."""
    with st.expander("How this was estimated"):
        st.markdown("\n".join(f"- {literal(note)}" for note in value.notes))


def over_time(every: pd.DataFrame, labels: tuple[str, ...]) -> None:
    st.caption(
        "Which treatment the policy recommends as the study goes on. Where no treatment could be "
        "chosen, none is recommended; such decisions are not in the shares."
    )
    shares = shares_over_time(every, labels)
    if shares["decisions"].min() < FEW:
        st.caption(f"Some times have fewer than {FEW} people with a choice: see the table.")
    figure(time_figure(shares), "recommended-over-time")
    with st.expander("Table"):
        table(share_words(shares), "recommended-over-time", shares)


def by_subgroup(every: pd.DataFrame, trajectories: Trajectories, policy: LearnedPolicy) -> None:
    used = policy.feature_map.variables_used
    others = [name for name in trajectories.variables if name not in used]
    variable = controls.select(
        "Variable",
        "policy.subgroup",
        [*used, *others],
        [*used, *others][0],
        "Those that the policy uses come first. A variable with many values is divided at its "
        "median.",
    )
    shares = shares_by_group(every, trajectories, variable)
    figure(group_figure(shares, variable), "recommended-by-subgroup")
    st.caption(
        f"{'Used' if variable in used else 'Not used'} by the policy. A difference between groups "
        "is not the effect of this variable alone: others may differ between the groups too."
    )
    with st.expander("Table"):
        table(share_words(shares), "recommended-by-subgroup", shares)


def positivity(value: PolicyValue | None, rare: float) -> None:
    if value is None:
        st.markdown(NOT_YET)
        return
    st.caption(
        "Was every treatment tried often enough, and everywhere? Where a treatment was hardly "
        "ever given, no estimate can say what it would do. Hardly tried: the share of decisions at "
        "which fewer than 5 % of the most similar ones had the treatment."
    )
    figure(positivity_figure(value, rare), "positivity")
    table(positivity_words(value, rare), "positivity", value.positivity)


def other_estimators(value: PolicyValue | None, kind: str) -> None:
    if value is None:
        st.markdown(NOT_YET)
        return
    st.caption(DIAGNOSTICS)
    figure(methods_figure(value, kind, the_analysis().outcome_name), "estimators")
    table(value_words(value, kind), "estimators", value.table)
    st.markdown("**Differences, doubly robust**")
    table(difference_words(value, kind), "differences", value.differences)


def placebo(policy: LearnedPolicy, evaluation: EvaluationPlan) -> None:
    st.caption(
        "With treatments that did nothing, the gain must vanish. The treatments are shuffled among "
        "the people at each time, and the policy is learned and judged as before."
    )
    form = Form(PLACEBO.name, section_now(PLACEBO))
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    with left:
        form.draw("repeats")
    name = short_name(policy)
    place = list(named_policies()).index(name) + 1
    form.set(policy=place, settings=evaluation.settings, seed=evaluation.seed)
    sections = {"placebo": form.value()}
    with right:
        start = st.button(
            "Check with shuffled treatments",
            icon=":material/shuffle:",
            disabled=state(PLACEBO) == State.RUNNING or state(POLICY) != State.DONE,
            help="Runs in the background; you may leave the page. A neural policy takes much "
            "longer than a linear one.",
        )
    if start:
        run_or_start(PLACEBO, **sections)
    job_box(PLACEBO)
    record, found = done(PLACEBO), result(PLACEBO)
    mine = record is not None and record.asked.policy == sections["placebo"].policy
    if not mine or not of_these_policies(PLACEBO):
        st.markdown(f"Not checked yet for the {name} policy.")
        return
    changed_notice(PLACEBO, **sections)
    figure(placebo_figure(found), "placebo")
    says(describe_placebo(found, name), "What the placebo check says")
    check(check_placebo(found))
