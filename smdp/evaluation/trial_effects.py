"""What treatment did on average in the trial: weighted and centred least squares.

At decisions with a choice, with p the probability of what was done, p~ a constant for each action
and f the moderators, the coefficients beta_k of

    U = g'alpha + sum over k >= 2 of (1{A = k} - p~_k) f'beta_k,    weights p~_A / p_A,

are the effects of action k against the first on the utility that follows. Centring makes them
right whatever the controls g miss. Errors are robust, by subject, with the correction of Mancl
& DeRouen (2001) for few subjects and Student's t.

Reference: Boruvka, Almirall, Witkiewitz & Murphy (2018), "Assessing time-varying causal effect
moderation in mobile health".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.evaluation.value_rows import value_rows
from smdp.propensity import propensities
from smdp.result import Result
from smdp.settings import require
from smdp.text import listing

AVERAGE = "average"


@dataclass(frozen=True, eq=False, repr=False)
class TrialSummary(Result):
    """`effects`: action, against, term, estimate, lower, upper, standard_error, p_value.

    The term "average" is the effect at the mean of the moderators; each moderator's own term is by
    how much the effect changes with one unit of it.
    """

    effects: pd.DataFrame
    controls: tuple[str, ...]
    moderators: tuple[str, ...]
    subjects: int
    decisions: int
    coverage: float
    estimated: float  # the share of decisions whose probabilities were estimated
    notes: tuple[str, ...]


def trial_summary(
    trajectories: Trajectories,
    *,
    moderators: Sequence[str] = (),
    controls: Sequence[str] = (),
    coverage: float = 0.95,
) -> TrialSummary:
    """The effect of each action against the first, at the decisions with a choice.

    `controls` are state variables that predict the utility: they narrow the intervals. `moderators`
    (controls too, by themselves) are those with which the effect may change.
    """
    for name, names in (("moderators", moderators), ("controls", controls)):
        require(not isinstance(names, str), name, "a list of variables", names)
    require(0.5 <= coverage < 1, "coverage", "a share of at least 0.5, below 1", coverage)
    used = tuple(dict.fromkeys((*controls, *moderators)))
    rows = value_rows(trajectories, used, following=False)
    known = propensities(trajectories, rows, used)
    choice = rows.available
    taken, given = rows.level[choice], known.given[choice]
    states = rows.at(trajectories.select(used).states)[choice]
    centred = states - states.mean(axis=0)
    marginal = given.mean(axis=0)
    modified = np.column_stack(
        [np.ones(len(taken)), *(centred[:, used.index(m)] for m in moderators)]
    )
    blocks = [((taken == k) - marginal[k])[:, None] * modified for k in range(1, len(marginal))]
    design = np.column_stack([np.ones(len(taken)), centred, *blocks])
    subject = rows.subject[choice]
    _check(design, 1 + len(used), used, subject)
    weights = marginal[taken] / known.of_taken(rows.level)[choice]
    effects = _effects(
        rows.utility[choice], design, weights, subject, coverage, first=1 + len(used)
    )
    labels = trajectories.action_labels
    terms = [AVERAGE, *moderators]
    place = [(label, term) for label in labels[1:] for term in terms]
    effects.insert(0, "action", [label for label, _ in place])
    effects.insert(1, "against", labels[0])
    effects.insert(2, "term", [term for _, term in place])
    return TrialSummary(
        effects=effects,
        controls=tuple(controls),
        moderators=tuple(moderators),
        subjects=len(np.unique(subject)),
        decisions=len(taken),
        coverage=coverage,
        estimated=known.estimated,
        notes=(*rows.notes, *known.notes),
    )


def _effects(
    utility: NDArray[np.float64],
    design: NDArray[np.float64],
    weights: NDArray[np.float64],
    subject: NDArray[np.int64],
    coverage: float,
    first: int,
) -> pd.DataFrame:
    """The coefficients from column `first` on."""
    from scipy.stats import t
    from statsmodels.genmod.cov_struct import Independence
    from statsmodels.genmod.generalized_estimating_equations import GEE

    # Weights as factors of the rows: the same estimate, and statsmodels' correction for few
    # subjects, which does not know weights, is then right.
    root = np.sqrt(weights)
    model = GEE(utility * root, design * root[:, None], groups=subject, cov_struct=Independence())
    found = model.fit(cov_type="bias_reduced")
    estimate = np.asarray(found.params)[first:]
    error = np.sqrt(np.diag(np.asarray(found.cov_params())))[first:]
    freedom = len(np.unique(subject)) - design.shape[1]
    width = float(t.ppf(0.5 + coverage / 2, freedom)) * error
    return pd.DataFrame(
        {
            "estimate": estimate,
            "lower": estimate - width,
            "upper": estimate + width,
            "standard_error": error,
            "p_value": 2 * t.sf(np.abs(estimate / error), freedom),
        }
    )


def _check(
    design: NDArray[np.float64],
    main: int,  # columns before the effects
    used: tuple[str, ...],
    subject: NDArray[np.int64],
) -> None:
    subjects = len(np.unique(subject))
    if subjects <= design.shape[1]:
        raise DataError(
            f"{subjects} subjects are too few for the {design.shape[1]} coefficients of the trial "
            "summary.",
            "Use fewer controls and moderators.",
        )
    scale = np.abs(design).max(axis=0)
    still = [name for j, name in enumerate(used, 1) if scale[j] <= 1e-12]
    if still:
        raise DataError(
            f"The variable {listing(still)} never changes, so it can be no control or moderator.",
            "Leave it out.",
        )
    if np.linalg.matrix_rank(design / np.where(scale > 0, scale, 1)) < design.shape[1]:
        repeated = np.linalg.matrix_rank(design[:, :main] / scale[:main]) < main
        what = f"controls and moderators ({listing(used)})" if repeated else "actions"
        raise DataError(
            f"The effects of the {what} cannot be told apart.",
            "Leave out a variable that repeats others, or join actions that were hardly given.",
        )
