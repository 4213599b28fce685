"""The sections on treatment: Q-functions, the policy's value, the trial itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from smdp.analysis.steps import Step
from smdp.report.parts import Block, Bullets, Heading, Notice, Paragraph, bullets, table
from smdp.report.sketch import Sketch

if TYPE_CHECKING:
    from smdp.analysis.result import AnalysisResult
    from smdp.data.prepare import PreparedData
    from smdp.policy.evaluation import PolicyValue
    from smdp.policy.learned_policy import LearnedPolicy

GONE = Notice(
    "note",
    "What the policies recommend at the decisions of the study, and why, is left out: the data "
    "that they were learned from are not here.",
)


def q_function_section(analysis: AnalysisResult, sketch: Sketch) -> list[Block]:
    found: list[Block] = []
    prepared = learned_from(analysis)
    names = policy_names(analysis.policies)
    for name, policy in zip(names, analysis.policies, strict=True):
        found += _q_function(policy, name, prepared, sketch)
    if prepared is None:
        found.append(GONE)
    return found


def _q_function(
    policy: LearnedPolicy, name: str, prepared: PreparedData | None, sketch: Sketch
) -> list[Block]:
    from smdp.figures.q_functions import convergence_figure, parameters_figure
    from smdp.words.policy import (
        PARAMETERS,
        describe_convergence,
        discount_words,
        parameter_table,
        policy_name,
    )

    key = name.replace(" ", "-")
    text = f"{policy_name(policy)}. {discount_words(policy.settings.discount)} "
    found: list[Block] = [Heading(f"{name.capitalize()} Q-function")]
    found.append(Paragraph(text[:1].upper() + text[1:] + describe_convergence(policy)))
    if policy.kind == "linear":
        found.append(
            sketch(
                f"{key}-parameters",
                f"Parameters of the {name} Q-function",
                parameters_figure(policy),
                PARAMETERS,
            )
        )
        found += table(f"Parameters of the {name} Q-function", parameter_table(policy))
    if prepared is not None:
        found += _reasons(policy, name, prepared, sketch)
    if not policy.converged:
        title = f"Learning of the {name} Q-function"
        found.append(sketch(f"{key}-learning", title, convergence_figure(policy)))
    return found


def _reasons(
    policy: LearnedPolicy, name: str, prepared: PreparedData, sketch: Sketch
) -> list[Block]:
    """What favours which treatment, at the decisions of the study."""
    from smdp.figures.q_differences import differences_histogram
    from smdp.figures.q_functions import feature_effects_figure
    from smdp.policy.explanation import explain_policy
    from smdp.policy.own_units import explanation_in_own_units
    from smdp.policy.q_differences import observed_differences
    from smdp.words.explanation import (
        action_name,
        describe_explanation,
        feature_effect_table,
        variable_effect_table,
    )
    from smdp.words.policy import DIFFERENCES, describe_differences, treatment_pairs

    key, trajectories = name.replace(" ", "-"), prepared.trajectories
    reference = treatment_pairs(policy.action_labels)[0][1]
    explanation = explain_policy(policy, trajectories, reference=reference)
    found: list[Block] = [
        sketch(
            f"{key}-effects",
            f"What each feature favours ({name})",
            feature_effects_figure(policy, explanation),
            DIFFERENCES,
        )
    ]
    if prepared.rescaled is not None:
        explanation = explanation_in_own_units(explanation, prepared.rescaled.before_range)
    found += bullets(describe_explanation(explanation))
    found += table(f"Effects by feature ({name})", feature_effect_table(explanation))
    found += table(f"Effects by variable ({name})", variable_effect_table(explanation))
    for place, action in enumerate(explanation.actions, start=1):
        observed = observed_differences(policy, trajectories, action, reference)
        which = f"{action_name(action)} rather than {action_name(reference)}"
        found.append(
            sketch(
                f"{key}-differences" + (f"-{place}" if len(explanation.actions) > 1 else ""),
                f"Who gains: {which} ({name})",
                differences_histogram(observed, policy.action_labels),
                " ".join(describe_differences(observed)),
            )
        )
    return found


def policy_section(analysis: AnalysisResult, sketch: Sketch) -> list[Block]:
    from smdp.figures.policy import value_figure

    names = policy_names(analysis.policies)
    judged = analysis.values if len(analysis.values) == len(names) else ()
    values = dict(zip(names, judged, strict=False))
    found: list[Block] = []
    if values:
        found.append(
            sketch(
                "value",
                "What each policy would earn",
                value_figure(values, names[0]),
                "Doubly robust estimates with their intervals; an open symbol has none that could "
                "be trusted. Dotted: what was observed.",
            )
        )
    else:
        text = "What the policies would earn was not estimated."
        if analysis.values:
            text = "The estimates at hand are of other policies than those shown here."
        found.append(Notice("note", text))
    prepared = learned_from(analysis)
    for name, policy in zip(names, analysis.policies, strict=True):
        found += _policy(policy, name, values.get(name), prepared, sketch)
    if values:
        found += _positivity(analysis, values[names[0]], sketch)
    return found


def _policy(
    policy: LearnedPolicy,
    name: str,
    value: PolicyValue | None,
    prepared: PreparedData | None,
    sketch: Sketch,
) -> list[Block]:
    from smdp.figures.recommendations import time_figure
    from smdp.policy.recommendations import abstentions, recommendations, shares_over_time
    from smdp.words.policy_value import describe_value, gain_sentence, without_interval

    found: list[Block] = [Heading(f"{name.capitalize()} policy")]
    shares, abstained = None, None
    if prepared is not None:
        every = recommendations(prepared.trajectories, policy)
        shares, abstained = shares_over_time(every, policy.action_labels), abstentions(every)
    if value is not None:
        found.append(Paragraph(gain_sentence(value, name), strong=True))
        found += bullets([*without_interval(value, name), *describe_value(value, name, abstained)])
        found += _value_tables(value, name)
    if shares is not None:
        found.append(
            sketch(
                f"{name.replace(' ', '-')}-over-time",
                f"What the {name} policy recommends over time",
                time_figure(shares),
                "Shares of the decisions at which there was a choice.",
            )
        )
    return found


def _value_tables(value: PolicyValue, name: str) -> list[Block]:
    from smdp.words.policy_value import difference_words, value_words

    found = table(f"Differences ({name} policy)", difference_words(value, name))
    found += table(
        f"Values by each method ({name} policy)",
        value_words(value, name),
        "The doubly robust estimate is the one to be read; the others are diagnostics.",
    )
    if value.notes:
        found += [Paragraph("How this was estimated:"), Bullets(tuple(value.notes))]
    return found


def _positivity(analysis: AnalysisResult, value: PolicyValue, sketch: Sketch) -> list[Block]:
    """Whether each treatment was tried often enough; much the same for every policy."""
    from smdp.figures.policy import positivity_figure
    from smdp.words.policy_value import positivity_words

    rare = analysis.records[Step.EVALUATION].asked.settings.rare
    found: list[Block] = [Heading("Was every treatment tried often enough?")]
    found.append(
        sketch(
            "positivity",
            "How often each treatment was tried",
            positivity_figure(value, rare),
            "Where a treatment was hardly ever given, no estimate can say what it would do.",
        )
    )
    return found + table("How often each treatment was tried", positivity_words(value, rare))


def checks_section(analysis: AnalysisResult, sketch: Sketch) -> list[Block]:
    from smdp.figures.policy import placebo_figure, trial_figure
    from smdp.words.trial_effect import describe_placebo, describe_trial, trial_words

    found: list[Block] = []
    if analysis.trial is not None:
        asked = analysis.records[Step.TRIAL].asked
        found.append(Heading("Average effects in the trial"))
        found += bullets([*describe_trial(analysis.trial, logarithm=asked.logarithm)])
        found.append(
            sketch(
                "trial",
                "Average effect on the utility that follows",
                trial_figure(analysis.trial),
                "Before any policy: weighted and centred least squares.",
            )
        )
        found += table("Average effects", trial_words(analysis.trial))
        found += bullets(analysis.trial.notes)
    if analysis.placebo is not None:
        number = analysis.records[Step.PLACEBO].asked.policy
        names = policy_names(analysis.policies)
        name = names[number - 1] if number <= len(names) else "learned"
        found.append(Heading("Placebo check"))
        found += bullets(describe_placebo(analysis.placebo, name))
        found.append(
            sketch(
                "placebo",
                "Gains with shuffled treatments",
                placebo_figure(analysis.placebo),
                "Each dot is the gain claimed with treatments that did nothing.",
            )
        )
    return found


def policy_names(policies: Sequence[LearnedPolicy]) -> list[str]:
    """'linear', 'neural'; with several of a kind 'linear (discount 0.9)' or 'linear (2)'."""
    kinds: list[str] = [policy.kind for policy in policies]
    names = [
        kind if kinds.count(kind) == 1 else f"{kind} (discount {policy.settings.discount:g})"
        for kind, policy in zip(kinds, policies, strict=True)
    ]
    return [
        name if names.count(name) == 1 else f"{name} ({names[: k + 1].count(name)})"
        for k, name in enumerate(names)
    ]


def learned_from(analysis: AnalysisResult) -> PreparedData | None:
    """The data that the policies were learned from; None if they are gone or others by now."""
    learned, made = analysis.records.get(Step.POLICY), analysis.records.get(Step.RESCALING)
    if learned is None or made is None or learned.inputs.get("trajectories") != made.output:
        return None
    return analysis.prepared
