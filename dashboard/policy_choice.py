"""Which of the learned policies is 'the policy', and what it was learned from: on every page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from dashboard import controls
from dashboard.clicks import CLICKS
from dashboard.session import State, done, kept, known_results, result, state, the_analysis
from smdp.steps import POLICY, RESCALING

if TYPE_CHECKING:
    from smdp.data.trajectories import Trajectories
    from smdp.policy.learned_policy import LearnedPolicy

CHOICE = "the policy"


def learned_policies() -> tuple[LearnedPolicy, ...]:
    """All that were learned; none before that."""
    return result(POLICY) or ()


def chosen_policy() -> LearnedPolicy | None:
    """The one that was chosen, the linear one by default; None before any is learned."""
    by_kind: dict[str, LearnedPolicy] = {policy.kind: policy for policy in learned_policies()}
    if not by_kind:
        return None
    return by_kind.get(kept(CHOICE, "")) or by_kind[_first_choice(list(by_kind))]


def _first_choice(kinds: Sequence[str]) -> str:
    """The one whose placebo check was planned, else the linear one, which can be read."""
    planned = the_analysis().plan.placebo
    if planned is not None and planned.policy <= len(kinds):
        return kinds[planned.policy - 1]
    return "linear" if "linear" in kinds else kinds[0]


def policy_control() -> LearnedPolicy | None:
    """A control to choose it where several were learned, and what is chosen."""
    kinds: list[str] = [policy.kind for policy in learned_policies()]
    if len(kinds) > 1:
        controls.select(
            "The policy",
            CHOICE,
            kinds,
            _first_choice(kinds),
            "Which of the learned policies the pages Q-functions, Policy and Patient speak of. The "
            "linear one can be read parameter by parameter; the neural one can bend, and combine "
            "features.",
            lambda kind: f"{kind} Q-function",
        )
    return chosen_policy()


def comparable_policies() -> dict[str, LearnedPolicy]:
    """By name, the policies that this session has learned from the same prepared data.

    Also those on other feature maps or with another discount; the present ones come first.
    """
    from smdp.words.policy import policy_name

    found: dict[str, LearnedPolicy] = {policy_name(p): p for p in learned_policies()}
    prepared = done(RESCALING)
    if prepared is None or state(POLICY) != State.DONE:
        return found
    for known in known_results(POLICY.name):
        if known.record.inputs.get("trajectories") == prepared.output:
            found = {**{policy_name(p): p for p in known.result}, **found}
    present = {policy_name(p): p for p in learned_policies()}
    return {**present, **found}


def observational_banner(trajectories: Trajectories) -> None:
    """A standing note where treatment was not known to be randomised."""
    from smdp.words.policy import observational_note

    note = observational_note(trajectories)
    if note:
        st.warning(f"{note} {CLICKS['probability']}", icon=":material/visibility:")
