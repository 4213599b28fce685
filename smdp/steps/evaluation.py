"""The step Value of the policy: what it would earn, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from smdp.blocks import Bullets, Heading, Notice, Paragraph, bullets, table
from smdp.data.problem import Problem
from smdp.feature_map.kinds import map_kind
from smdp.progress import Progress
from smdp.steps.code import code
from smdp.steps.policies import learned_from, policy_names, rule_of_a_policy
from smdp.steps.step import Page, PlanSection, ReportSection, Step, StepState
from smdp.steps.step_plans import EvaluationPlan
from smdp.steps.trial import telling
from smdp.text import listing, percent

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.data.outcome import OutcomeName
    from smdp.data.prepare import PreparedData
    from smdp.evaluation.evaluation_settings import EvaluationSettings
    from smdp.evaluation.value import PolicyValue
    from smdp.policy.learned_policy import LearnedPolicy
    from smdp.words.one_story import Pair


def run(analysis: Analysis, progress: Progress) -> tuple[PolicyValue, ...]:
    from smdp.evaluation.value import evaluate_policies

    prepared, plan, policies = analysis.prepared, analysis.plan.evaluation, analysis.policies
    assert prepared is not None
    return evaluate_policies(
        prepared.trajectories,
        policies,
        plan.settings,
        seed=plan.seed,
        progress=progress,
        analyses=analysis.fold_analyses if plan.whole else None,
    )


def needs(plan: AnalysisPlan) -> tuple[str, ...]:
    whole = plan.evaluation is not None and plan.evaluation.whole
    return ("policy", "folds") if whole else ("policy",)


def also_takes(analysis: Analysis) -> Mapping[str, str]:
    """Judged the quick way, there are no analyses without each fold."""
    if "folds" not in needs(analysis.plan):
        return {}
    record = analysis.records.get("folds")
    return {"analyses without each fold": "" if record is None else record.output}


def summary(values: tuple[PolicyValue, ...], analysis: Analysis) -> str:
    from smdp.words.policy_value import evaluation_summary

    policies = analysis.policies
    return evaluation_summary(values, policies[0].kind if len(policies) > 1 else "value")


def says(analysis: Analysis) -> list[str]:
    from smdp.words.policy_value import describe_value

    kinds = [policy.kind for policy in analysis.policies]
    pairs = zip(analysis.values, kinds, strict=False)
    outcome = analysis.outcome_name
    every = [describe_value(value, kind, outcome=outcome) for value, kind in pairs]
    return [sentence for told in every for sentence in told]


def warns(values: tuple[PolicyValue, ...], analysis: Analysis) -> Sequence[Problem]:
    from smdp.words.policy_value import check_value, without_interval

    found = [problem for value in values for problem in check_value(value)]
    for value in values:
        found += [Problem("warning", "", text) for text in without_interval(value, "learned")]
    return list(dict.fromkeys(found))


def numbers_of_steps(analysis: Analysis, place: int = 0) -> list[Pair]:
    """What several steps say of a treatment, of the policy with this place in the plan."""
    from smdp.words.effects import interval_name
    from smdp.words.one_story import numbers_on_treatments

    fresh = {name for name, state in analysis.states().items() if state == StepState.DONE}
    trial = analysis.trial if "trial" in fresh else None
    policies = analysis.policies if "policy" in fresh else ()
    values = analysis.values if "evaluation" in fresh else ()
    return numbers_on_treatments(
        trial,
        policies[place] if place < len(policies) else None,
        policy_names(policies)[place] if place < len(policies) else "",
        values[place] if place < len(values) else None,
        analysis.prepared.trajectories if analysis.prepared and "rescaling" in fresh else None,
        "" if trial is None else interval_name(trial, telling(analysis)),
    )


def beside_other_steps(analysis: Analysis, place: int = 0) -> list[str]:
    """How the numbers of several steps relate."""
    from smdp.words.one_story import how_they_relate

    return how_they_relate(numbers_of_steps(analysis, place), analysis.outcome_name)


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    for number, value in enumerate(analysis.values, start=1):
        yield f"value-{number}", value.table
        yield f"value-{number}-differences", value.differences
        yield f"value-{number}-positivity", value.positivity


def figures(values: tuple[PolicyValue, ...]) -> Mapping[str, go.Figure]:
    from smdp.figures.policy import value_figure

    names = [f"policy {number}" for number in range(1, len(values) + 1)]
    return {"value": value_figure(dict(zip(names, values, strict=True)), names[0])}


def methods(analysis: Analysis, asked: EvaluationPlan) -> str:
    """The estimator of a policy's value, and how it was kept honest."""
    own = asked.settings
    discount = own.discount
    if discount is None and analysis.values:
        discount = analysis.values[0].discount
    weighted = "" if discount is None else f" (discount {discount:g})"
    refits = any(map_kind(policy.feature_map.kind).refit for policy in analysis.policies)
    maps = (
        " (its features too, with their number and variables as they were)"
        if own.refit_map and refits and not asked.whole
        else ""
    )
    variables = (
        "the variables that the policy uses" + _and_moved(own)
        if own.variables is None
        else listing(own.variables, 12)
    )
    chosen = (
        ""
        if asked.whole
        else "; but which variables and how many features there are was chosen with everybody, so "
        "that these values look too good"
    )
    return (
        "What a policy would earn, as a mean utility a decision in which later decisions count "
        f"less{weighted}, was estimated from the trial by a doubly robust estimator (Kallus & "
        "Uehara, 2020) with marginal ratios of state densities (Liu et al., 2018), clipped at "
        f"{own.weight_limit:g}, and a Q-function that is piecewise linear in {variables}. It was "
        f"cross-fitted over {own.folds} folds of subjects: the policy{maps}, the Q-function and "
        "the weights were learned from the other folds, so that nobody was judged by what was "
        f"learned from the same person{chosen}. Standard errors combine the estimator's influence "
        f"function with the spread of the fitted Q over {own.bootstraps:,} bootstrap samples of "
        f"subjects; intervals are of {percent(own.coverage)}, and none is given where the "
        f"effective number of subjects was below {own.least_effective:g}. The same was done for "
        "what was observed and for each action given always."
    )


