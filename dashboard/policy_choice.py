"""Which of the learned policies is 'the policy', and what it was learned from: on every page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard import inputs
from dashboard.session import State, Step, done, keep, kept, result, state

if TYPE_CHECKING:
    from smdp.data.prepare import PreparedData
    from smdp.data.trajectories import Trajectories
    from smdp.policy.learned_policy import LearnedPolicy

CHOICE = "policy.model"
LEARNED_FROM, EARLIER = "policy.data", "policy.earlier"


def learned_policies() -> tuple[LearnedPolicy, ...]:
    """All that were learned; none before that."""
    return result(Step.POLICY) or ()


def chosen_policy() -> LearnedPolicy | None:
    """The one that was chosen, the linear one by default; None before any is learned."""
    by_kind = {policy.kind: policy for policy in learned_policies()}
    if not by_kind:
        return None
    return by_kind.get(kept(CHOICE, "linear")) or next(iter(by_kind.values()))


def policy_control() -> LearnedPolicy | None:
    """A control to choose it where several were learned, and what is chosen."""
    kinds = [policy.kind for policy in learned_policies()]
    if len(kinds) > 1:
        inputs.select(
            "The policy",
            CHOICE,
            kinds,
            "linear" if "linear" in kinds else kinds[0],
            "Which of the learned policies the pages Q-functions, Policy and Patient speak of. The "
            "linear one can be read parameter by parameter; the neural one can bend, and combine "
            "features.",
            lambda kind: f"{kind} Q-function",
        )
    return chosen_policy()


def will_learn_from(prepared: PreparedData) -> None:
    """Remember the data of a policy, for when the steps before it have changed."""
    features = done(Step.FEATURES)
    if features is not None:
        keep(LEARNED_FROM, {**kept(LEARNED_FROM, {}), features.token: prepared})


def learned_from() -> PreparedData | None:
    """The prepared data that the present policies were learned from."""
    finished = done(Step.POLICY)
    if finished is None:
        return None
    if state(Step.POLICY) == State.DONE:
        prepared: PreparedData | None = result(Step.RESCALING)
        return prepared
    return kept(LEARNED_FROM, dict[str, "PreparedData"]()).get(finished.made_from)


def comparable_policies() -> dict[str, LearnedPolicy]:
    """By name, the policies that this session has learned from the same prepared data.

    Also those on other feature maps or with another discount; the present ones come first.
    """
    from smdp.words.policy import policy_name

    prepared = done(Step.RESCALING)
    found: dict[str, LearnedPolicy] = {policy_name(p): p for p in learned_policies()}
    if prepared is None or state(Step.POLICY) != State.DONE:
        return found
    earlier = kept(EARLIER, dict[str, dict[str, "LearnedPolicy"]]())
    every = found | {
        name: policy
        for name, policy in earlier.get(prepared.token, {}).items()
        if name not in found
    }
    keep(EARLIER, {prepared.token: every})
    return every


def observational_banner(trajectories: Trajectories) -> None:
    """A standing note where treatment was not known to be randomised."""
    from smdp.words.policy import observational_note

    note = observational_note(trajectories)
    if note:
        st.warning(note, icon=":material/visibility:")
