"""A generative twin of a study: what it would look like again, with what was learned, or without.

The utility and the next state are drawn from regressions on the variables that the study's map
uses, on its features and on the action (`twin_regression`):

    U = m_U(s, a) + e,    S'_j = m_j(s, a) + r_j.

What is left over, (e, r), is not drawn from a law: it is the study's own, found for people whom the
regression had not seen, and a person's series stays together, in its order, with her own level. A
person of a draw gets the beginning, the background, the length, the gaps, the availability and the
probabilities of one person, the e of another and the r of a third; variables that the map does not
use have a fourth. So dependence within a person and between variables is kept, while what looked
like a dependence by chance in this study is not planted: with an own series beside an own series,
every draw would repeat the accidents of the study. Nobody's series is used twice in a draw of as
many people, for equal series would make people alike.

Variables that the map does not use follow their own past, the action and the variables that it
does use, with the person's own level, and say nothing of the utility. Yes/no and nominal ones are
drawn by ranks: v uniform in the part of [0, 1] that belongs to the level that was seen. Values stay
among those that were seen (within their range, if these are many). Where the utility is the next
value of a variable, up to scale and origin, it stays that.

Worlds: "as learned"; "no gain": at every state each action has the mean effect of all, on the
utility and on the variables that the map uses, so that no policy is better than another;
"nothing": the utility depends on neither state nor action, while the state goes on as learned. The
first tells how often something is found that is there, the second how often a gain that is none,
the third how often a variable that is none.

References: Davison & Hinkley (1997), "Bootstrap methods and their application", 6.2 and 8.2;
Dunn & Smyth (1996), "Randomized quantile residuals".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from smdp.data.rows import numbered, require_complete
from smdp.data.trajectories import Trajectories
from smdp.data.variables import Variable
from smdp.errors import DataError, SettingError
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.independence.inputs import check_seed
from smdp.independence.signs import FEWEST_PEOPLE
from smdp.policy.learned_policy import LearnedPolicy
from smdp.result import Content
from smdp.settings import require_whole
from smdp.text import listing, plural
from smdp.validation.twin_regression import Surfaces, fitted_surfaces
from smdp.validation.twin_settings import TwinSettings

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
World = Literal["as learned", "no gain", "nothing"]
WORLDS: tuple[World, ...] = ("as learned", "no gain", "nothing")
#: What decides instead of the trial: states (m, p) and what is possible (m, K) to actions (m,).
Follow = Callable[[Floats, NDArray[np.bool_]], Codes]

#: Columns with more different values are drawn within their range, others among their values.
MOST_VALUES = 40
#: A fitted probability of a level is no nearer to 0 or 1.
LEAST_CHANCE = 0.005
#: An action that was taken at fewer decisions has no spread, and hardly a slope, of its own.
FEW_ROWS = 10
#: The utility is a variable's next value if it differs by no more of its own deviation.
SAME = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class TwinTarget(Content):
    """One thing that is drawn: a variable's columns (of the utility, none)."""

    columns: tuple[int, ...]
    values: Floats  # those that were seen, in order; of a range, its ends
    drawn: Literal["level", "value", "range"]

    @property
    def width(self) -> int:
        return max(1, len(self.columns))

    @property
    def series(self) -> int:
        """Of what is left over."""
        return 1 if self.drawn == "level" else self.width


@dataclass(frozen=True, eq=False, repr=False)
class Leftover(Content):
    """What regressions leave, for each trajectory: own level + spread after the action * shape.

    Of what is drawn by ranks, the ranks, without level and with spread 1.
    """

    level: Floats  # (n, d)
    spread: Floats  # (levels, d)
    shape: tuple[Floats, ...]  # n of (rows, d), in the order of time


