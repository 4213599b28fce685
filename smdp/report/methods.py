"""A methods section from the settings that the results were made with, to be edited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from smdp.analysis.result import AnalysisResult
from smdp.analysis.step_plans import FeatureMapPlan, ScreeningPlan
from smdp.analysis.steps import Step
from smdp.data.column_roles import ColumnRoles, NextValue
from smdp.data.describe import percent, plural
from smdp.errors import listing
from smdp.report.methods_policy import (
    evaluation_methods,
    placebo_methods,
    policy_methods,
    trial_methods,
)
from smdp.settings import FeatureMapSettings, PreparationSettings, RescalingSettings

WANG = "(Wang et al., 2017)"


def methods_text(analysis: AnalysisResult) -> list[str]:
    """A paragraph for each step that was done, in the past tense, with references."""
    write: dict[Step, Callable[[AnalysisResult, Any], str]] = {
        Step.DATA: _data,
        Step.MISSING: _missing,
        Step.RESCALING: _rescaling,
        Step.SCREENING: _screening,
        Step.FEATURES: _features,
        Step.STABILITY: _stability,
        Step.POLICY: policy_methods,
        Step.EVALUATION: evaluation_methods,
        Step.PLACEBO: placebo_methods,
        Step.TRIAL: trial_methods,
    }
    found = [
        write[step](analysis, analysis.records[step].asked)
        for step in Step
        if step in analysis.records
    ]
    return [*filter(None, found), _software(analysis)] if found else []


def _data(analysis: AnalysisResult, asked: Any) -> str:
    roles: ColumnRoles = asked[1]
    study = analysis.study
    who = "" if study is None else f" of {plural(len(study.subjects), 'subject')}"
    text = f"We analysed the decisions{who} as a Markov decision process {WANG}. "
    text += f"The action was '{roles.action}'"
    if study is not None:
        text += f" (with the levels {listing(study.action_labels, 12)})"
    variables = [variable.name for variable in roles.variables]
    text += f"; the state had {plural(len(variables), 'variable')} ({listing(variables, 20)})"
    if roles.lags:
        text += f", with {plural(roles.lags, 'earlier value')} of each and of the action"
    if roles.add_time:
        text += ", and the number of the decision"
    text += f". The utility was {_utility(roles.utility)}. "
    if roles.available is not None:
        text += f"Decisions at which no action could be taken were marked by '{roles.available}'. "
    if roles.probability is None:
        return text + (
            "The probabilities of treatment were not given: where they were needed, they were "
            "estimated by a (multinomial) logit on the state, and effects are to be read as in an "
            "observational study."
        )
    return text + "The probabilities with which the actions were randomised were known."


def _utility(utility: str | NextValue) -> str:
    if isinstance(utility, NextValue):
        sign = "minus the" if utility.sign < 0 else "the"
        return f"{sign} next value of '{utility.variable}'"
    return f"'{utility}'"


def _missing(analysis: AnalysisResult, asked: PreparationSettings) -> str:
    text = (
        f"Subjects with more than {percent(asked.exclude_above)} missing state values (among the "
        "variables that change over time) or with a single row were left out"
    )
    if asked.unobserved == "exclude":
        text += ", and so were those without any value of a variable"
    if asked.also_exclude:
        count = len(asked.also_exclude)
        text += "; one more was" if count == 1 else f"; {count} more were"
        text += " left out by hand"
    completed = analysis.completed
    if completed is not None:
        everyone, kept = len(completed.arranged.subjects), len(completed.imputed.study.subjects)
        text += f" ({everyone - kept} of {everyone} in all)"
    own = asked.imputation
    degree = {0: "constant", 1: "linear", 2: "quadratic"}[own.degree]
    return (
        f"{text}. Other missing state values were replaced by the fitted values of a local "
        f"{degree} regression of each subject's variable on the number of the decision, with "
        f"tricube weights over the nearest {percent(own.span)} of that subject's observations "
        "(Cleveland et al., 1992), kept within the variable's declared or observed range and "
        "rounded where the variable has whole values only."
    )


def _rescaling(analysis: AnalysisResult, asked: RescalingSettings | str) -> str:
    if isinstance(asked, str):
        return "Variables were analysed in their own units."
    rescaled = analysis.prepared.rescaled if analysis.prepared is not None else None
    reference = f"'{asked.reference}'" if asked.reference else "the variable with the most values"
    levels = "the levels"
    if rescaled is not None:
        reference, levels = f"'{rescaled.reference}'", f"the {len(rescaled.levels)} levels"
    return (
        f"All variables were rescaled to {levels} of {reference}, which was divided by its "
        "maximum; the others were rescaled to 0 to 1 by their declared or observed range and "
        f"rounded to the nearest level {WANG}."
    )


def _screening(analysis: AnalysisResult, asked: ScreeningPlan) -> str:
    own, result = asked.settings, analysis.screening
    test = {
        "distance_covariance": "the distance covariance of standardised values "
        "(Székely et al., 2007)",
        "likelihood_ratio": "the likelihood-ratio statistic for discrete values",
    }[own.test]
    permutations = own.permutations if result is None else result.permutations
    count = "permutations" if permutations is None else f"{permutations:,} permutations"
    text = (
        "State variables were screened by Algorithm 1 of Wang et al. (2017). In each "
        "round, every variable not yet selected was tested for dependence on the utility and on "
        "the next values of those selected so far, among subjects with the same action, by "
        f"{test}. "
    )
    if own.pooling == "ruger":
        rank = own.rank if result is None else result.rank
        u = "the default rank" if rank is None else str(rank)
        text += (
            f"The null distribution came from {count} within levels of the action at each "
            "decision, and the p-values of the T decisions were pooled by T p_(u) / u with u = "
            f"{u} (Rüger, 1978). "
        )
    else:
        text += (
            f"The statistic was summed over the decisions, and its null distribution came from "
            f"{count} of whole trajectories among the subjects. "
        )
    text += f"Variables with a pooled p-value of at most {own.level:g} joined"
    if result is not None:
        ended = {
            "none joined": "when no further variable joined",
            "all variables are in": "when all variables had joined",
            "max_rounds reached": "at the largest number of rounds allowed",
        }[result.stopped]
        text += f"; screening ended {ended}, after {plural(len(result.rounds), 'round')}"
    text += "."
    for names, how in ((own.force_in, "included"), (own.force_out, "left out")):
        if names:
            were = "was" if len(names) == 1 else "were"
            text += f" {listing(names, 12)} {were} {how} without a test."
    return text


def _features(analysis: AnalysisResult, asked: FeatureMapPlan) -> str:
    own = asked.settings
    which = "all state variables" if asked.use_all else "the variables that screening had kept"
    simple = {
        "identity": f"The features were {which}, standardised.",
        "pca": f"The features were the first principal components of {which} (standardised, the "
        "mean over subjects taken out at each decision) that together explained 90 % of the "
        "variance.",
        "tnn": f"The features came from a separate sparse network for each action, fitted to "
        f"{which} {WANG}; they were put side by side.",
    }
    if asked.kind in simple:
        return simple[asked.kind]
    depths = " or ".join(map(str, own.depths))
    form = (
        f"phi(s) = {own.activation}(Ws + b)"
        if own.interpretable
        else f"a network with {depths} hidden layers"
    )
    turns = ", one action after the other," if own.updates == "alternating" else " together"
    starts = "" if own.restarts == 1 else f", as the best of {own.restarts} starts"
    text = (
        f"From {which}, a low-dimensional feature map, {form}, was learned by alternating deep "
        f"neural networks {WANG}: the map and a network for each action{turns} predicted the "
        "utility and the next state by least squares, with a penalty on the norm of each "
        "variable's weights in the first layer, so that variables could drop out. "
        f"{_tuned('The penalty', own.penalties, own.folds)} The map was then fitted again to the "
        f"selected variables without that penalty{starts}. "
        f"{_tuned('Its weight decay', own.refit_weight_decays, own.folds)} "
    )
    return text + _dimension(analysis, own)


def _tuned(what: str, values: Sequence[float], folds: int) -> str:
    named = ", ".join(f"{value:g}" for value in values)
    if len(values) == 1:
        return f"{what} was {named}."
    return f"{what} was chosen among {named} by {folds}-fold cross-validation over subjects."


def _dimension(analysis: AnalysisResult, own: FeatureMapSettings) -> str:
    tried = (
        "from 1 to the number of variables"
        if own.dimensions is None
        else ", ".join(map(str, own.dimensions))
    )
    if own.test == "relative":
        how = (
            "a comparison with a map of full dimension: out-of-fold residuals of the smaller map "
            "had to depend more on the state, by distance covariance within actions (Székely et "
            "al., 2007) with a jackknife standard error (Arvesen, 1969), and its squared error had "
            f"to exceed the other's by more than {percent(own.margin)}"
        )
    else:
        condition = "(i)" if own.condition == "i" else "(ii)"
        how = (
            "a permutation test of the independence of out-of-fold residuals and the state within "
            f"actions, condition {condition} of Lemma 3.4 {WANG}"
        )
    text = (
        f"Dimensions ({tried}) were tried upwards until one was not rejected at level "
        f"{own.level:g} by {how}."
    )
    if own.reason.strip():
        text += f" Dimensions were set by hand for this reason: {own.reason.strip()}"
    if own.iterate:
        text += " This was repeated on the variables that were kept until none dropped out."
        if len(own.penalties) > 1:
            text += (
                " Before that was taken as final, larger penalties were tried: of the maps that "
                "were not rejected and, fitted again without penalty, did not predict held-out "
                "subjects clearly worse (one standard error), the one of the fewest variables was "
                "used."
            )
    fitted = analysis.feature_map
    if fitted is not None and not fitted.candidates.empty:
        from smdp.words.feature_map import feature_map_summary

        chosen = fitted.candidates[fitted.candidates["chosen"]].iloc[-1]
        verdict = ", like all that were tried" if chosen["rejected"] else " (not rejected)"
        text += f" Result: {feature_map_summary(fitted)}{verdict}."
    return text


def _stability(analysis: AnalysisResult, asked: Any) -> str:
    return (
        "How stable the map is was assessed by fitting it to "
        f"{plural(asked.bootstraps, 'sample')} of subjects drawn with replacement; their features "
        "were matched with the map's own by the correlation of their values."
    )


def _software(analysis: AnalysisResult) -> str:
    """With which programs, in words; the appendix has all versions."""
    made_by = [record.versions for record in analysis.records.values() if record.versions]
    programs = made_by[-1] if made_by else {}
    named = [f"{name} {programs[name]}" for name in _MAIN_PROGRAMS if name in programs]
    main, rest = (named[0], named[1:]) if named else ("smdp", [])
    with_rest = f" ({', '.join(rest)})" if rest else ""
    return (
        f"Analyses were done with {main}{with_rest}. All settings, seeds and versions are in the "
        "appendix; the same plan on the same data gives the same numbers."
    )


_MAIN_PROGRAMS: Sequence[str] = ("smdp", "python", "numpy", "scipy", "torch", "statsmodels")
