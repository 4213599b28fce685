"""A learned policy, distilled to a rule that fits on a card.

Each decision has a score for each action (`rule_scores`), at first with the full policy followed
afterwards, then with the card itself, until it no longer changes; the tree with the largest sum of
scores is found by looking at all of them. The card asks about what the full policy looks at, and
is found by the model's values: with few people, doubly robust scores of every variable find chance
(bench/student_learners.md). It has as many questions as are allowed: what more of them gain for
people who were not looked at is told, doubly robustly, and decides nothing. (The scores of the
first round let the full policy follow, under which treating everybody now looks good; rules with
fewer questions, chosen by one standard error, then did harm when they were followed throughout.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import repeat

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.evaluation_study import EvaluationStudy, evaluation_study
from smdp.evaluation.rule_scores import DecisionScores
from smdp.evaluation.rule_settings import RuleSettings
from smdp.evaluation.target import AnyPolicy, Target, policy_target
from smdp.policy.as_measured import AsMeasured, as_measured
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.rule_card import Branch, End, Question, RuleCard, Tree
from smdp.policy.rule_questions import Askables, askables
from smdp.policy.rule_search import (
    Found,
    Leaf,
    SearchProblem,
    Split,
    best_tree,
    follow,
    problem_of,
    refuse_if_endless,
    seconds_of,
)
from smdp.progress import Progress, silent

Floats = NDArray[np.float64]

#: Samples of people for the spread of a value, where only the value is looked at.
FEW_SAMPLES = 20


@dataclass(frozen=True, eq=False)
class CardSearch:
    """A card, and what it was found in.

    `depths`: depth, gain (over the same for everybody, a decision, of people not looked at, with
    the full policy afterwards), standard_error. `rounds`: card, value. `problem`: that of the round
    whose card was kept; its rows are the decisions with a choice. `followed`: what came after the
    decision in that round.
    """

    card: RuleCard
    depth: int  # that was allowed; the card may ask less
    depths: pd.DataFrame
    rounds: pd.DataFrame
    problem: SearchProblem
    asked: Askables
    subject: NDArray[np.int64]  # (R,): of the problem's rows
    study: EvaluationStudy
    followed: Target

    def drawn(self, times: NDArray[np.int64], settings: RuleSettings) -> Iterator[SearchProblem]:
        """The search when people count (B, people) times; the model's values are theirs then."""
        gains: Iterator[Floats] = repeat(self.problem.gains, len(times))
        if settings.scores == "model":
            counts = times[:, self.study.rows.cluster].astype(float)
            choice = self.study.rows.available
            scores = DecisionScores(self.study, self.followed)
            gains = (each[choice] for each in scores.by_model_resampled(counts))
        for own, of_people in zip(gains, times, strict=True):
            weight = of_people[self.subject].astype(float)
            least = settings.least_share * float(weight.sum())
            yield replace(self.problem, gains=own, weight=weight, least=least)