@dataclass(frozen=True, eq=False, repr=False)
class Twin(Content):
    """A study to draw others from. `planted`: the variables that say something of the utility."""

    study: Trajectories
    planted: tuple[str, ...]
    feature_map: FittedFeatureMap
    policy: LearnedPolicy | None
    settings: TwinSettings
    seed: int
    inputs: tuple[int, ...]  # columns of the state that the regressions are on
    used: tuple[TwinTarget, ...]
    others: tuple[TwinTarget, ...]
    utility: TwinTarget
    of_utility: Surfaces
    of_used: Surfaces | None
    of_others: Surfaces | None
    own_past: Floats  # (levels, columns of `others`): slopes on the variable itself
    left: tuple[Leftover, Leftover, Leftover]  # of the utility, `used`, `others`
    follows: tuple[int, float, float] | None  # column, a, b where the utility is a + b next value
    replayed: tuple[int, ...]  # columns that are as in the study, such as the decision's number
    chances: Surfaces | None  # of each action, where probabilities are not known
    shares: Floats  # (K,): how often each action was taken
    mean_utility: float
    explained: float  # share of the utility's variance, for people left out
    notes: tuple[str, ...] = ()

    def draw(
        self,
        seed: int,
        *,
        planted: bool = True,
        people: int | None = None,
        world: World | None = None,
        follow: Follow | None = None,
    ) -> Trajectories:
        """A study like this one. `planted`: short for the worlds "as learned" and "no gain".

        `people`: as many as in the study unless said. `follow`: what decides instead of the trial.
        """
        check_seed(seed)
        if world is None:
            world = "as learned" if planted else "no gain"
        if world not in WORLDS:
            names = " or ".join(map(repr, WORLDS))
            raise SettingError(f"The world of a twin must be {names}. Got {world!r} instead.")
        if people is not None:
            require_whole("people", people, 1)
        return _Draw(self, seed, people, world, follow).study()

    def follow(self, policy: LearnedPolicy) -> Follow:
        """A policy that decides in a draw."""
        places = [self.study.variables.index(name) for name in policy.variables]

        def choose(states: Floats, possible: NDArray[np.bool_]) -> Codes:
            return policy.recommend(states[:, places], possible)

        return choose


def fit_twin(
    trajectories: Trajectories,
    feature_map: FittedFeatureMap,
    policy: LearnedPolicy | None = None,
    *,
    settings: TwinSettings = TwinSettings(),  # noqa: B008 - frozen
    seed: int = 0,
) -> Twin:
    """A twin of these trajectories, in which the variables that the map uses are planted.

    `trajectories` have all variables, also those that the map does not know.
    """
    check_seed(seed)
    return _Fit(trajectories, feature_map, settings, seed).twin(policy)


