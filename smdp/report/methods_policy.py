"""The methods section's paragraphs on policies and what they would earn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from smdp.analysis.result import AnalysisResult
from smdp.analysis.step_plans import EvaluationPlan, PlaceboPlan, PolicyPlan, TrialPlan
from smdp.data.describe import percent, plural
from smdp.errors import listing
from smdp.policy.settings import PolicySettings


def policy_methods(analysis: AnalysisResult, asked: Sequence[PolicyPlan]) -> str:
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


def evaluation_methods(analysis: AnalysisResult, asked: EvaluationPlan) -> str:
    """The estimator of a policy's value, and how it was kept honest."""
    own = asked.settings
    discount = own.discount
    if discount is None and analysis.values:
        discount = analysis.values[0].discount
    weighted = "" if discount is None else f" (discount {discount:g})"
    maps = (
        " (its features too, with their number and variables as they were)" if own.refit_map else ""
    )
    variables = (
        "the variables that the policy uses"
        if own.variables is None
        else listing(own.variables, 12)
    )
    return (
        "What a policy would earn, as a mean utility a decision in which later decisions count "
        f"less{weighted}, was estimated from the trial by a doubly robust estimator (Kallus & "
        "Uehara, 2020) with marginal ratios of state densities (Liu et al., 2018), clipped at "
        f"{own.weight_limit:g}, and a Q-function that is piecewise linear in {variables}. It was "
        f"cross-fitted over {own.folds} folds of subjects: the policy{maps}, the Q-function and "
        "the weights were learned from the other folds, so that nobody was judged by what was "
        "learned from the same person. Standard errors combine the estimator's influence function "
        f"with the spread of the fitted Q over {own.bootstraps:,} bootstrap samples of subjects; "
        f"intervals are of {percent(own.coverage)}, and none is given where the effective number "
        f"of subjects was below {own.least_effective:g}. The same was done for what was observed "
        "and for each action given always."
    )


def placebo_methods(analysis: AnalysisResult, asked: PlaceboPlan) -> str:
    return (
        "As a check, the actions were shuffled among the subjects who had a choice at each "
        f"decision, {plural(asked.repeats, 'time')}, and the policy was learned and evaluated anew "
        f"each time ({asked.settings.folds} folds), with the feature map as it was; the p-value is "
        "the share of gains at least as large as the one found."
    )


def trial_methods(analysis: AnalysisResult, asked: TrialPlan) -> str:
    text = (
        "Average effects of treatment on the utility that follows were estimated by weighted and "
        "centred least squares (Boruvka et al., 2018) at the decisions with a choice, with "
        "standard errors robust within subjects, corrected for few subjects (Mancl & DeRouen, "
        f"2001), and Student's t; intervals are of {percent(asked.coverage)}"
    )
    text += _also("Estimates were adjusted for", asked.controls)
    return text + _also("The effect was allowed to change with", asked.moderators) + "."


def _also(text: str, names: Any) -> str:
    return f". {text} {listing(names, 12)}" if names else ""