def learn_rule_card(
    trajectories: Trajectories,
    policy: AnyPolicy,
    settings: RuleSettings = RuleSettings(),  # noqa: B008 - frozen
    *,
    measured: AsMeasured | None = None,
    evaluation: EvaluationSettings = EvaluationSettings(),  # noqa: B008 - frozen
    seed: int = 0,
    progress: Progress = silent,
) -> CardSearch:
    """The best rule of few questions for these people, about what the policy looks at.

    `measured`: the same decisions in own units; None: questions are about the trajectories' own
    numbers. Folds, discount and the model of the values are those of the evaluation.
    """
    measured = measured or as_measured(trajectories)
    few = replace(evaluation, bootstraps=FEW_SAMPLES)
    study = evaluation_study(trajectories, policy, few, seed)
    choice = study.rows.available
    rows = study.rows.take(choice)
    asked = askables(measured, rows, _asked(trajectories, policy, settings))
    refuse_if_endless(_seconds(asked, len(rows.level), rows.actions, settings, study))
    fold, subject = study.fold[study.rows.unit][choice], study.rows.subject[choice]
    count = int(choice.sum())

    def problem_with(gains: Floats) -> SearchProblem:
        return problem_of(asked.each, gains[choice], np.ones(count), settings.least_share)

    def problem_by(scores: DecisionScores) -> SearchProblem:
        by_model = settings.scores == "model"
        return problem_with(scores.by_model() if by_model else scores.doubly_robust())

    progress(0.0, "Scoring the decisions by the full policy")
    target = policy_target(trajectories, study.rows, study.taken, policy)
    scores = DecisionScores(study, target)
    judged = problem_with(scores.doubly_robust())

    def problem_without(k: int) -> SearchProblem:
        if settings.scores == "model":
            return problem_with(scores.by_model(study.fold != k))
        return judged

    depths = gains_by_depth(problem_without, judged, fold, subject, settings)
    problem = problem_by(scores)
    found: list[tuple[RuleCard, float, SearchProblem, Target]] = []
    for number in range(settings.rounds):
        progress((1 + number) / (1 + settings.rounds), f"Finding the card, round {number + 1}")
        tree = best_tree(problem, settings.depth, lambda share: None)
        card = RuleCard(_told(tree, problem, asked), trajectories.action_labels)
        if any(card == earlier for earlier, *_ in found):
            break
        followed, target = (
            target,
            policy_target(measured.trajectories, study.rows, study.taken, card),
        )
        found.append((card, study.estimate(study.shared(target)).value, problem, followed))
        problem = problem_by(DecisionScores(study, target))
    card, _, problem, followed = max(found, key=lambda each: each[1])
    return CardSearch(
        card=card,
        depth=settings.depth,
        depths=depths,
        rounds=pd.DataFrame(
            [(each.in_words(), value) for each, value, *_ in found], columns=["card", "value"]
        ),
        problem=problem,
        asked=asked,
        subject=subject,
        study=study,
        followed=followed,
    )


def _asked(
    trajectories: Trajectories, policy: AnyPolicy, settings: RuleSettings
) -> tuple[str, ...] | None:
    """What the card may ask for, None: all. A policy that looks at nothing has a card that asks
    nothing."""
    if settings.variables:
        return settings.variables
    if settings.among == "all":
        return None
    if isinstance(policy, LearnedPolicy):
        return policy.feature_map.wholes_used
    used = trajectories.select(policy.variables).about
    return tuple(dict.fromkeys(each.belongs_to for each in used))


def gains_by_depth(
    without: Callable[[int], SearchProblem],
    judged: SearchProblem,
    fold: NDArray[np.int64],
    subject: NDArray[np.int64],
    settings: RuleSettings,
) -> pd.DataFrame:
    """What so many questions in a row gain over none: depth, gain, standard_error.

    (R,): each decision's fold of people, who are judged (by `judged`) by a tree found without them
    (in `without` that fold).
    """
    depths = range(settings.depth + 1)
    people = int(subject.max()) + 1
    earned = np.zeros((len(depths), people))
    place = np.arange(len(subject))
    for k in np.unique(fold).tolist():
        out = fold == k
        others = replace(
            without(k),
            weight=np.where(out, 0.0, judged.weight),
            least=settings.least_share * float(judged.weight[~out].sum()),
        )
        for depth in depths:
            chosen = follow(best_tree(others, depth), judged)
            worth = judged.weight * judged.gains[place, chosen]
            earned[depth] += np.bincount(subject[out], worth[out], people)
    gained = earned - earned[0]
    error = np.sqrt(people * gained.var(axis=1, ddof=1)) if people > 1 else np.full(len(depths), 0)
    total = float(judged.weight.sum())
    return pd.DataFrame(
        {
            "depth": list(depths),
            "gain": gained.sum(axis=1) / total,
            "standard_error": error / total,
        }
    )


@dataclass(frozen=True)
class CameBack:
    """How often parts of a card come back over samples of people."""

    questions: pd.DataFrame
    first: pd.DataFrame
    agreement: float
    samples: int


#: Two cuts are near each other if so few of the decisions lie between them.
NEAR = 0.125