class _Fit:
    """What is worked out on the way to a twin."""

    def __init__(
        self, study: Trajectories, fmap: FittedFeatureMap, settings: TwinSettings, seed: int
    ) -> None:
        self.study, self.map, self.settings, self.seed = study, fmap, settings, seed
        absent = [name for name in fmap.variables_used if name not in study.variables]
        if absent:
            raise DataError(
                f"The feature map uses the variable {listing(absent)}, which these data do not "
                "have.",
                "Fit the feature map to these data, or bring the data that it was fitted to.",
            )
        self.rows = study.rows()
        people = self.rows.subjects if len(self.rows.row) else 0
        if people < FEWEST_PEOPLE:
            raise DataError(
                f"{plural(people, 'person').replace('persons', 'people')} with usable decisions "
                f"cannot stand for others: a twin needs at least {FEWEST_PEOPLE}.",
                "Add people.",
            )
        self.random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
        self.level = self.rows.at(study.strata)
        self.levels = len(study.action_labels) + 1
        self.person = self.rows.subject
        self.here = self.rows.at(study.states)
        self.after = self.rows.after(study.states)
        self.utilities = self.rows.at(study.utilities)
        require_complete(self.here, self.utilities)
        self.known = np.isfinite(self.after).all(axis=1)

    def twin(self, policy: LearnedPolicy | None) -> Twin:
        study = self.study
        planted = tuple(
            dict.fromkeys(study.variable(name).belongs_to for name in self.map.variables_used)
        )
        inputs = tuple(j for name in planted for j in study.wholes[name])
        replayed = self._replayed()
        follows = self._follows(replayed)
        drawn = self._targets(replayed, follows)
        used = tuple(t for t in drawn if study.about[t.columns[0]].belongs_to in planted)
        others = tuple(t for t in drawn if t not in used)
        x = _inputs(self.here, study, inputs, _features(self.map, self.settings))
        still = self._still(inputs, x.shape[1])
        self.x, self.still = x, still
        every = np.ones(len(x), bool)
        utility = _target((), self.utilities[:, None], ordinal=False)
        of_utility, left_utility = self._surfaces(self.utilities[:, None], every)
        of_used, left_used = self._of_targets(used, None)
        slopes = self._own_past(others)
        of_others, left_others = self._of_targets(others, slopes)
        choice = self.level[self.level < self.levels - 1]
        shares = np.bincount(choice, minlength=self.levels - 1) / max(len(choice), 1)
        left = left_utility[:, 0]
        variance = float(self.utilities.var())
        return Twin(
            study=study,
            planted=planted,
            feature_map=self.map,
            policy=policy,
            settings=self.settings,
            seed=self.seed,
            inputs=inputs,
            used=used,
            others=others,
            utility=utility,
            of_utility=of_utility,
            of_used=of_used,
            of_others=of_others,
            own_past=slopes,
            left=(
                self._leftover((utility,), self.utilities[:, None], left_utility, every),
                self._leftover(used, self._next(used), left_used, self.known),
                self._leftover(others, self._next(others), left_others, self.known),
            ),
            follows=follows,
            replayed=replayed,
            chances=self._chances(),
            shares=shares,
            mean_utility=float(self.utilities.mean()),
            explained=1 - float(left.var()) / variance if variance > 0 else 0.0,
            notes=() if planted else ("The map uses no variable: none is planted.",),
        )

    def _still(self, inputs: Sequence[int], width: int) -> NDArray[np.bool_]:
        own = [not self.study.about[j].changes for j in inputs]
        return np.array([*own, *[False] * (width - len(own))], dtype=bool)

    def _replayed(self) -> tuple[int, ...]:
        """Columns that nothing else decides: the decision's number, what is one for all people."""
        states = self.study.states
        seen = np.isfinite(states)
        low = np.where(seen, states, np.inf).min(axis=0)
        high = np.where(seen, states, -np.inf).max(axis=0)
        common = (low >= high).all(axis=0)
        return tuple(
            j
            for j, each in enumerate(self.study.about)
            if each.lag == 0
            and (not each.changes or each.comes_from == "decision number" or bool(common[j]))
        )

    def _follows(self, replayed: Sequence[int]) -> tuple[int, float, float] | None:
        """Where the utility is a + b times the next value of a variable: which, a and b."""
        u, spread = self.utilities[self.known], self.utilities.std()
        for j, each in enumerate(self.study.about):
            s = self.after[self.known, j]
            if each.lag or each.whole or j in replayed or len(s) < 3 or not np.ptp(s) > 0:
                continue
            b = float(np.cov(s, u)[0, 1] / s.var(ddof=1))
            a = float(u.mean() - b * s.mean())
            if spread > 0 and np.abs(u - a - b * s).max() <= SAME * spread:
                return j, a, b
        return None

    def _targets(
        self, replayed: Sequence[int], follows: tuple[int, float, float] | None
    ) -> tuple[TwinTarget, ...]:
        """Everything of the state that is drawn, nominal variables whole."""
        found = []
        for columns in self.study.wholes.values():
            about = self.study.about[columns[0]]
            left_out = {*replayed, *([follows[0]] if follows else [])}
            own = tuple(j for j in columns if j not in left_out)
            if about.lag or not own:
                continue
            together = [own] if about.whole_kind == "nominal" else [(j,) for j in own]
            for each in together:
                seen = self.study.states[:, :, list(each)].reshape(-1, len(each))
                found.append(_target(each, seen, about.kind in ("ordinal", "binary")))
        return tuple(found)

    def _next(self, targets: Sequence[TwinTarget]) -> Floats:
        return self.after[:, [j for each in targets for j in each.columns]]

    def _surfaces(self, values: Floats, rows: NDArray[np.bool_]) -> tuple[Surfaces, Floats]:
        found = fitted_surfaces(
            self.x[rows],
            self.level[rows],
            values[rows],
            self.person[rows],
            self.still,
            self.levels,
            self.random,
        )
        return found.surfaces, found.left

    def _of_targets(
        self, targets: Sequence[TwinTarget], slopes: Floats | None
    ) -> tuple[Surfaces | None, Floats]:
        if not targets:
            return None, np.empty((int(self.known.sum()), 0))
        values = self._next(targets)
        if slopes is not None:
            columns = [j for each in targets for j in each.columns]
            values = values - self.here[:, columns] * slopes[self.level]
        return self._surfaces(values, self.known)

    def _own_past(self, targets: Sequence[TwinTarget]) -> Floats:
        """(levels, columns): within people, y on the value before, for each action a slope.

        The slopes after an action are held to the common one by as much as `FEW_ROWS` rows.
        """
        columns = [j for each in targets for j in each.columns]
        person, level = self.person[self.known], self.level[self.known]
        before = _within(self.here[self.known][:, columns], person)
        after = _within(self.after[self.known][:, columns], person)
        square = before**2
        total = np.maximum(square.sum(axis=0), 1e-300)
        common = np.clip((before * after).sum(axis=0) / total, -1.0, 1.0)
        found = np.tile(common, (self.levels, 1))
        for a in range(self.levels):
            own = level == a
            weight = FEW_ROWS * total / max(len(level), 1)
            above = (before * after)[own].sum(axis=0) + weight * common
            found[a] = above / np.maximum(square[own].sum(axis=0) + weight, 1e-300)
        return np.clip(found, -1.0, 1.0)

    def _leftover(
        self,
        targets: Sequence[TwinTarget],
        values: Floats,
        left: Floats,
        rows: NDArray[np.bool_],
    ) -> Leftover:
        """`left`: of the rows that are marked; `values` and what it is counted by, of all."""
        trajectory, person, level = self.rows.row[rows], self.person[rows], self.level[rows]
        columns, by_rank, at = [], [], 0
        for each in targets:
            own, seen = left[:, at : at + each.width], values[rows][:, at : at + each.width]
            at += each.width
            columns.append(self._ranks(each, seen, own) if each.drawn == "level" else own)
            by_rank += [each.drawn == "level"] * each.series
        series = np.concatenate([np.empty((len(left), 0)), *columns], axis=1)
        ranked = np.array(by_rank, dtype=bool)
        people = self.rows.subjects
        count = np.bincount(person, minlength=people)
        means = np.zeros((people, series.shape[1]))
        np.add.at(means, person, series)
        means /= np.maximum(count, 1)[:, None]
        means[:, ranked] = 0.0
        shape = series - means[person]
        whole = np.sqrt((shape**2).mean(axis=0)) if len(shape) else np.ones(series.shape[1])
        spread = np.tile(whole, (self.levels, 1))
        for a in range(self.levels):
            if (level == a).sum() >= FEW_ROWS:
                spread[a] = np.sqrt((shape[level == a] ** 2).mean(axis=0))
        spread[:, ranked] = 1.0
        shape = shape / np.where(spread > 0, spread, 1.0)[level]
        n = len(self.study.subjects)
        of_trajectory = np.zeros((n, series.shape[1]))
        of_trajectory[trajectory] = means[person]
        order = [shape[trajectory == i] for i in range(n)]
        return Leftover(of_trajectory, spread, tuple(order))

    def _ranks(self, target: TwinTarget, seen: Floats, left: Floats) -> Floats:
        """(R, 1): uniform in the part of [0, 1] of the level that was seen."""
        ends = _ends(target, seen - left)
        place = _place(target, seen)
        below = np.concatenate([np.zeros((len(ends), 1)), ends], axis=1)
        every = np.arange(len(place))
        low, high = below[every, place], ends[every, place]
        return np.asarray(low + self.random.random(len(place)) * (high - low))[:, None]

    def _chances(self) -> Surfaces | None:
        """Of each action by the state, where the study does not know them."""
        own = self.level < self.levels - 1
        given = self.rows.at(self.study.probabilities)
        if not own.any() or np.isfinite(given[own]).all():
            return None
        taken = np.eye(self.levels - 1)[self.level[own]]
        none = np.zeros(int(own.sum()), dtype=np.int64)
        return fitted_surfaces(
            self.x[own], none, taken, self.person[own], self.still, 1, self.random
        ).surfaces


