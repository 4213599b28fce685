"""What a rule card is worth, what it costs against the full policy, and whether it is the same card
again: in each fold of people it is found anew without them, and they judge it.

Rules that somebody wrote herself are judged beside it; nothing is learned for these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.prepare import PreparedData
from smdp.data.trajectories import Trajectories
from smdp.evaluation.cross_fit import MapsWithoutFolds
from smdp.evaluation.estimators import Basis
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.evaluation_study import (
    EvaluationStudy,
    basis_with,
    discount_of,
    evaluation_study,
    study_in_folds,
)
from smdp.evaluation.judged_decisions import JudgedDecisions, judged_decisions
from smdp.evaluation.rule_learning import learn_rule_card, stability_of
from smdp.evaluation.rule_settings import RuleSettings
from smdp.evaluation.target import AnyPolicy, Target, policy_target
from smdp.evaluation.value import without_learning
from smdp.evaluation.value_tables import doubly_robust_rows, pairwise_differences
from smdp.evaluation.whole_analysis import FoldAnalyses
from smdp.independence.inputs import check_seed
from smdp.parallel import each
from smdp.policy.as_measured import AsMeasured, as_measured
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.own_rule import OwnRule, read_own_rule
from smdp.policy.rule_card import RuleCard
from smdp.progress import Progress, between, silent
from smdp.result import Result

Floats = NDArray[np.float64]
At = Callable[[Floats], Floats]  # of a grid, the values at decisions

CARD, LEARNED, OWN_RULE = "card", "learned", "my rule"


@dataclass(frozen=True, eq=False, repr=False)
class RuleReport(Result):
    """The card of everybody, and what is known of it.

    `values`: policy ("card", "learned", the own rules by their names, "observed", "always ..") as
    in `PolicyValue.table`; `differences`: of each pair. `agreement`: the share of the decisions
    with a choice at which card and full policy say the same. `own`: name, rule, fulfilled (the
    share of decisions at which some condition holds), agreement (with the card). `folds`: fold,
    people, card: those that were judged. `depths`: what more questions gain for people not looked
    at. `questions`, `first`, `resample_agreement`: see `stability_of`. `left_out`: variables of
    which no card can ask. `judged`: what the values were made of, the card first; None: of a report
    that was saved without it.
    """

    card: RuleCard
    own_rules: tuple[OwnRule, ...]
    values: pd.DataFrame
    differences: pd.DataFrame
    agreement: float
    own: pd.DataFrame
    folds: pd.DataFrame
    depths: pd.DataFrame
    questions: pd.DataFrame
    first: pd.DataFrame
    resample_agreement: float
    resamples: int
    left_out: tuple[str, ...]
    notes: tuple[str, ...]
    policy_kind: str
    whole_analysis: bool  # screening and map were made anew in each fold too
    discount: float
    coverage: float
    subjects: int
    decisions: int  # with a choice
    seed: int
    judged: JudgedDecisions | None = None

    def value(self, policy: str) -> pd.Series:
        return self.values.set_index("policy").loc[policy]

    def difference(self, policy: str, against: str) -> pd.Series:
        """Of the one against the other, whichever comes first in the table."""
        table = self.differences
        found = table[(table["policy"] == policy) & (table["against"] == against)]
        if len(found):
            return found.iloc[0]
        turned = table[(table["policy"] == against) & (table["against"] == policy)].iloc[0].copy()
        turned["policy"], turned["against"] = policy, against
        turned["estimate"] = -turned["estimate"]
        turned["lower"], turned["upper"] = -turned["upper"], -turned["lower"]
        return turned

    @property
    def cost(self) -> pd.Series:
        """What the full policy earns more than the card."""
        return self.difference(LEARNED, CARD)


def make_rule_card(
    data: PreparedData | Trajectories,
    policy: LearnedPolicy,
    settings: RuleSettings = RuleSettings(),  # noqa: B008 - frozen
    *,
    own: Sequence[str] = (),
    measured: AsMeasured | None = None,
    evaluation: EvaluationSettings = EvaluationSettings(),  # noqa: B008 - frozen
    analyses: FoldAnalyses | None = None,
    number: int = 0,
    seed: int = 0,
    progress: Progress | None = None,
) -> RuleReport:
    """A learned policy as a rule that fits on a card; and `own` rules, as text, judged beside it.

    `data`: the study that the policy was learned from; with prepared data the card is about the
    values as they were measured, before any rescaling (or else `measured` has them). `analyses`:
    whole analyses without each fold, of which the policy is that with this `number`; None: the
    policy is learned anew in each fold, with its variables and dimension as they are.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    check_seed(seed)
    progress = progress or silent
    trajectories = data.trajectories if isinstance(data, PreparedData) else data
    measured = measured or as_measured(data)
    rules = tuple(read_own_rule(text, measured) for text in own)
    with threadpool_limits(1, user_api="blas"):
        everybody = learn_rule_card(
            trajectories,
            policy,
            settings,
            measured=measured,
            evaluation=evaluation,
            seed=seed,
            progress=between(progress, 0.0, 0.15),
        )
        study, policies = _folds(
            trajectories, policy, evaluation, analyses, number, seed, between(progress, 0.15, 0.4)
        )
        cards = _cards(
            study, policies, settings, measured, evaluation, seed, between(progress, 0.4, 0.7)
        )
        study = _with_what_is_asked(study, policies, cards, rules, measured, evaluation)
        named = dict(zip(own_names(rules), rules, strict=True))
        values, differences, judged = _judged(
            study, policies, cards, named, measured, evaluation, between(progress, 0.7, 0.85)
        )
        came_back = stability_of(everybody, settings, seed, between(progress, 0.85, 1.0))
    progress(1.0, "The card is judged")
    rows = study.rows.take(study.rows.available)
    says = _at(rows.at, measured.trajectories, everybody.card, rows.allowed)
    full = _at(rows.at, trajectories, policy, rows.allowed)
    return RuleReport(
        card=everybody.card,
        own_rules=rules,
        values=values,
        differences=differences,
        agreement=float((says == full).mean()),
        own=_own_table(named, measured, rows.at, rows.allowed, says),
        folds=pd.DataFrame(
            {
                "fold": range(1, study.folds + 1),
                "people": np.bincount(
                    study.fold[np.unique(study.rows.cluster, return_index=True)[1]],
                    minlength=study.folds,
                ),
                "card": [card.in_words() for card in cards],
            }
        ),
        depths=everybody.depths,
        questions=came_back.questions,
        first=came_back.first,
        resample_agreement=came_back.agreement,
        resamples=came_back.samples,
        left_out=everybody.asked.left_out,
        notes=study.notes,
        policy_kind=policy.kind,
        whole_analysis=analyses is not None,
        discount=study.discount,
        coverage=evaluation.coverage,
        subjects=study.rows.subjects,
        decisions=len(rows.level),
        seed=seed,
        judged=judged,
    )