def _and_moved(own: EvaluationSettings) -> str:
    if not own.moved:
        return ""
    return (
        " and in those that treatment moves (at most eight, by scores of people: the next value "
        "goes with the treatment beyond its present value)"
    )


def script(plan: AnalysisPlan) -> str:
    own = plan.evaluation
    how = f"how = {code(own.settings, 0)}"
    if own.whole:
        given = "prepared.trajectories, policies, how, analyses=analyses"
        return f"{how}\nvalues = smdp.evaluate_policies({given})"
    loop = f"smdp.evaluate_policy(prepared.trajectories, policy, how, seed={own.seed})"
    return f"{how}\nvalues = [\n    {loop}\n    for policy in policies\n]"


def policy_section(analysis: Analysis, draw: Draw) -> list[Block]:
    from smdp.figures.policy import value_figure
    from smdp.words.policy_value import judged_words

    names = policy_names(analysis.policies)
    judged = analysis.values if len(analysis.values) == len(names) else ()
    values = dict(zip(names, judged, strict=False))
    found: list[Block] = []
    if values:
        found.append(
            draw(
                "value",
                "What each policy would earn",
                value_figure(values, names[0], analysis.outcome_name),
                "Doubly robust estimates with their intervals; an open symbol has none that could "
                f"be trusted. Dotted: what was observed. {judged_words(values[names[0]])}".strip(),
            )
        )
    else:
        text = "What the policies would earn was not estimated."
        if analysis.values:
            text = "The estimates at hand are of other policies than those shown here."
        found.append(Notice("note", text))
    prepared = learned_from(analysis)
    if values:
        found += _comparison(analysis, values, draw)
    for name, policy in zip(names, analysis.policies, strict=True):
        found += _policy(policy, name, values.get(name), prepared, analysis.outcome_name, draw)
    if values and prepared is not None:
        found += _risk(analysis, names[0], values[names[0]], prepared, draw)
    if relations := beside_other_steps(analysis):
        found += [Heading("Beside the other numbers"), *bullets(relations)]
    if values:
        found += _positivity(analysis, values[names[0]], draw)
    if values and values[names[0]].whole_analysis:
        found += _folds(analysis, draw)
    return found


def _folds(analysis: Analysis, draw: Draw) -> list[Block]:
    """What was kept by the analyses that the values are of."""
    from smdp.figures.whole_analysis import kept_figure
    from smdp.words.whole_analysis import describe_folds

    analyses = analysis.fold_analyses
    if analyses is None:
        return []
    found: list[Block] = [Heading("The whole analysis without each fold of people")]
    found += bullets(describe_folds(analyses))
    title = "How often each variable is kept without a fold of people"
    found.append(draw("folds", title, kept_figure(analyses)))
    return found + table("Analyses without each fold of people", analyses.table)