def _features(fmap: FittedFeatureMap, settings: TwinSettings) -> FittedFeatureMap | None:
    """The map where its features say more than its variables do."""
    wanted = settings.features and fmap.kind != "identity" and bool(fmap.variables_used)
    return fmap if wanted else None


def _inputs(
    states: Floats, study: Trajectories, columns: Sequence[int], fmap: FittedFeatureMap | None
) -> Floats:
    """(.., c): the variables that the map uses, and its features."""
    own = states[..., list(columns)]
    if fmap is None:
        return own
    asked = np.full((*states.shape[:-1], len(fmap.variables)), np.nan)
    for k, name in enumerate(fmap.variables):
        if name in study.variables:
            asked[..., k] = states[..., study.variables.index(name)]
    return np.concatenate([own, fmap.transform(asked)], axis=-1)


def _target(columns: tuple[int, ...], seen: Floats, ordinal: bool) -> TwinTarget:
    if len(columns) > 1:
        return TwinTarget(columns, np.array([0.0, 1.0]), "level")
    values = np.unique(seen[np.isfinite(seen)])
    if len(values) == 2:
        return TwinTarget(columns, values, "level")
    if len(values) <= MOST_VALUES or ordinal:
        return TwinTarget(columns, values, "value")
    return TwinTarget(columns, values[[0, -1]], "range")