def own_names(rules: Sequence[OwnRule]) -> list[str]:
    """What rules of one's own are called in tables."""
    return [OWN_RULE if len(rules) == 1 else f"{OWN_RULE} {k + 1}" for k in range(len(rules))]


def _folds(
    trajectories: Trajectories,
    policy: LearnedPolicy,
    evaluation: EvaluationSettings,
    analyses: FoldAnalyses | None,
    number: int,
    seed: int,
    progress: Progress,
) -> tuple[EvaluationStudy, list[LearnedPolicy]]:
    """The study with its folds, and the full policy as it was learned without each."""
    if analyses is not None:
        discount = discount_of(policy, evaluation)
        study = study_in_folds(trajectories, analyses, evaluation, discount=discount)
        return study, analyses.policies(number)
    study = evaluation_study(trajectories, policy, evaluation, seed)
    refitted = MapsWithoutFolds() if evaluation.refit_map else None
    return study, study.learned(policy, refitted=refitted, progress=progress)


def _cards(
    study: EvaluationStudy,
    policies: Sequence[LearnedPolicy],
    settings: RuleSettings,
    measured: AsMeasured,
    evaluation: EvaluationSettings,
    seed: int,
    progress: Progress,
) -> list[RuleCard]:
    """The card that would have been found without each fold."""
    fold = np.full(study.rows.shape[0], -1, dtype=np.int64)
    fold[study.rows.row] = study.fold[study.rows.unit]

    def finding(k: int) -> Progress:
        text = f"Finding the card without fold {k + 1}"
        return lambda done, what: progress((k + done) / study.folds, text)

    pieces = (
        (study.trajectories.take(fold != k), policies[k], measured.take(fold != k))
        for k in range(study.folds)
    )
    how = replace(evaluation, discount=study.discount)
    return list(each(_card, pieces, settings, how, seed, progress=finding))


