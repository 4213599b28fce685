"""The probability with which each action was given.

Probabilities are known from the trial's design, or estimated: by a (multinomial) logit on the state
variables, fitted to all decisions with a choice. Where it has no finite answer (some states had one
action only), its coefficients are held back by a small ridge.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.data.rows import Rows
from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.text import listing

#: Probabilities of a decision may miss a sum of 1 by so much.
ROUNDING = 1e-6

#: Of the squared coefficients (of standardised variables), where the logit has no finite answer.
RIDGE = 0.5


@dataclass(frozen=True)
class Propensities:
    """`given`: (R, K), NaN where nothing could be chosen."""

    given: NDArray[np.float64]
    estimated: float  # the share of decisions with a choice whose probabilities were estimated
    notes: tuple[str, ...]

    def of_taken(self, level: NDArray[np.int64]) -> NDArray[np.float64]:
        """(R,): the probability of what was done; 1 where nothing could be chosen."""
        actions = self.given.shape[1]
        chosen = np.minimum(level, actions - 1)
        taken = np.take_along_axis(self.given, chosen[:, None], axis=1)[:, 0]
        return np.where(level < actions, taken, 1.0)


def propensities(
    trajectories: Trajectories, rows: Rows, variables: tuple[str, ...]
) -> Propensities:
    """Those that the trajectories have; the others estimated from these variables."""
    given = rows.at(trajectories.probabilities).copy()
    level, actions = rows.at(trajectories.strata), len(trajectories.action_labels)
    choice = level < actions
    given[~choice] = np.nan
    unknown = choice & ~np.isfinite(given).all(axis=1)
    _check(trajectories, rows, level, given, choice & ~unknown)
    if not unknown.any():
        return Propensities(given, 0.0, ())
    states = rows.at(trajectories.select(variables).states)
    fitted, note = estimated_probabilities(states[choice], level[choice], actions)
    given[unknown] = fitted[unknown[choice]]
    share = float(unknown.sum() / choice.sum())
    which = "The probabilities of treatment were not given: they were"
    if share < 1:
        which = f"The probabilities of treatment of {share:.0%} of the decisions were not given:"
        which += " they were"
    how = f"estimated by a logit on {listing(variables, 8)}"
    if not variables:
        how = "estimated by how often each treatment was given, as the same at all decisions"
    notes = (f"{which} {how}.", *note)
    return Propensities(given, share, notes)


def _check(
    trajectories: Trajectories,
    rows: Rows,
    level: NDArray[np.int64],
    given: NDArray[np.float64],
    known: NDArray[np.bool_],
) -> None:
    def where(bad: NDArray[np.bool_]) -> str:
        first = np.flatnonzero(bad)[0]
        row, time = int(rows.row[first]), int(rows.time[first])
        return f"of subject '{trajectories.subjects[row]}' at decision {time + 1}"

    outside = known & ((given < 0) | (given > 1)).any(axis=1)
    if outside.any():
        worst = given[np.flatnonzero(outside)[0]]
        value = worst[(worst < 0) | (worst > 1)][0]
        raise DataError(
            f"A probability of treatment {where(outside)} is {value:g}, "
            "but probabilities lie between 0 and 1.",
            "Correct the column of probabilities, or leave it out to have them estimated.",
        )
    total = given.sum(axis=1)
    uneven = known & (np.abs(total - 1) > ROUNDING)
    if uneven.any():
        value = total[np.flatnonzero(uneven)[0]]
        raise DataError(
            f"The probabilities of the actions {where(uneven)} add up to {value:g}, not to 1.",
            "Correct the columns of probabilities, or leave them out to have them estimated.",
        )
    taken = np.take_along_axis(given, np.minimum(level, given.shape[1] - 1)[:, None], axis=1)
    impossible = known & (taken[:, 0] == 0)
    if impossible.any():
        action = trajectories.action_labels[int(level[np.flatnonzero(impossible)[0]])]
        raise DataError(
            f"The action '{action}' {where(impossible)} had probability 0, and yet it was taken.",
            "Correct the probability or the action; or leave out the column of probabilities to "
            "have them estimated.",
        )


def estimated_probabilities(
    states: NDArray[np.float64], taken: NDArray[np.int64], actions: int
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """(decisions, K), and what should be known about it."""
    sd = states.std(axis=0)
    moving = sd > 1e-12 * np.abs(states).max(axis=0, initial=1.0)
    scaled = (states[:, moving] - states[:, moving].mean(axis=0)) / sd[moving]
    design = np.column_stack([np.ones(len(states)), scaled])
    fitted = _logit(design, taken, actions)
    if fitted is not None:
        return fitted, ()
    note = (
        "The logit of the probabilities of treatment has no finite answer (in some states only one "
        "action was given, or variables repeat each other); a small ridge holds it back."
    )
    return _ridge_logit(design, taken, actions), (note,)


def _logit(
    design: NDArray[np.float64], taken: NDArray[np.int64], actions: int
) -> NDArray[np.float64] | None:
    from statsmodels.discrete.discrete_model import Logit, MNLogit
    from statsmodels.tools.sm_exceptions import ModelWarning, PerfectSeparationError

    if np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    model = (Logit if actions == 2 else MNLogit)(taken, design)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ModelWarning)
            warnings.simplefilter("error", RuntimeWarning)
            found = model.fit(disp=0, maxiter=100)
            fitted = np.asarray(found.predict(design))
    except (PerfectSeparationError, np.linalg.LinAlgError, Warning):
        return None
    if not np.isfinite(np.asarray(found.bse)).all():
        return None
    return np.column_stack([1 - fitted, fitted]) if actions == 2 else fitted


def _ridge_logit(
    design: NDArray[np.float64], taken: NDArray[np.int64], actions: int
) -> NDArray[np.float64]:
    """Softmax regression with a ridge on all coefficients but the intercepts."""
    from scipy.optimize import minimize
    from scipy.special import log_softmax

    hot = np.eye(actions)[taken]
    shrunk = np.ones((design.shape[1], actions))
    shrunk[0] = 1e-6

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat.reshape(shrunk.shape)
        logs = log_softmax(design @ weights, axis=1)
        slope = design.T @ (np.exp(logs) - hot) + 2 * RIDGE * shrunk * weights
        penalty = RIDGE * (shrunk * weights**2).sum()
        return float(penalty - (hot * logs).sum()), slope.ravel()

    found = minimize(loss, np.zeros(shrunk.size), jac=True, method="L-BFGS-B")
    return np.exp(log_softmax(design @ found.x.reshape(shrunk.shape), axis=1))
