"""The tabs of the Q-functions page: the difference between two treatments from all sides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st

from dashboard import controls
from dashboard.policy_choice import comparable_policies, short_name
from dashboard.session import done, memo
from dashboard.show import figure, literal, table
from smdp.data.prepare import PreparedData
from smdp.explanation import q_differences as differences
from smdp.explanation.policy_explanation import Explanation
from smdp.figures.q_differences import (
    comparison_figure,
    curve_figure,
    differences_histogram,
    plane_figure,
)
from smdp.figures.q_functions import convergence_figure
from smdp.policy.learned_policy import LearnedPolicy
from smdp.steps import POLICY
from smdp.words.explanation import feature_effect_table, variable_effect_table
from smdp.words.policy import (
    describe_comparison,
    describe_convergence,
    describe_differences,
    names_apart,
    parameter_table,
    policy_name,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Shown:
    """A policy, what it was learned from, and the two treatments that are compared."""

    policy: LearnedPolicy
    prepared: PreparedData
    action: str
    reference: str

    def memo(self, name: str, *more: object, work: Callable[[], T]) -> T:
        finished = done(POLICY)
        token = finished.output if finished else ""
        key = (token, short_name(self.policy), self.action, self.reference, *more)
        return memo(f"q_functions.{name}", key, work)


def tabs(shown: Shown, explanation: Explanation) -> None:
    one = shown.policy.feature_map.dimension == 1
    who, variable, features, compare, tables, learning = st.tabs(
        [
            "Who gains",
            "Over a variable",
            "Over the feature" if one else "Over two features",
            "Compare",
            "Tables",
            "Learning",
        ],
        key="q_functions.tabs",
    )
    with who:
        _who_gains(shown)
    with variable:
        _over_a_variable(shown)
    with features:
        _over_features(shown)
    with compare:
        _compare(shown)
    with tables:
        _tables(shown, explanation)
    with learning:
        st.caption(literal(describe_convergence(shown.policy)))
        figure(convergence_figure(shown.policy), "convergence")


def _who_gains(shown: Shown) -> None:
    policy, trajectories = shown.policy, shown.prepared.trajectories
    found = shown.memo(
        "observed",
        work=lambda: differences.observed_differences(
            policy, trajectories, shown.action, shown.reference
        ),
    )
    st.caption(literal(" ".join(describe_differences(found))))
    figure(differences_histogram(found, policy.action_labels), "q-differences")


def _over_a_variable(shown: Shown) -> None:
    policy, prepared = shown.policy, shown.prepared
    used = policy.feature_map.variables_used
    if not used:
        st.caption("The features use no variable.")
        return
    name = controls.select(
        "Variable",
        "q.variable",
        used,
        used[0],
        "The average difference if this variable had each of its values and everything else were "
        "as observed.",
    )
    curve = shown.memo(
        "variable",
        name,
        work=lambda: differences.over_variable(
            policy, prepared.trajectories, name, shown.action, shown.reference
        ),
    )
    figure(curve_figure(curve), "q-over-variable")


def _over_features(shown: Shown) -> None:
    policy, trajectories = shown.policy, shown.prepared.trajectories
    names = policy.feature_map.features
    pair = (shown.action, shown.reference)
    if len(names) == 1:
        st.caption("There is one feature only: the average difference over its values.")
        curve = shown.memo(
            "feature", work=lambda: differences.over_feature(policy, trajectories, names[0], *pair)
        )
        figure(curve_figure(curve), "q-over-feature")
        return
    left, right = st.columns(2)
    with left:
        across = controls.select("Across", "q.across", names, names[0], "The feature to the right.")
    others = tuple(name for name in names if name != across)
    with right:
        up = controls.select("Up", "q.up", others, others[0], "The feature upwards.")
    plane = shown.memo(
        "plane",
        across,
        up,
        work=lambda: differences.over_two_features(policy, trajectories, across, up, *pair),
    )
    averaged = " Other features are as observed, averaged over." if len(names) > 2 else ""
    st.caption(
        "The dashed line is where neither is ahead; each mark is a decision of the study."
        f"{averaged} Empty where fewer than {differences.FEWEST_NEAR} decisions lie within half a "
        "standard deviation: what the model says there is guesswork."
    )
    figure(plane_figure(plane, policy.action_labels), "q-over-features")


def _compare(shown: Shown) -> None:
    policy = shown.policy
    own = policy_name(policy)
    others = {name: p for name, p in comparable_policies().items() if name != own}
    if not others:
        st.caption(
            "There is nothing to compare with yet. Learn both models, or fit another kind of "
            "feature map and learn a policy on it: those of this session appear here."
        )
        return
    name = controls.select(
        "Compare with",
        "q.compare",
        list(others),
        next(iter(others)),
        "The other policies that were learned from these data in this session: by the other model, "
        "on another feature map, with another discount.",
    )
    found = shown.memo(
        "compare",
        name,
        work=lambda: differences.compare_policies(
            policy, others[name], shown.prepared.trajectories, shown.action, shown.reference
        ),
    )
    st.caption(literal(" ".join(describe_comparison(found, *names_apart(policy, others[name])))))
    figure(comparison_figure(found, *names_apart(policy, others[name])), "q-compare")


def _tables(shown: Shown, explanation: Explanation) -> None:
    if shown.policy.is_linear:
        st.markdown("**Parameters**, with 95 % intervals")
        full = shown.policy.parameter_intervals
        table(parameter_table(shown.policy), "parameters", full)
    st.markdown("**By feature**")
    table(feature_effect_table(explanation), "feature-effects", explanation.features)
    st.markdown("**By variable**")
    table(variable_effect_table(explanation), "variable-effects", explanation.variables)