def _card(
    piece: tuple[Trajectories, LearnedPolicy, AsMeasured],
    settings: RuleSettings,
    evaluation: EvaluationSettings,
    seed: int,
    progress: Progress = silent,
) -> RuleCard:
    trajectories, policy, measured = piece
    found = learn_rule_card(
        trajectories,
        policy,
        settings,
        measured=measured,
        evaluation=evaluation,
        seed=seed,
        progress=progress,
    )
    return found.card


def _with_what_is_asked(
    study: EvaluationStudy,
    policies: Sequence[LearnedPolicy],
    cards: Sequence[RuleCard],
    rules: Sequence[OwnRule],
    measured: AsMeasured,
    evaluation: EvaluationSettings,
) -> EvaluationStudy:
    """With the variables that rules ask for in the models of values and weights, fold by fold.

    A rule's consequences cannot be modelled without what it looks at.
    """
    of_rules = [name for rule in rules for name in rule.variables]
    if not of_rules and not any(card.variables for card in cards):
        return study

    def basis(k: int) -> Basis:
        asked = tuple(dict.fromkeys((*cards[k].variables, *of_rules)))
        more = measured.trajectories.select(asked)
        return basis_with(study, k, policies[k].feature_map, more, evaluation.segments)

    return replace(study, basis=basis)


def _judged(
    study: EvaluationStudy,
    policies: Sequence[LearnedPolicy],
    cards: Sequence[RuleCard],
    rules: Mapping[str, OwnRule],
    measured: AsMeasured,
    evaluation: EvaluationSettings,
    progress: Progress,
) -> tuple[pd.DataFrame, pd.DataFrame, JudgedDecisions]:
    def asking(policy: AnyPolicy) -> Target:
        return policy_target(measured.trajectories, study.rows, study.taken, policy)

    targets = {CARD: [asking(card) for card in cards], LEARNED: study.given(policies)}
    targets |= {name: study.shared(asking(rule)) for name, rule in rules.items()}
    targets |= without_learning(study)
    estimates = {}
    for done, (name, own) in enumerate(targets.items()):
        progress(done / len(targets), f"Estimating the value: {name}")
        estimates[name] = study.estimate(own)
    return (
        pd.DataFrame(doubly_robust_rows(study, estimates, evaluation)),
        pairwise_differences(study, estimates, evaluation),
        judged_decisions(study.rows, estimates),
    )


def _at(
    at: At, trajectories: Trajectories, policy: AnyPolicy, allowed: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """(R,): what a policy says at decisions with a choice."""
    return policy.recommend(at(trajectories.select(policy.variables).states), allowed)


def _own_table(
    rules: Mapping[str, OwnRule],
    measured: AsMeasured,
    at: At,
    allowed: NDArray[np.bool_],
    card: NDArray[np.int64],
) -> pd.DataFrame:
    found = []
    for name, rule in rules.items():
        states = at(measured.trajectories.select(rule.variables).states)
        decided = rule.decided(states)
        says = rule.recommend(states, allowed)
        fulfilled = float((decided < len(rule.conditions)).mean())
        found.append((name, rule.text, fulfilled, float((says == card).mean())))
    return pd.DataFrame(found, columns=["name", "rule", "fulfilled", "agreement"])
