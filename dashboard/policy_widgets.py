"""The tabs of the Policy page: whom it would treat, and how far to trust what it would earn."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from dashboard import inputs
from dashboard.running import job_box, run_or_start
from dashboard.session import Done, State, Step, done, memo, result, state, token_before
from dashboard.show import check, errors_as_messages, figure, literal, says, table
from smdp.data.trajectories import Trajectories
from smdp.figures.policy import methods_figure, placebo_figure, positivity_figure, trial_figure
from smdp.figures.recommendations import group_figure, time_figure
from smdp.policy.evaluation import PolicyValue
from smdp.policy.evaluation_settings import EvaluationSettings
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.recommendations import recommendations, shares_by_group, shares_over_time
from smdp.policy.trial_summary import trial_summary
from smdp.words.policy_value import (
    difference_words,
    gain_sentence,
    positivity_words,
    share_words,
    value_words,
    without_interval,
)
from smdp.words.trial_effect import (
    HEARTSTEPS,
    check_placebo,
    describe_placebo,
    describe_trial,
    placebo_summary,
    trial_words,
)

FEW = 5
NOT_YET = "Appears here once what the policy would earn has been estimated."
DIAGNOSTICS = (
    "The doubly robust estimate is the one to be read. The others are diagnostics: fitted-Q "
    "evaluation trusts its model of the values and errs with it; weighted importance sampling "
    "needs no model but soon rests on next to nobody, as its effective number of subjects shows. "
    "An open symbol has no interval."
)


def fresh(step: Step) -> Done | None:
    """The step's last result, if it was made from the present policies; also while it runs."""
    finished = done(step)
    return finished if finished and finished.made_from == token_before(step) else None


def recommended(trajectories: Trajectories, policy: LearnedPolicy) -> pd.DataFrame:
    """What the policy recommends at every decision; worked out once for each policy."""
    learned = done(Step.POLICY)
    key = (learned.token if learned else "", policy.kind)
    return memo("policy.recommendations", key, lambda: recommendations(trajectories, policy))


def gain_box(value: PolicyValue, kind: str) -> None:
    """The difference to what was done, and why some policies have no interval."""
    st.markdown(f"**{literal(gain_sentence(value, kind))}**")
    for text in without_interval(value, kind):
        st.caption(literal(text))


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
    variable = inputs.select(
        "Variable",
        "policy.subgroup",
        [*used, *others],
        [*used, *others][0],
        "Those that the policy uses come first. A variable with many values is divided at its "
        "median.",
    )
    ranges = _own_units()
    shares = shares_by_group(every, trajectories, variable, ranges=ranges)
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
    figure(methods_figure(value, kind), "estimators")
    table(value_words(value, kind), "estimators", value.table)
    st.markdown("**Differences, doubly robust**")
    table(difference_words(value, kind), "differences", value.differences)


def placebo(
    trajectories: Trajectories, policy: LearnedPolicy, settings: EvaluationSettings, seed: int
) -> None:
    st.caption(
        "With treatments that did nothing, the gain must vanish. The treatments are shuffled among "
        "the people at each time, and the policy is learned and judged as before."
    )
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    with left:
        repeats = inputs.whole_number(
            "Shuffles",
            "policy.shuffles",
            20,
            5,
            500,
            "With 20, the smallest possible p-value is 1 in 21.",
        )
    with right:
        start = st.button(
            "Check with shuffled treatments",
            icon=":material/shuffle:",
            disabled=state(Step.PLACEBO) == State.RUNNING or state(Step.POLICY) != State.DONE,
            help="Runs in the background: about a second a shuffle for a linear policy, several "
            "for a neural one.",
        )
    if start:
        run_or_start(
            Step.PLACEBO,
            "placebo",
            (trajectories, policy),
            (policy.kind, repeats, settings),
            seed,
            placebo_summary,
        )
    job_box(Step.PLACEBO)
    finished = fresh(Step.PLACEBO)
    if finished is None or finished.settings[0] != policy.kind:
        st.markdown(f"Not checked yet for the {policy.kind} policy.")
        return
    figure(placebo_figure(finished.result), "placebo")
    says(describe_placebo(finished.result, policy.kind), "What the placebo check says")
    check(check_placebo(finished.result))


def trial(trajectories: Trajectories, coverage: float) -> None:
    st.caption(
        "Before any policy: what each treatment did, on average, to the utility that follows it."
    )
    names = trajectories.variables
    left, right = st.columns(2)
    with left:
        controls = inputs.several(
            "Adjust for",
            "policy.controls",
            names,
            "Variables that predict the utility: they narrow the interval, and do not change what "
            "is estimated.",
        )
    with right:
        moderators = inputs.several(
            "The effect may change with",
            "policy.moderators",
            names,
            "Moderators: each gets a row of its own, by how much the effect changes with one unit "
            "of it (of its rescaled values, if it was rescaled).",
        )
    logarithm = inputs.checkbox(
        "The utility is a natural logarithm",
        "policy.logarithm",
        False,
        "Then an effect is also said in percent of what was measured before the logarithm.",
    )
    prepared = done(Step.RESCALING)
    key = (prepared.token if prepared else "", tuple(controls), tuple(moderators), coverage)
    with errors_as_messages():
        summary = memo(
            "policy.trial",
            key,
            lambda: trial_summary(
                trajectories, controls=controls, moderators=moderators, coverage=coverage
            ),
        )
        figure(trial_figure(summary), "trial-summary")
        says(describe_trial(summary, logarithm=logarithm), "What the trial says")
        table(trial_words(summary), "trial-summary", summary.effects)
        for note in summary.notes:
            st.caption(literal(note))
    st.caption(literal(HEARTSTEPS))


def _own_units() -> Mapping[str, tuple[float, float]]:
    rescaled = result(Step.RESCALING).rescaled
    return {} if rescaled is None else rescaled.before_range
