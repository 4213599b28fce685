"""Could this trial have found it? The analysis, repeated on studies drawn from its twin.

In each repetition a study is drawn in which what was learned is planted, and the analysis is done
on it as it was on the study itself: how often are the planted variables kept, what is the learned
policy worth there, where that is known by following it, is the rule card found again, and how often
does the interval of the policy's value say so? In another study the outcome depends on nothing:
what screening keeps there is not there. In a third (only with the value) no action is better than
another: a gain that is found is none. See `smdp.validation.twin` for the twin and its worlds.

How sure is the share of draws in which a planted variable is kept? It is the power of a test at an
effect that one study has estimated. On the scale of z, where the power is Phi(z), that estimate has
a standard error of 1, as the test's own statistic has. So the true rate lies within
Phi(z -+ 1.96), z being that of the share, widened by what the number of draws leaves open
(`rate_in_truth`). That is wide, and more draws make it no narrower than one study can tell.

References: Hoenig & Heisey (2001), "The abuse of power"; Zou & Donner (2008) for limits of a sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError, SmdpError
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.evaluation.rule_learning import learn_rule_card
from smdp.evaluation.rule_settings import RuleSettings
from smdp.evaluation.value import evaluate_policies
from smdp.evaluation.whole_analysis import WholeAnalysis, analysed_anew, analyses_without_each
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.independence.inputs import check_seed
from smdp.independence.shares import NORMAL_975, wilson_interval
from smdp.parallel import each
from smdp.plain_data import fingerprint
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.rule_card import RuleCard
from smdp.progress import Cancelled, Progress, between, silent
from smdp.result import Content, Result
from smdp.screening import screen
from smdp.validation.twin import Twin, World, fit_twin
from smdp.validation.twin_settings import TwinSettings

#: So many people are followed, at least, to know what a policy is worth in a twin.
FOLLOWED = 200


@dataclass(frozen=True, eq=False, repr=False)
class Distilling(Content):
    """How a policy is distilled to a rule card: with these settings, scored as by `evaluation`."""

    settings: RuleSettings = field(default_factory=RuleSettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    seed: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class Repetition(Content):
    """One study that was drawn, and what its analysis found. NaN: not asked for, or not known."""

    number: int
    world: World
    kept: tuple[str, ...]  # by screening
    used: tuple[str, ...] = ()  # by the map
    dimension: int = 0
    gain: float = np.nan  # that the learned policy really has in the twin, a decision
    same: float = np.nan  # share of the study's decisions with the advice of the study's policy
    card: RuleCard | None = None  # the rule that fits on a card
    card_agrees: float = np.nan  # share of the study's decisions with the advice of its own card
    estimate: float = np.nan  # what the value of the policy says of its gain
    lower: float = np.nan
    upper: float = np.nan
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class TwinStudy(Result):
    """What repetitions found. `gain`: of the study's own policy in its twin, NaN without one.
    `card`: the study's own rule card, None where none was asked for.

    `itself`: the variable that is the outcome of the decision before, "" if there is none: where
    people differ in their outcome it tells of the next one, even if nothing else does.
    """

    planted: tuple[str, ...]
    variables: tuple[str, ...]  # all that could be kept
    itself: str
    gain: float
    explained: float  # share of the outcome's variance that the twin's regression foretells
    settings: TwinSettings
    how: WholeAnalysis
    evaluation: EvaluationSettings | None
    seed: int
    data: str  # the fingerprint of what it was made from
    repetitions: tuple[Repetition, ...]
    notes: tuple[str, ...] = ()
    complete: bool = True  # False: stopped before the last repetition
    rule: Distilling | None = None
    card: RuleCard | None = None

    def of(self, world: World) -> tuple[Repetition, ...]:
        return tuple(each for each in self.repetitions if each.world == world)

    @property
    def table(self) -> pd.DataFrame:
        """A row for each variable: how often it was kept where it is planted or not, and used by
        the map; then where nothing matters. Shares have 95 % Wilson intervals; `true_lower` to
        `true_upper` is where the true rate of a planted one may lie.
        """
        planted, nothing = self.of("as learned"), self.of("nothing")
        mapped = planted if self.settings.repeated != "screening" else ()
        rows = []
        for name in (*self.planted, *(v for v in self.variables if v not in self.planted)):
            kept, there = sum(name in r.kept for r in planted), name in self.planted
            known = rate_in_truth(kept, len(planted)) if there and planted else (np.nan, np.nan)
            rows.append(
                {
                    "variable": name,
                    "planted": there,
                    **_share("kept", kept, len(planted)),
                    "true_lower": known[0],
                    "true_upper": known[1],
                    **_share("used", sum(name in r.used for r in mapped), len(mapped)),
                    **_share("nothing", sum(name in r.kept for r in nothing), len(nothing)),
                }
            )
        return pd.DataFrame(rows)

    @property
    def anything(self) -> tuple[int, int]:
        """In how many studies in which nothing matters anything was kept, and of how many."""
        nothing, screening = self.of("nothing"), self.how.screening
        forced = set() if screening is None else set(screening.force_in)
        return sum(bool(set(r.kept) - {self.itself} - forced) for r in nothing), len(nothing)

    @property
    def all_planted(self) -> tuple[int, int]:
        """In how many studies all planted variables were kept, and of how many."""
        planted = self.of("as learned")
        return sum(set(self.planted) <= set(r.kept) for r in planted), len(planted)

    def gains_shown(self, world: World) -> tuple[int, int]:
        """In how many the interval of the gain lies above 0, and how many have an interval."""
        known = [r for r in self.of(world) if np.isfinite(r.lower)]
        return sum(r.lower > 0 for r in known), len(known)

    def cards_again(self, world: World) -> tuple[int, int]:
        """In how many the card asks for the same variable first (or nothing, as the study's own
        does), and how many have a card.
        """
        cards = [r.card for r in self.of(world) if r.card is not None]
        own = () if self.card is None else self.card.asked[:1]
        return sum(each.asked[:1] == own for each in cards), len(cards)

    def cards_without_questions(self, world: World) -> tuple[int, int]:
        """In how many the card asks nothing, and how many have a card."""
        cards = [r.card for r in self.of(world) if r.card is not None]
        return sum(not each.asked for each in cards), len(cards)

    @property
    def each(self) -> pd.DataFrame:
        """A row for each repetition."""
        rows = [
            {
                "repetition": r.number + 1,
                "world": r.world,
                "kept": ", ".join(r.kept),
                "used": ", ".join(r.used),
                "dimension": r.dimension,
                "true_gain": r.gain,
                "same_advice": r.same,
                "card": "" if r.card is None else r.card.in_words(),
                "card_agrees": r.card_agrees,
                "estimate": r.estimate,
                "lower": r.lower,
                "upper": r.upper,
                "notes": " ".join(r.notes),
            }
            for r in self.repetitions
        ]
        return pd.DataFrame(rows)


class TwinCancelled(Cancelled):
    """The work was stopped; `finished` holds the repetitions that are done, None without any."""

    finished: TwinStudy | None

    def __init__(self, finished: TwinStudy | None) -> None:
        super().__init__("The repetitions on the twin were stopped.")
        self.finished = finished


def rate_in_truth(found: int, total: int) -> tuple[float, float]:
    """Where the true rate lies, 95 %, of what was found in so many of the draws."""
    middle = ndtri((found + 0.5) / (total + 1))
    lower, upper = ndtri(np.clip(wilson_interval(found, total), 1e-9, 1 - 1e-9))
    below = float(ndtr(middle - np.hypot(NORMAL_975, middle - lower)))
    above = float(ndtr(middle + np.hypot(NORMAL_975, upper - middle)))
    return (0.0 if found == 0 else below), (1.0 if found == total else above)


def _share(name: str, found: int, total: int) -> dict[str, float]:
    lower, upper = wilson_interval(found, total) if total else (np.nan, np.nan)
    share = found / total if total else np.nan
    return {name: found, f"{name}_of": total, f"{name}_share": share,
            f"{name}_lower": lower, f"{name}_upper": upper}  # fmt: skip


def repeat_on_twin(
    trajectories: Trajectories,
    feature_map: FittedFeatureMap,
    policy: LearnedPolicy | None = None,
    how: WholeAnalysis | None = None,
    settings: TwinSettings = TwinSettings(),  # noqa: B008 - frozen
    *,
    evaluation: EvaluationSettings | None = None,
    rule: Distilling | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    earlier: TwinStudy | None = None,
) -> TwinStudy:
    """How often the analysis finds what is planted in a twin, and what is not there.

    `how`: what is done with each study that is drawn; the first of its policies is judged, with
    `evaluation`; with `rule` it is distilled to a card as well. `earlier`: finished repetitions
    are taken from there, if they were made in the same way from the same data. Stopped by
    `progress`, it raises `TwinCancelled` with those that are finished. The same seed gives the same
    result, in one process or many.
    """
    check_seed(seed)
    how, progress = how or WholeAnalysis(), progress or silent
    if settings.repeated == "value":
        evaluation = evaluation or EvaluationSettings()
    progress(0.0, "Fitting the twin")
    twin = fit_twin(trajectories, feature_map, policy, settings=settings, seed=seed)
    with_policy = settings.repeated != "screening" and policy is not None
    column = None if twin.follows is None else twin.follows[0]
    empty = TwinStudy(
        planted=twin.planted,
        variables=tuple(trajectories.wholes),
        itself="" if column is None else trajectories.about[column].belongs_to,
        gain=gain_in(twin, policy, seed) if with_policy and policy is not None else np.nan,
        explained=twin.explained,
        settings=settings,
        how=how,
        evaluation=evaluation if settings.repeated == "value" else None,
        seed=seed,
        data=fingerprint((trajectories, feature_map, policy)),
        repetitions=(),
        notes=twin.notes,
        complete=False,
        rule=rule if with_policy else None,
    )
    if empty.rule is not None and policy is not None:
        empty = replace(empty, card=_card(trajectories, policy, empty.rule))
    asked = [(r, world) for r in range(settings.repetitions) for world in _worlds(settings)]
    done = {(each.number, each.world): each for each in _kept(earlier, empty)}
    left = [item for item in asked if item not in done]
    before = len(done)

    def own_progress(place: int) -> Progress:
        start, total = before + place, len(asked)
        prefix = f"Study {start + 1} of {total}: "
        return between(progress, start / total, (start + 1) / total, prefix)

    def finished() -> TwinStudy:
        found = tuple(done[item] for item in asked if item in done)
        return replace(empty, repetitions=found, complete=len(found) == len(asked))

    try:
        for found in each(_repeated, left, twin, how, empty, progress=own_progress):
            done[found.number, found.world] = found
    except Cancelled as stop:
        raise TwinCancelled(finished() if done else None) from stop
    progress(1.0, "The repetitions on the twin are done")
    return finished()


def _worlds(settings: TwinSettings) -> tuple[World, ...]:
    if settings.repeated == "value":
        return "as learned", "nothing", "no gain"
    return "as learned", "nothing"


def _kept(earlier: TwinStudy | None, asked: TwinStudy) -> Sequence[Repetition]:
    """Of earlier repetitions, those that would come out again: more may have been asked since."""
    if earlier is None:
        return ()
    same = replace(earlier, repetitions=(), complete=False, settings=asked.settings) == asked
    again = replace(earlier.settings, repetitions=asked.settings.repetitions) == asked.settings
    if not (same and again):
        return ()
    return [r for r in earlier.repetitions if r.number < asked.settings.repetitions]


def _repeated(
    item: tuple[int, World],
    twin: Twin,
    how: WholeAnalysis,
    asked: TwinStudy,
    progress: Progress = silent,
) -> Repetition:
    number, world = item
    key = (2, number, ("as learned", "no gain", "nothing").index(world))
    own_seed = int(np.random.SeedSequence(asked.seed, spawn_key=key).generate_state(1)[0] >> 1)
    drawn = twin.draw(own_seed, world=world)
    deep = asked.settings.repeated
    if world == "nothing" or deep == "screening":
        if how.screening is None:
            return Repetition(number, world, tuple(drawn.wholes), notes=("Nothing is screened.",))
        found = screen(drawn, how.screening, seed=how.seeds[0], progress=progress)
        return Repetition(number, world, found.selected)
    share = 0.15 if deep == "value" else 1.0
    try:
        whole = analysed_anew(drawn, how, progress=between(progress, 0.0, share))
    except DataError as error:
        return Repetition(number, world, (), notes=(f"The analysis failed: {error.problem}",))
    learned = whole.policies[0] if whole.policies else None
    result = Repetition(
        number,
        world,
        whole.selected,
        whole.feature_map.wholes_used,
        whole.feature_map.dimension if whole.feature_map.variables_used else 0,
        gain=np.nan if learned is None else gain_in(twin, learned, asked.seed, world),
        same=np.nan if learned is None else _same_advice(twin, learned),
        notes=whole.notes,
    )
    if asked.rule is not None and asked.card is not None and learned is not None:
        card = _card(drawn, learned, asked.rule)
        result = replace(result, card=card, card_agrees=_agreement(twin.study, card, asked.card))
    if asked.evaluation is None or learned is None:
        return result
    first = replace(how, policies=how.policies[:1], seeds=how.seeds[:3])
    try:
        analyses = analyses_without_each(
            drawn,
            first,
            folds=asked.evaluation.folds,
            seed=asked.seed,
            progress=between(progress, share, 0.95),
        )
        (value,) = evaluate_policies(
            drawn,
            [learned],
            asked.evaluation,
            seed=asked.seed,
            progress=between(progress, 0.95, 1.0),
            analyses=analyses,
        )
    except DataError as error:
        note = f"The value is not known: {error.problem}"
        return replace(result, notes=(*result.notes, note))
    gain = value.gain
    return replace(
        result,
        estimate=float(gain["estimate"]),
        lower=float(gain["lower"]),
        upper=float(gain["upper"]),
    )


def gain_in(twin: Twin, policy: LearnedPolicy, seed: int, world: World = "as learned") -> float:
    """What following the policy adds to the mean outcome of a decision, beside what was done."""
    people = max(FOLLOWED, len(set(twin.study.subjects)))
    own = int(np.random.SeedSequence(seed, spawn_key=(3,)).generate_state(1)[0] >> 1)
    done = twin.draw(own, people=people, world=world)
    led = twin.draw(own, people=people, world=world, follow=twin.follow(policy))
    counted = done.valid
    return float(led.utilities[counted].mean() - done.utilities[counted].mean())


def _card(study: Trajectories, policy: LearnedPolicy, how: Distilling) -> RuleCard | None:
    try:
        found = learn_rule_card(
            study, policy, how.settings, evaluation=how.evaluation, seed=how.seed
        )
    except SmdpError:  # nothing that it could ask for, or a search without an end
        return None
    return found.card


def _agreement(study: Trajectories, card: RuleCard | None, own: RuleCard) -> float:
    """Of two cards, at the study's decisions with a choice."""
    rows = study.rows()
    possible = rows.at(study.possible)
    choice = possible.sum(axis=1) > 1
    if card is None or not choice.any():
        return np.nan
    one, two = (
        each.recommend(rows.at(study.select(each.variables).states)[choice], possible[choice])
        for each in (card, own)
    )
    return float((one == two).mean())


def _same_advice(twin: Twin, policy: LearnedPolicy) -> float:
    """At the study's decisions with a choice; NaN without a policy of the study."""
    if twin.policy is None:
        return np.nan
    study = twin.study
    rows = study.rows()
    states, possible = rows.at(study.states), rows.at(study.possible)
    choice = possible.sum(axis=1) > 1
    if not choice.any():
        return np.nan
    advice = [twin.follow(each)(states[choice], possible[choice]) for each in (policy, twin.policy)]
    return float((advice[0] == advice[1]).mean())