def stability_of(
    search: CardSearch, settings: RuleSettings, seed: int, progress: Progress = silent
) -> CameBack:
    """The search again on samples of people: the same depth, the same followed afterwards.

    `questions`, of each question of the card: question, variable, first (whether it is asked
    first), again (the share of samples whose tree asks for the variable), near (for the variable
    with a cut that divides the decisions at about the same place), in_place (first and near, of the
    first question). `first`: variable ("" for none), share of samples that ask for it first.
    `agreement`: of the samples' trees with the card, over decisions and samples.
    """
    problem, asked = search.problem, search.asked.each
    people = int(search.subject.max()) + 1
    own = search.card.questions
    where = [_place(question, search) for question in own]
    again = np.zeros((len(own), 3))
    first: dict[str, int] = {}
    alike = 0.0
    card = _as_found(search.card.tree, search)
    does = follow(card, problem)
    times = np.zeros((settings.resamples, people), dtype=np.int64)
    for b in range(settings.resamples):
        random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(21, b)))
        times[b] = np.bincount(random.integers(0, people, people), minlength=people)
    for b, drawn in enumerate(search.drawn(times, settings)):
        progress(b / settings.resamples, f"Sample {b + 1} of {settings.resamples}")
        tree = best_tree(drawn, search.depth)
        alike += float((follow(tree, problem) == does).mean())
        pairs = list(_questions(tree))
        name = asked[pairs[0][0]].variable if pairs else ""
        first[name] = first.get(name, 0) + 1
        for place, (variable, question) in enumerate(where):
            same = [q for v, q in pairs if v == variable]
            near = [q for q in same if _near(search, variable, question, q)]
            at_once = bool(pairs) and pairs[0][0] == variable and pairs[0][1] in near
            again[place] += bool(same), bool(near), at_once
    count = max(1, settings.resamples)
    counted = sorted(first.items(), key=lambda each: (-each[1], each[0]))
    return CameBack(
        questions=pd.DataFrame(
            {
                "question": [question.words() for question in own],
                "variable": [question.variable for question in own],
                "first": [place == 0 for place in range(len(own))],
                "again": again[:, 0] / count,
                "near": again[:, 1] / count,
                "in_place": again[:, 2] / count,
            }
        ),
        first=pd.DataFrame(
            {
                "variable": pd.Series([name for name, _ in counted], dtype=object),
                "share": [times / count for _, times in counted],
            }
        ),
        agreement=alike / count if settings.resamples else float("nan"),
        samples=settings.resamples,
    )


def _seconds(
    asked: Askables, decisions: int, actions: int, settings: RuleSettings, study: EvaluationStudy
) -> float:
    """Of everything that is searched for one card."""
    searches = int(study.fold.max()) + 1 + settings.rounds + settings.resamples
    questions = sum(len(each.questions) for each in asked.each)
    once = seconds_of(len(asked.each), questions, decisions, actions, settings.depth)
    return once * searches if settings.depth > 2 else 0.0


def _told(tree: Found, problem: SearchProblem, asked: Askables) -> Tree:
    """The tree with its questions in words."""

    def told(part: Found, there: NDArray[np.bool_]) -> Tree:
        if isinstance(part, Leaf):
            return End(part.action, int(there.sum()))
        holds = problem.holds(part.variable, part.question)
        question = asked.each[part.variable].questions[part.question]
        return Branch(question, told(part.yes, there & holds), told(part.no, there & ~holds))

    return told(tree, np.ones(len(problem.gains), dtype=bool))


def _place(question: Question, search: CardSearch) -> tuple[int, int]:
    for j, each in enumerate(search.asked.each):
        if question in each.questions:
            return j, each.questions.index(question)
    raise ValueError("a question that was not asked")


def _as_found(tree: Tree, search: CardSearch) -> Found:
    if isinstance(tree, End):
        return Leaf(tree.action)
    variable, question = _place(tree.question, search)
    return Split(variable, question, _as_found(tree.yes, search), _as_found(tree.no, search))


def _questions(tree: Found) -> list[tuple[int, int]]:
    if isinstance(tree, Leaf):
        return []
    return [(tree.variable, tree.question), *_questions(tree.yes), *_questions(tree.no)]


def _near(search: CardSearch, variable: int, one: int, other: int) -> bool:
    own = search.asked.each[variable]
    if not own.ordered:
        return one == other
    return bool((own.holds(one) != own.holds(other)).mean() <= NEAR)
