"""What the learned Q-functions say and do not say, and what to check."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from smdp.data.column_roles import Assignment
from smdp.data.problem import Problem
from smdp.data.trajectories import Trajectories
from smdp.explanation.policy_explanation import FEWEST_RESAMPLES
from smdp.explanation.q_differences import ObservedDifferences, PolicyComparison
from smdp.feature_map.kinds import map_kind
from smdp.policy.learned_policy import LearnedPolicy
from smdp.text import capital, interval_text, percent, plural
from smdp.words.explanation import action_name

#: A smaller change of Q-values is not worth its digits.
HARDLY = 0.001
CALLED_NOTHING = {
    "none",
    "nothing",
    "no",
    "no treatment",
    "control",
    "usual care",
    "off",
    "placebo",
}
PARAMETERS = (
    "Left: what one standard deviation more of a feature adds to each treatment's expected "
    "discounted utility (its parameter in Q); where the bars of a feature differ, the feature "
    "matters for the choice. Right: what each feature is made of. Lines are 95\u00a0% intervals."
)
DIFFERENCES = (
    "Left: how the difference between the treatments changes, on average over the decisions, with "
    "one standard deviation more of a feature: to the right the feature favours the treatment "
    "named, to the left the other one. Right: what each feature is made of. Lines are "
    "95\u00a0% intervals."
)


def policy_summary(policies: Sequence[LearnedPolicy]) -> str:
    """For the sidebar: 'linear and neural, discount 0.9'."""
    kinds = " and ".join(policy.kind for policy in policies)
    text = f"{kinds}, discount {policies[0].settings.discount:g}"
    open_ones = [policy.kind for policy in policies if not policy.converged]
    return text + (f"; {' and '.join(open_ones)} not settled" if open_ones else "")


def policy_name(policy: LearnedPolicy) -> str:
    """'linear Q, 3 features of 7 variables, discount 0.9'."""
    return f"{policy.kind} Q, {_map_name(policy)}, discount {policy.settings.discount:g}"


def names_apart(first: LearnedPolicy, second: LearnedPolicy) -> tuple[str, str]:
    """Short names of two policies: only what tells them apart, beside the model."""
    every = (first, second)
    names = [f"{policy.kind} Q" for policy in every]
    for parts in (
        [_map_name(policy) for policy in every],
        [f"discount {policy.settings.discount:g}" for policy in every],
    ):
        if parts[0] != parts[1]:
            names = [f"{name}, {part}" for name, part in zip(names, parts, strict=True)]
    return names[0], names[1]


def _map_name(policy: LearnedPolicy) -> str:
    return map_kind(policy.feature_map.kind).in_words(policy.feature_map)


def treatment_pairs(labels: Sequence[str]) -> list[tuple[str, str]]:
    """(treatment, compared with) for every two actions; with one that is called nothing, if any."""
    nothing = [label for label in labels if label.strip().lower() in CALLED_NOTHING]
    ordered = [*nothing, *(label for label in labels if label not in nothing)]
    return [(other, first) for first, other in combinations(ordered, 2)]


def discount_words(discount: float) -> str:
    """What a discount means, for a caption."""
    if discount == 0:
        return "Only the next outcome counts."
    halved = math.log(0.5) / math.log(discount)
    if halved < 1:
        return (
            f"The outcome one decision later counts {percent(discount)} of the next one, and so on."
        )
    return f"An outcome {plural(round(halved), 'decision')} later counts about half of the next."


def observational_note(trajectories: Trajectories, assignment: Assignment | None = None) -> str:
    """For the top of a page that speaks of effects; empty if it was known to be randomised.

    `assignment`: what was said of it; where nothing was, given probabilities say it.
    """
    association = (
        "What looks like an effect of treatment may come from who was treated and when; read it as "
        "an association."
    )
    if assignment == "observed":
        return f"Treatment was observed, not randomised. {association}"
    at_choice = trajectories.probabilities[trajectories.valid & trajectories.available]
    unknown = float(np.isnan(at_choice).any(axis=1).mean()) if len(at_choice) else 0.0
    if not unknown:
        return ""
    where = "" if unknown == 1 else f" at {percent(unknown)} of the decisions"
    if assignment == "randomised":
        return (
            f"Treatment was randomised, by your account, with probabilities that are not known"
            f"{where}: they are estimated."
        )
    return (
        f"Treatment was not known to be randomised{where}: no probabilities were given. "
        f"{association} If it was randomised, give the probabilities."
    )


def describe_differences(found: ObservedDifferences) -> list[str]:
    """How often each of two treatments is ahead, and how often that is certain."""
    action, other = action_name(found.action), action_name(found.reference)
    ahead = found.difference > 0
    text = (
        f"{capital(action)} is ahead of {other} at {percent(float(ahead.mean()))} of "
        f"{plural(len(ahead), 'decision')}."
    )
    if np.isnan(found.error).all():
        return [text, "Without refits on resampled people nothing is said about certainty."]
    sure, sure_other = (ahead & found.certain).mean(), (~ahead & found.certain).mean()
    return [
        text,
        f"With an error of at most {percent(found.level)} it is ahead at {percent(float(sure))} "
        f"and behind at {percent(float(sure_other))}; at the other "
        f"{percent(float(1 - sure - sure_other))} the two cannot be told apart.",
    ]


def describe_comparison(found: PolicyComparison, first: str, second: str) -> list[str]:
    """How far two policies agree."""
    sentences = [
        f"'{first}' and '{second}' have the same best treatment at {percent(found.same_best)} of "
        f"{plural(len(found.first), 'decision')}."
    ]
    if found.both_recommend:
        sentences.append(
            f"At {percent(found.both_recommend)} both are sure enough to recommend one, and there "
            f"they agree in {percent(found.same_recommended)}."
        )
    else:
        sentences.append("At no decision are both sure enough to recommend one.")
    if not math.isnan(found.correlation):
        sentences.append(
            f"The differences between the treatments correlate at {found.correlation:.2f}."
        )
    return sentences


def parameter_table(policy: LearnedPolicy) -> pd.DataFrame:
    """feature x action: the linear parameters with their intervals, intercept first."""
    rows = policy.parameter_intervals
    texts = [
        interval_text(e, low, high)
        for e, low, high in zip(rows["estimate"], rows["lower"], rows["upper"], strict=True)
    ]
    wide = rows.assign(text=texts).pivot(index="parameter", columns="action", values="text")
    order = list(dict.fromkeys(rows["parameter"]))
    wide = wide.reindex(index=order, columns=list(policy.action_labels))
    wide = wide.rename(columns={label: f"Q of {action_name(label)}" for label in wide.columns})
    wide.columns.name = None
    rows_named = {name: f"one SD more of {name}" for name in order}
    rows_named["intercept"] = "at the mean features"
    return wide.rename(index=rows_named).reset_index(names="parameter")


def describe_convergence(policy: LearnedPolicy) -> str:
    """Whether learning came to rest."""
    path = policy.convergence
    count = plural(len(path), "iteration")
    if policy.converged:
        change = float(path["change"].iloc[-1])
        by = f"{change:.2g}" if change >= HARDLY else "less than a thousandth"
        return (
            f"The {policy.kind} Q-function settled in {count}: in the last one, Q-values changed "
            f"by {by} and {percent(float(path['switched'].iloc[-1]), 1)} "
            "of the states changed their best treatment."
        )
    return f"The {policy.kind} Q-function did not settle in {count}."


def check_policies(policies: Sequence[LearnedPolicy]) -> list[Problem]:
    """Non-convergence first, then what else should be known, then missing errors."""
    found = []
    for policy in policies:
        notes = [f"{policy.kind.capitalize()} Q-function: {note}" for note in policy.notes]
        if not policy.converged and not notes:
            notes = [f"The {policy.kind} Q-function did not settle."]
        severity = "note" if policy.converged else "warning"
        remedy = (
            ""
            if policy.converged
            else "Try a smaller discount or fewer features, and trust it only where the other "
            "model agrees."
        )
        found += [Problem(severity, policy.kind, note, remedy) for note in notes]  # type: ignore[arg-type]
    few = [p.kind for p in policies if len(p.resampled) < FEWEST_RESAMPLES]
    if few:
        found.append(
            Problem(
                "warning",
                "bootstraps",
                f"The {' and '.join(few)} Q-function has fewer than {FEWEST_RESAMPLES} refits on "
                "resampled people, so that its parameters have no intervals"
                + (
                    " and every margin counts as certain."
                    if any(len(p.resampled) < 2 for p in policies)
                    else " and its margins have rough errors."
                ),
                "Set 'bootstraps' to None for the default, or to 50.",
                concerns="bootstraps",
            )
        )
    return found