def _policy(
    policy: LearnedPolicy,
    name: str,
    value: PolicyValue | None,
    prepared: PreparedData | None,
    outcome: OutcomeName,
    draw: Draw,
) -> list[Block]:
    from smdp.explanation.recommendations import abstentions, recommendations, shares_over_time
    from smdp.figures.recommendations import time_figure
    from smdp.words.policy_value import describe_value, gain_sentence, without_interval

    found: list[Block] = [Heading(f"{name.capitalize()} policy")]
    shares, abstained = None, None
    if prepared is not None:
        every = recommendations(prepared.trajectories, policy)
        shares, abstained = shares_over_time(every, policy.action_labels), abstentions(every)
    if value is not None:
        found.append(Paragraph(gain_sentence(value, name, outcome), strong=True))
        found += bullets(
            [
                *without_interval(value, name),
                *describe_value(value, name, abstained, outcome),
            ]
        )
        found += _value_tables(value, name)
    if shares is not None:
        found.append(
            draw(
                f"{name.replace(' ', '-')}-over-time",
                f"What the {name} policy recommends over time",
                time_figure(shares),
                "Shares of the decisions at which there was a choice.",
            )
        )
    return found


def _comparison(analysis: Analysis, values: Mapping[str, PolicyValue], draw: Draw) -> list[Block]:
    """Every candidate against every other, and which one to take."""
    from smdp.evaluation.candidates import comparison_of
    from smdp.figures.policy_comparison import comparison_figure
    from smdp.words.policy_comparison import comparison_words, how_compared, recommendation

    least = analysis.records["evaluation"].asked.settings.least_effective
    rule, of = rule_of_a_policy(analysis)
    found = comparison_of(analysis.policies, values, least, rule=rule, rule_of=of)
    if found is None:
        return []
    blocks: list[Block] = [Heading("Which policy to take")]
    blocks.append(Paragraph(recommendation(found, analysis.outcome_name), strong=True))
    blocks.append(
        draw("comparison", "Row minus column", comparison_figure(found), how_compared(found))
    )
    return blocks + table("Candidates and their differences", comparison_words(found))


def _risk(
    analysis: Analysis, name: str, value: PolicyValue, prepared: PreparedData, draw: Draw
) -> list[Block]:
    """How outcomes are spread under the first policy, and whether anybody loses."""
    from smdp.evaluation.outcome_risk import groups_to_look_at, risk_of
    from smdp.figures.policy_comparison import distribution_figure, subgroup_figure
    from smdp.words.policy_comparison import (
        WEIGHTED,
        describe_risk,
        describe_subgroups,
        risk_words,
        subgroup_words,
    )

    if value.judged is None:
        return []
    least = analysis.records["evaluation"].asked.settings.least_effective
    outcome = analysis.outcome_name
    used = analysis.policies[0].feature_map.variables_used
    groups = groups_to_look_at(prepared.trajectories, used)
    risk, gains = risk_of(value, prepared.trajectories, groups, least)
    blocks: list[Block] = [Heading("Risk, not only the mean")]
    blocks += bullets([*describe_risk(risk, name, outcome), *describe_subgroups(gains)])
    figure = distribution_figure(risk, name, outcome)
    blocks.append(draw("risk", f"Outcomes under the {name} policy", figure, WEIGHTED))
    blocks += table(
        "Outcomes of decisions", risk_words(risk, list(value.judged.estimates), outcome)
    )
    blocks.append(
        draw(
            "subgroups",
            f"Who gains by the {name} policy",
            subgroup_figure(gains, outcome),
            "Each person is in the group of the value at the first decision.",
        )
    )
    return blocks + table("Gains by subgroup", subgroup_words(gains))


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


def _positivity(analysis: Analysis, value: PolicyValue, draw: Draw) -> list[Block]:
    """Whether each treatment was tried often enough; much the same for every policy."""
    from smdp.figures.policy import positivity_figure
    from smdp.words.policy_value import positivity_words

    rare = analysis.records["evaluation"].asked.settings.rare
    found: list[Block] = [Heading("Was every treatment tried often enough?")]
    found.append(
        draw(
            "positivity",
            "How often each treatment was tried",
            positivity_figure(value, rare),
            "Where a treatment was hardly ever given, no estimate can say what it would do.",
        )
    )
    return found + table("How often each treatment was tried", positivity_words(value, rare))


EVALUATION = Step(
    name="evaluation",
    title="Value of the policy",
    question="Whom would the policy treat, and what would that earn?",
    sections=(PlanSection("evaluation", EvaluationPlan),),
    result="builtins:tuple",
    needs=needs,
    takes={"trajectories": "rescaling", "policies": "policy"},
    also_takes=also_takes,
    run=run,
    summary=summary,
    says=says,
    warns=warns,
    tables=tables,
    figures=figures,
    methods=methods,
    report=(
        ReportSection(
            "policy",
            "The policy and its value",
            ("policy",),
            policy_section,
            steps=("policy", "folds", "evaluation"),
        ),
    ),
    script=script,
    script_end="for value in values:\n    print(value.estimate, value.lower, value.upper)",
    page=Page("Policy", "See whom it would treat, and what that would earn", "policy", 8),
    effort=40,
    of_effects=True,
)
