"""The step Q-functions: what each treatment is worth, in which state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from smdp.blocks import Heading, Notice, Paragraph, bullets, table
from smdp.data.problem import Problem
from smdp.policy.policy_settings import PolicySettings
from smdp.progress import Progress, part_of
from smdp.steps.code import call
from smdp.steps.step import Page, PlanSection, ReportSection, Step, StepState
from smdp.steps.step_plans import PolicyPlan
from smdp.text import capital, percent

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.data.prepare import PreparedData
    from smdp.evaluation.rule_value import RuleReport
    from smdp.policy.learned_policy import LearnedPolicy


GONE = Notice(
    "note",
    "What the policies recommend at the decisions of the study, and why, is left out: the data "
    "that they were learned from are not here.",
)


def run(analysis: Analysis, progress: Progress) -> tuple[LearnedPolicy, ...]:
    from smdp.policy.learned_policy import learn_policy

    prepared, fitted, plans = analysis.prepared, analysis.feature_map, analysis.plan.policies
    assert prepared is not None
    assert fitted is not None
    return tuple(
        learn_policy(
            prepared.trajectories,
            fitted,
            plan.settings,
            seed=plan.seed,
            progress=part_of(progress, k, len(plans)),
        )
        for k, plan in enumerate(plans)
    )


def summary(policies: tuple[LearnedPolicy, ...], analysis: Analysis) -> str:
    from smdp.words.policy import policy_summary

    return policy_summary(policies)


def says(analysis: Analysis) -> list[str]:
    from smdp.words.policy import describe_convergence

    return [describe_convergence(policy) for policy in analysis.policies]


def warns(policies: tuple[LearnedPolicy, ...], analysis: Analysis) -> Sequence[Problem]:
    from smdp.words.policy import check_policies

    return check_policies(policies)


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    """Of each policy; what it recommends and why needs the data."""
    from smdp.explanation.policy_explanation import explain_policy
    from smdp.explanation.recommendations import recommendations, shares_over_time

    for number, policy in enumerate(analysis.policies, start=1):
        name = f"policy-{number}-{policy.kind}"
        if policy.is_linear:
            yield f"{name}-parameters", policy.parameter_intervals
        yield f"{name}-convergence", policy.convergence
        if analysis.prepared is None:
            continue
        trajectories = analysis.prepared.trajectories
        every = recommendations(trajectories, policy)
        yield f"{name}-over-time", shares_over_time(every, policy.action_labels)
        reasons = explain_policy(policy, trajectories)
        yield f"{name}-by-feature", reasons.features
        yield f"{name}-by-variable", reasons.variables


def figures(policies: tuple[LearnedPolicy, ...]) -> Mapping[str, go.Figure]:
    from smdp.figures.q_functions import convergence_figure, parameters_figure

    return {
        name: parameters_figure(policy) if policy.is_linear else convergence_figure(policy)
        for name, policy in zip(policy_names(policies), policies, strict=True)
    }


def methods(analysis: Analysis, asked: Sequence[PolicyPlan]) -> str:
    """How each Q-function was learned, and when nothing was recommended."""
    text = (
        "Treatment policies were learned by Q-learning on the features: a Q-function is the "
        "expected discounted utility of giving an action now and choosing the best from then on. "
    )
    text += " ".join(_learned(plan.settings) for plan in asked)
    first = asked[0].settings
    text += (
        " Standard errors of parameters and of the margin between actions came from refits to "
        f"samples of subjects drawn with replacement ({_resamples(asked)}), with the features held "
        "fixed. Nothing was recommended where the best action's margin over the next was not "
        f"above 0 at a one-sided level of {first.abstain_level:g}"
    )
    if first.least_share > 0:
        text += (
            f", or where fewer than {percent(first.least_share)} of the {first.neighbours} nearest "
            "decisions of the trial had one of the actions"
        )
    return text + "."


def _learned(own: PolicySettings) -> str:
    discount = f"with a discount of {own.discount:g}"
    if own.model == "neural":
        return (
            "A neural Q-function (two hidden layers of "
            f"{own.width} units) was learned by fitted Q iteration (Ernst et al., 2005), "
            f"{own.steps:,} steps, {discount}."
        )
    if own.model == "pessimistic":
        fallback = own.reference or "the first one of the study"
        return (
            "A pessimistic linear policy (Jin et al., 2021) chose a treatment over the reference "
            f"({fallback}) only where the linear Q-function put it ahead by more than "
            f"{own.pessimism:g} standard errors of the difference, {discount}."
        )
    if own.update == "stochastic":
        return (
            "A linear Q-function was learned by the stochastic update of Wang et al. (2017), one "
            f"transition at a time, {discount}."
        )
    return (
        "A linear Q-function (a weight for each feature and action) was learned by least-squares "
        f"policy iteration (Lagoudakis & Parr, 2003), {discount} and a ridge of {own.ridge:g} on "
        "standardised features."
    )


def _resamples(asked: Sequence[PolicyPlan]) -> str:
    counts = {plan.settings.model: plan.settings.resamples for plan in asked}
    return ", ".join(f"{model}: {count}" for model, count in counts.items())


def script(plan: AnalysisPlan) -> str:
    lines = ["policies = []"]
    for each in plan.policies:
        given = "prepared.trajectories, feature_map"
        learned = call("policy", "smdp.learn_policy", given, each.settings, each.seed)
        lines += [learned, "policies.append(policy)"]
    return "\n".join(lines)


def q_function_section(analysis: Analysis, draw: Draw) -> list[Block]:
    found: list[Block] = []
    prepared = learned_from(analysis)
    names = policy_names(analysis.policies)
    for name, policy in zip(names, analysis.policies, strict=True):
        found += _q_function(policy, name, prepared, draw)
    if prepared is None:
        found.append(GONE)
    return found


def _q_function(
    policy: LearnedPolicy, name: str, prepared: PreparedData | None, draw: Draw
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
    found.append(Paragraph(capital(text) + describe_convergence(policy)))
    if policy.is_linear:
        found.append(
            draw(
                f"{key}-parameters",
                f"Parameters of the {name} Q-function",
                parameters_figure(policy),
                PARAMETERS,
            )
        )
        found += table(f"Parameters of the {name} Q-function", parameter_table(policy))
    if prepared is not None:
        found += _reasons(policy, name, prepared, draw)
    if not policy.converged:
        title = f"Learning of the {name} Q-function"
        found.append(draw(f"{key}-learning", title, convergence_figure(policy)))
    return found


def _reasons(policy: LearnedPolicy, name: str, prepared: PreparedData, draw: Draw) -> list[Block]:
    """What favours which treatment, at the decisions of the study."""
    from smdp.explanation.policy_explanation import explain_policy
    from smdp.explanation.q_differences import observed_differences
    from smdp.figures.q_differences import differences_histogram
    from smdp.figures.q_functions import feature_effects_figure
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
        draw(
            f"{key}-effects",
            f"What each feature favours ({name})",
            feature_effects_figure(policy, explanation),
            DIFFERENCES,
        )
    ]
    explanation = explanation.in_own_units()
    found += bullets(describe_explanation(explanation))
    found += table(f"Effects by feature ({name})", feature_effect_table(explanation))
    found += table(f"Effects by variable ({name})", variable_effect_table(explanation))
    for place, action in enumerate(explanation.actions, start=1):
        observed = observed_differences(policy, trajectories, action, reference)
        which = f"{action_name(action)} rather than {action_name(reference)}"
        found.append(
            draw(
                f"{key}-differences" + (f"-{place}" if len(explanation.actions) > 1 else ""),
                f"Who gains: {which} ({name})",
                differences_histogram(observed, policy.action_labels),
                " ".join(describe_differences(observed)),
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


def rule_of_a_policy(analysis: Analysis) -> tuple[RuleReport | None, str]:
    """The rule card, if it is up to date, and the name of the policy that it was made of."""
    record, names = analysis.records.get("rule"), policy_names(analysis.policies)
    fresh = record is not None and analysis.states()["rule"] == StepState.DONE
    if record is None or not fresh or record.asked.policy > len(names):
        return None, ""
    return analysis.rule, names[record.asked.policy - 1]


def learned_from(analysis: Analysis) -> PreparedData | None:
    """The data that the policies were learned from; None if they are gone or others by now."""
    learned, made = analysis.records.get("policy"), analysis.records.get("rescaling")
    if learned is None or made is None or learned.inputs.get("trajectories") != made.output:
        return None
    return analysis.prepared


POLICY = Step(
    name="policy",
    title="Q-functions",
    question="What is each treatment worth, in which state?",
    sections=(PlanSection("policies", tuple[PolicyPlan, ...], ()),),
    result="builtins:tuple",
    needs=("features",),
    takes={"trajectories": "rescaling", "feature map": "features"},
    run=run,
    summary=summary,
    says=says,
    warns=warns,
    tables=tables,
    figures=figures,
    methods=methods,
    report=(ReportSection("q_functions", "Q-functions", ("policy",), q_function_section),),
    script=script,
    script_end="for policy in policies:\n    print(policy.kind, policy.converged)",
    page=Page("Q-functions", "Learn what each treatment is worth in each state", "q_functions", 7),
    effort=20,
    of_effects=True,
)