def _within(values: Floats, person: Codes) -> Floats:
    """Without each person's own mean."""
    people = int(person.max(initial=0)) + 1
    total = np.zeros((people, values.shape[1]))
    np.add.at(total, person, values)
    return np.asarray(
        values - (total / np.maximum(np.bincount(person, minlength=people), 1)[:, None])[person]
    )


def _ends(target: TwinTarget, expected: Floats) -> Floats:
    """(R, levels): where the part of [0, 1] of each level ends, by expected columns (R, d)."""
    low, high = target.values[0], target.values[-1]
    own = np.clip((expected - low) / (high - low), LEAST_CHANCE, 1 - LEAST_CHANCE)
    first = np.maximum(1 - own.sum(axis=1, keepdims=True), LEAST_CHANCE)
    every = np.concatenate([first, own], axis=1)
    ends = np.cumsum(every, axis=1)
    return np.asarray(ends / ends[:, -1:])


def _place(target: TwinTarget, seen: Floats) -> Codes:
    """(R,): the level of what was seen."""
    middle = target.values.mean()
    return np.where((seen > middle).any(axis=1), 1 + (seen > middle).argmax(axis=1), 0)


class _Draw:
    """One draw, decision by decision, everybody at once."""

    def __init__(
        self, twin: Twin, seed: int, people: int | None, world: World, follow: Follow | None
    ) -> None:
        self.twin, self.world, self.follow = twin, world, follow
        slots, donors, acting = (
            np.random.default_rng(child)
            for child in np.random.SeedSequence(seed, spawn_key=(1,)).spawn(3)
        )
        study = twin.study
        subject = numbered(np.array(study.subjects))
        every = [np.flatnonzero(subject == k) for k in range(int(subject.max()) + 1)]
        chosen = _some(len(every), people, slots)
        rows = np.concatenate([every[k] for k in chosen])
        # The study's own order, where these are its own people.
        self.order = np.argsort(rows) if people is None else np.arange(len(rows))
        self.design = study.take(rows[self.order])
        names = _names(study, [every[k] for k in chosen])
        self.names = tuple(names[k] for k in self.order)
        self.left = [self._series(each, every, chosen, donors) for each in twin.left]
        m, times = self.design.actions.shape
        self.uniform = acting.random((m, times))
        seen = np.isfinite(self.design.states).any(axis=2)
        self.start = seen.argmax(axis=1)
        self.last = times - np.flip(seen, axis=1).argmax(axis=1)
        self.usual = _column_means(study.states)

    def _series(
        self,
        left: Leftover,
        every: Sequence[Codes],
        chosen: Codes,
        random: np.random.Generator,
    ) -> tuple[Floats, Floats]:
        """(m, d) and (m, T, d): own levels and shapes, lent by others."""
        able = [k for k, own in enumerate(every) if any(len(left.shape[i]) for i in own)]
        lent = np.array(able)[_some(len(able), len(chosen), random)]
        times = self.twin.study.actions.shape[1]
        levels, shapes = [], []
        for slot, donor in zip(chosen, lent, strict=True):
            given = [i for i in every[donor] if len(left.shape[i])]
            for k in range(len(every[slot])):
                source = given[k % len(given)]
                levels.append(left.level[source])
                shape = left.shape[source]
                shapes.append(shape[np.arange(times) % len(shape)])
        return np.array(levels)[self.order], np.array(shapes)[self.order]

    def study(self) -> Trajectories:
        twin, design = self.twin, self.design
        m, times = design.actions.shape
        states = np.full(design.states.shape, np.nan)
        utilities = np.full((m, times), np.nan)
        actions = np.full((m, times), -1, dtype=np.int64)
        now = design.states[np.arange(m), self.start]
        now = np.where(np.isfinite(now), now, self.usual)
        states[np.arange(m), self.start] = now
        for t in range(times):
            going = np.flatnonzero((self.start <= t) & (t <= self.last))
            if not len(going):
                continue
            here = states[going, t]
            x = _inputs(here, twin.study, twin.inputs, _features(twin.feature_map, twin.settings))
            taken = self._taken(going, t, here, x)
            level = np.where(taken >= 0, taken, len(twin.shares))
            since = t - self.start[going]
            utility = self._utility(going, since, x, level)
            following = self._following(going, since, t, here, x, level)
            if twin.follows is not None:
                utility = self._carry(following, utility)
            utilities[going, t], actions[going, t] = utility, taken
            states[going, t + 1] = following
        known = np.isfinite(design.utilities)
        noted = (design.actions >= 0) | (design.valid & design.available)
        return replace(
            design,
            states=np.where(np.isfinite(design.states), states, np.nan),
            utilities=np.where(known, utilities, np.nan),
            actions=np.where(noted, actions, -1),
            subjects=self.names,
        )

    def _taken(self, going: Codes, t: int, here: Floats, x: Floats) -> Codes:
        """(g,): the action, -1 where none can be taken."""
        twin, design = self.twin, self.design
        given = design.probabilities[going, t]
        if not np.isfinite(given).all():
            if twin.chances is None:
                own = np.tile(twin.shares, (len(going), 1))
            else:
                own = np.clip(twin.chances.by_action(x)[:, 0], LEAST_CHANCE, 1.0)
            given = np.where(np.isfinite(given), given, own)
        possible = design.possible[going, t]
        chance = np.where(possible, given, 0.0)
        total = chance.sum(axis=1, keepdims=True)
        chance = np.where(total > 0, chance / np.where(total > 0, total, 1.0), 0.0)
        ends = np.cumsum(chance, axis=1)
        by_chance = np.minimum(
            (self.uniform[going, t][:, None] >= ends).sum(axis=1), chance.shape[1] - 1
        )
        able = total[:, 0] > 0
        if self.follow is not None:
            chosen = np.asarray(self.follow(here, possible))
            by_chance = np.where(chosen >= 0, chosen, by_chance)
        return np.where(able, by_chance, -1)

    def _expected(self, surfaces: Surfaces, x: Floats, level: Codes, *, even: bool) -> Floats:
        """(g, d): after the action that was taken, or `even`, after the mean of all."""
        every = surfaces.by_action(x)
        own = every[np.arange(len(level)), level]
        if not even:
            return np.asarray(own)
        shares = self.twin.shares
        mean = np.einsum("gad,a->gd", every[:, : len(shares)], shares)
        return np.where((level < len(shares))[:, None], mean, own)

    def _leftover(
        self, place: int, going: Codes, since: Codes, level: Codes, *, even: bool
    ) -> Floats:
        """(g, d)"""
        own, shape = self.left[place]
        spread = self.twin.left[place].spread
        sizes = spread[level]
        if even:
            actions = self.twin.shares @ spread[:-1] ** 2
            sizes = np.where((level < len(spread) - 1)[:, None], np.sqrt(actions), sizes)
        return np.asarray(own[going] + sizes * shape[going, since])

    def _utility(self, going: Codes, since: Codes, x: Floats, level: Codes) -> Floats:
        even = self.world != "as learned"
        left = self._leftover(0, going, since, level, even=even)
        if self.world == "nothing":
            expected = np.full((len(going), 1), self.twin.mean_utility)
        else:
            expected = self._expected(self.twin.of_utility, x, level, even=even)
        return _drawn(self.twin.utility, expected, left)[:, 0]

    def _following(
        self, going: Codes, since: Codes, t: int, here: Floats, x: Floats, level: Codes
    ) -> Floats:
        """(g, p): the next states, but for what the utility decides."""
        twin = self.twin
        found = here.copy()
        given = self.design.states[going, t + 1][:, list(twin.replayed)]
        found[:, list(twin.replayed)] = np.where(
            np.isfinite(given), given, here[:, list(twin.replayed)]
        )
        if twin.of_used is not None:
            even = self.world == "no gain"
            expected = self._expected(twin.of_used, x, level, even=even)
            left = self._leftover(1, going, since, level, even=even)
            _put(found, twin.used, expected, left)
        if twin.of_others is not None:
            expected = self._expected(twin.of_others, x, level, even=False)
            columns = [j for each in twin.others for j in each.columns]
            expected = expected + here[:, columns] * twin.own_past[level]
            left = self._leftover(2, going, since, level, even=False)
            _put(found, twin.others, expected, left)
        self._look_back(found, here, level)
        return found

    def _look_back(self, found: Floats, here: Floats, level: Codes) -> None:
        """Earlier values and actions: what was there one decision ago, one further back."""
        about, labels = self.twin.study.about, self.twin.study.action_labels
        places = {_origin(each): j for j, each in enumerate(about)}
        for j, each in enumerate(about):
            if not each.lag:
                continue
            if each.comes_from == "action" and each.lag == 1:
                found[:, j] = level == labels.index(each.action)
                continue
            before = places.get((*_origin(each)[:-1], each.lag - 1))
            if before is not None:
                found[:, j] = here[:, before]

    def _carry(self, following: Floats, utility: Floats) -> Floats:
        """The variable whose next value the utility is; the utility that it can then have."""
        assert self.twin.follows is not None
        column, a, b = self.twin.follows
        seen = self.twin.study.states[:, :, [column]].reshape(-1, 1)
        target = _target((column,), seen, ordinal=False)
        values = _near(target, ((utility - a) / b)[:, None])[:, 0]
        following[:, column] = values
        return np.asarray(a + b * values)


