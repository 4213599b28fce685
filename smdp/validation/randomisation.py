"""Was treatment randomised as planned?

With p_a the stated probability of action a at a decision, 1{A = a} - p_a has mean zero given all
that came before: nothing may foretell it. So

    r   = (1{A = a} - p_a) / sqrt(mean of p_a (1 - p_a)),  for each action but the first,
    psi = functions of what was known before,         g_i = sum over person i's choices of psi r,

in five groups: a constant (does the share treated agree with the stated probabilities?), the state
(each variable, its square, and whether it was reported), earlier outcomes (the last one, and the
mean of all), earlier treatment (the last r, and the fading sum of all, kept within -1 and 1), and
time (smooth functions of the decision number). `signs` gives the p-values, adjusted for the five
together. As the mean of each score is zero by design, nothing needs to be estimated.

Where no probabilities are stated, a (multinomial) logit on the state stands in for them: psi is
then without its regression on what the logit is made of, and neither the share treated nor straight
lines of the state can be tested.

A hidden reason to treat that lasts (a coordinator who sends more messages to some, a device that is
off for days) makes treatment follow earlier treatment; one that also moves outcomes makes it follow
earlier outcomes. A hidden reason that comes and goes at once leaves no trace, and no test of these
data can see it.

Reference: Boruvka, Almirall, Witkiewitz & Murphy (2018) for treatment centred by its probability;
Chwialkowski, Sejdinovic & Gretton (2014) for the signs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.independence.signs import (
    FEWEST_PEOPLE,
    NOTHING,
    PersonScores,
    deviates,
    family_test,
    signs,
)
from smdp.markov.stationarity import time_functions
from smdp.propensity import estimated_probabilities
from smdp.result import Content
from smdp.validation.decisions_seen import (
    DecisionsSeen,
    fading_sum,
    mean_before,
    shifted,
    standardised_state,
    standardised_utility,
)

Floats = NDArray[np.float64]

SHARE, STATE, OUTCOMES, TREATMENT, TIME = (
    "the share treated",
    "the state",
    "earlier outcomes",
    "earlier treatment",
    "time",
)
#: How slowly earlier treatment fades from its sum. Without bounds on that sum, or with the mean so
#: far, scores are so skewed that .07 to .12 of tests at .05 reject (12 to 37 people, 30 to 90
#: decisions); with them, .05 to .06.
KEEP = 0.8
#: A probability this near to 0 or 1 leaves nothing to chance.
CERTAIN = 1e-9
FEWEST_CHOICES = 30
LARGEST_SHARE = 0.95


@dataclass(frozen=True, eq=False, repr=False)
class RandomisationCheck(Content):
    """`tests`: group, statistic, p_value, adjusted. `shares`: action, taken, stated, difference,
    error (robust within people). `estimated`: whether no probabilities were stated.
    """

    tests: pd.DataFrame
    shares: pd.DataFrame
    people: int
    choices: int
    all_choices: int  # those without a stated probability too
    estimated: bool
    why_not: str = ""  # why nothing could be tested

    @property
    def p_value(self) -> float:
        """Adjusted for the groups; NaN where nothing could be tested."""
        return float(self.tests["adjusted"].min()) if len(self.tests) else float("nan")


def check_randomisation(
    seen: DecisionsSeen, *, draws: int = 2047, seed: int = 0
) -> RandomisationCheck:
    """Whether anything that was known before foretells who was treated, beyond its probability."""
    choice, given, estimated = _probabilities(seen)
    why_not = _why_not(seen, choice, given)
    if why_not:
        return _nothing(seen, int(choice.sum()), estimated, why_not)
    taken = seen.actions[:, :, None] == np.arange(len(seen.labels))
    left = np.where(choice[:, :, None], taken - np.nan_to_num(given), 0.0)
    random = np.random.default_rng(seed)
    flips = signs(len(np.unique(seen.person[choice.any(axis=1)])), draws, random)
    rows = np.nonzero(choice)
    person = np.unique(seen.person[rows[0]], return_inverse=True)[1]
    contrasts, spread = left[rows][:, 1:], given[rows][:, 1:]
    scale = np.sqrt(np.maximum((spread * (1 - spread)).mean(axis=0), 1e-12))
    groups = _groups(seen, choice, left[:, :, 1:] / scale)
    r = contrasts / scale
    found, names = [], []
    design = _of_logit(seen, rows) if estimated else None
    for name, psi in groups.items():
        if design is not None and name == SHARE:
            continue
        own = psi[rows]
        if name != SHARE:
            own = own - own.mean(axis=0)
        size = own.std(axis=0)
        own = own[:, size > 1e-9] / size[size > 1e-9] if name != SHARE else own
        scores = _scores(own, r, person) if design is None else _left(own, r, person, design, given)
        tested = deviates(scores, flips)
        if tested[0] > NOTHING:
            found.append(tested)
            names.append(name)
    if not found:
        return _nothing(seen, int(choice.sum()), estimated, "Nothing known before varies.")
    family = family_test(found)
    return RandomisationCheck(
        tests=pd.DataFrame(
            {
                "group": names,
                "statistic": family.statistic,
                "p_value": family.p_value,
                "adjusted": family.adjusted,
            }
        ),
        shares=_shares(seen, taken[rows], given[rows], person),
        people=int(person.max()) + 1,
        choices=len(person),
        all_choices=int(seen.chosen.sum()),
        estimated=estimated,
    )


def _probabilities(seen: DecisionsSeen) -> tuple[NDArray[np.bool_], Floats, bool]:
    """Which choices can be looked at, their probabilities, and whether these were estimated."""
    given = seen.probabilities
    known = seen.chosen & np.isfinite(given).all(axis=2)
    if known.any():
        return known, given, False
    chosen = seen.chosen
    given = np.full(given.shape, np.nan)
    levels = len(np.unique(seen.actions[chosen]))
    if levels == len(seen.labels) and levels > 1:
        state, reported = standardised_state(seen)
        design = np.concatenate([state, reported], axis=2)[chosen]
        given[chosen], _ = estimated_probabilities(design, seen.actions[chosen], len(seen.labels))
    return chosen, given, True


def _why_not(seen: DecisionsSeen, choice: NDArray[np.bool_], given: Floats) -> str:
    people = len(np.unique(seen.person[choice.any(axis=1)]))
    if people < FEWEST_PEOPLE:
        return f"Only {people} people had a choice of treatment; {FEWEST_PEOPLE} are needed."
    if choice.sum() < FEWEST_CHOICES:
        return f"Only {int(choice.sum())} decisions had a choice; {FEWEST_CHOICES} are needed."
    own = given[choice]
    if not np.isfinite(own).all():
        return "An action was never given, so that no probability of it can be estimated."
    if not ((own > CERTAIN) & (own < 1 - CERTAIN)).any():
        return "By the stated probabilities nothing was left to chance."
    return ""


def _nothing(seen: DecisionsSeen, choices: int, estimated: bool, why: str) -> RandomisationCheck:
    tests = pd.DataFrame(columns=["group", "statistic", "p_value", "adjusted"])
    shares = pd.DataFrame(columns=["action", "taken", "stated", "difference", "error"])
    every = int(seen.chosen.sum())
    return RandomisationCheck(tests, shares, seen.people, choices, every, estimated, why)


def _groups(seen: DecisionsSeen, choice: NDArray[np.bool_], r: Floats) -> dict[str, Floats]:
    """(n, T, d) for each group: what was known before each decision."""
    state, reported = standardised_state(seen)
    utility, known = standardised_utility(seen)
    time = np.broadcast_to(np.arange(choice.shape[1]), choice.shape)
    length = int(np.flatnonzero(seen.there.any(axis=0))[-1]) + 1
    smooth = time_functions(time.ravel(), length).reshape(*choice.shape, -1)
    faded = [fading_sum(r[:, :, k], KEEP) for k in range(r.shape[2])]
    earlier = [shifted(r, 1), np.clip(np.stack(faded, axis=2), -1, 1)]
    before = [shifted(utility, 1), shifted(known, 1), mean_before(utility, known)]
    return {
        SHARE: np.ones((*choice.shape, 1)),
        STATE: np.concatenate([state, state**2, reported], axis=2),
        OUTCOMES: np.stack(before, axis=2),
        TREATMENT: np.concatenate(earlier, axis=2),
        TIME: smooth,
    }


def _scores(psi: Floats, r: Floats, person: NDArray[np.int64]) -> PersonScores:
    each = (psi[:, :, None] * r[:, None, :]).reshape(len(psi), -1) / np.sqrt(len(psi))
    summed = np.zeros((int(person.max()) + 1, each.shape[1]))
    np.add.at(summed, person, each)
    return PersonScores(summed, summed.sum(axis=0))


def _of_logit(seen: DecisionsSeen, rows: tuple[NDArray[np.int64], ...]) -> Floats:
    """(R, c): what the logit is made of, with its intercept, without what repeats itself."""
    state, reported = standardised_state(seen)
    columns = np.concatenate([state, reported], axis=2)[rows]
    columns = columns[:, columns.std(axis=0) > 1e-9]
    return np.column_stack([np.ones(len(columns)), columns])


def _left(
    psi: Floats, r: Floats, person: NDArray[np.int64], design: Floats, given: Floats
) -> PersonScores:
    """Scores orthogonal to errors of the logit, and with r of the size of its errors.

    The logits of several actions are taken on their own, each with its own weights.
    """
    parts = []
    chosen = given[np.isfinite(given).all(axis=2)]
    for k in range(r.shape[1]):
        weight = chosen[:, k + 1] * (1 - chosen[:, k + 1])
        weighed = design * weight[:, None]
        gram = design.T @ weighed
        gram[np.diag_indices_from(gram)] += 1e-8 * len(design)
        inverse = np.linalg.inv(gram)
        own = psi - design @ (inverse @ (weighed.T @ psi))
        leverage = np.einsum("ij,jk,ik->i", weighed, inverse, design)
        hidden = np.minimum(np.bincount(person, leverage), LARGEST_SHARE)
        plain = _scores(own, r[:, k : k + 1], person)
        restored = plain.restored / np.sqrt(1 - hidden)[:, None]
        parts.append(PersonScores(restored, plain.total))
    return PersonScores(
        np.concatenate([each.restored for each in parts], axis=1),
        np.concatenate([each.total for each in parts]),
    )


def _shares(
    seen: DecisionsSeen, taken: Floats, given: Floats, person: NDArray[np.int64]
) -> pd.DataFrame:
    gap = taken - given
    by_person = np.zeros((int(person.max()) + 1, gap.shape[1]))
    np.add.at(by_person, person, gap - gap.mean(axis=0))
    error = np.sqrt((by_person**2).sum(axis=0)) / len(gap)
    return pd.DataFrame(
        {
            "action": list(seen.labels),
            "taken": taken.mean(axis=0),
            "stated": given.mean(axis=0),
            "difference": gap.mean(axis=0),
            "error": error,
        }
    )
