"""Which of the learned policies is 'the policy', and what it was learned from: on every page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import streamlit as st

from dashboard import controls
from dashboard.clicks import CLICKS
from dashboard.literal_text import literal
from dashboard.session import State, done, kept, known_results, result, state, the_analysis
from smdp.steps import POLICY, RESCALING
from smdp.steps.policies import policy_names

if TYPE_CHECKING:
    from smdp.data.column_roles import Assignment
    from smdp.data.trajectories import Trajectories
    from smdp.policy.learned_policy import LearnedPolicy

CHOICE = "the policy"


def learned_policies() -> tuple[LearnedPolicy, ...]:
    """All that were learned; none before that."""
    return result(POLICY) or ()


def named_policies() -> dict[str, LearnedPolicy]:
    """By the names that tell them apart: 'linear', 'neural', or 'linear (discount 0.9)'."""
    policies = learned_policies()
    return dict(zip(policy_names(policies), policies, strict=True))


def short_name(policy: LearnedPolicy) -> str:
    """What one of the learned policies is called."""
    return next(name for name, own in named_policies().items() if own is policy)


def chosen_policy() -> LearnedPolicy | None:
    """The one that was chosen, the linear one by default; None before any is learned."""
    named = named_policies()
    if not named:
        return None
    return named.get(kept(CHOICE, "")) or named[_first_choice(named)]


def _first_choice(named: Mapping[str, LearnedPolicy]) -> str:
    """The one whose placebo check was planned, else a linear one, which can be read."""
    planned, names = the_analysis().plan.placebo, list(named)
    if planned is not None and planned.policy <= len(names):
        return names[planned.policy - 1]
    return next((name for name, policy in named.items() if policy.kind == "linear"), names[0])


def policy_control() -> LearnedPolicy | None:
    """A control to choose it where several were learned, and what is chosen."""
    named = named_policies()
    if len(named) > 1:
        controls.select(
            "The policy",
            CHOICE,
            list(named),
            _first_choice(named),
            "Which of the learned policies the pages Q-functions, Policy and Patient speak of. A "
            "linear one can be read parameter by parameter; a neural one can bend, and combine "
            "features.",
            lambda name: f"{name} Q-function",
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
    """A standing note where treatment was not known to be randomised, or not how."""
    from smdp.words.policy import observational_note

    show_notice(observational_note(trajectories, assignment()))


def assignment() -> Assignment | None:
    """What was said of who decided on treatment."""
    said: Assignment | None = the_analysis().plan.roles.assignment
    return said


def show_notice(text: str) -> None:
    """On top of a page that speaks of effects; a warning unless chance is said to have decided."""
    if text:
        box = st.info if assignment() == "randomised" else st.warning
        box(literal(f"{text} {CLICKS['probability']}"), icon=":material/visibility:")