def _drawn(target: TwinTarget, expected: Floats, left: Floats) -> Floats:
    """(g, columns)"""
    if target.drawn != "level":
        found = expected + left
        return found if not target.columns and target.drawn == "range" else _near(target, found)
    place = (left > _ends(target, expected)).sum(axis=1)
    if target.width == 1:
        return target.values[np.minimum(place, 1)][:, None]
    return np.asarray(np.eye(1 + target.width)[np.minimum(place, target.width)][:, 1:])


def _near(target: TwinTarget, values: Floats) -> Floats:
    """The nearest values that were seen, or within their range."""
    if target.drawn == "range" or len(target.values) < 2:
        return np.clip(values, target.values[0], target.values[-1])
    middles = (target.values[1:] + target.values[:-1]) / 2
    return np.asarray(target.values[np.searchsorted(middles, values)])


def _put(found: Floats, targets: Sequence[TwinTarget], expected: Floats, left: Floats) -> None:
    at, of_series = 0, 0
    for each in targets:
        own = expected[:, at : at + each.width]
        series = left[:, of_series : of_series + each.series]
        found[:, list(each.columns)] = _drawn(each, own, series)
        at, of_series = at + each.width, of_series + each.series


def _origin(variable: Variable) -> tuple[str, str, str, str, int]:
    return variable.comes_from, variable.column, variable.part, variable.action, variable.lag


def _column_means(states: Floats) -> Floats:
    seen = np.isfinite(states)
    count = np.maximum(seen.sum(axis=(0, 1)), 1)
    return np.asarray(np.where(seen, states, 0.0).sum(axis=(0, 1)) / count)


def _some(people: int, wanted: int | None, random: np.random.Generator) -> Codes:
    """So many of them, in chance order; nobody twice before everybody was there."""
    if wanted is None:
        return np.arange(people)
    rounds = -(-wanted // people)
    return np.concatenate([random.permutation(people) for _ in range(rounds)])[:wanted]


def _names(study: Trajectories, chosen: Sequence[Codes]) -> tuple[str, ...]:
    """Of each trajectory; people who are there again have a number behind their name."""
    times: dict[str, int] = {}
    found = []
    for rows in chosen:
        name = study.subjects[rows[0]]
        times[name] = times.get(name, 0) + 1
        again = f"{name} ({times[name]})" if times[name] > 1 else name
        found += [again] * len(rows)
    return tuple(found)
