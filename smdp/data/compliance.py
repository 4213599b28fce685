"""Who answered, when: the people with a row, and with an outcome, at each decision."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from smdp.data.column_roles import NextValue
from smdp.data.measured import outcomes
from smdp.data.over_time import spans
from smdp.data.study import Study
from smdp.text import percent, plural

ROW, OUTCOME, IN_STUDY = "with a row", "with the outcome", "still in the study"


def compliance_table(study: Study) -> pd.DataFrame:
    """At each decision, or at several together: which share of all people was observed.

    `still in the study`: those who have a row then or later.
    """
    seen = _with_outcome(study)
    together = spans(study.present.shape[1])
    shares = {
        ROW: study.present.mean(axis=0),
        OUTCOME: np.where(_possible(study), seen.mean(axis=0), np.nan),
        IN_STUDY: study.on_grid.mean(axis=0),
    }
    if not seen.any():
        del shares[OUTCOME]  # as in a study without one
    return pd.DataFrame(
        {
            "first decision": together.first,
            "last decision": together.last,
            **{name: _together(share, together.first - 1) for name, share in shares.items()},
        }
    )


def describe_compliance(study: Study) -> str:
    """How much of the study a person took part in."""
    decisions = study.present.shape[1]
    rows = study.present.mean(axis=1)
    possible = max(int(_possible(study).sum()), 1)
    answered = _with_outcome(study).sum(axis=1) / possible
    text = f"Of {plural(decisions, 'decision')}, a person has a row at {_on_average(rows)}"
    if not answered.any():
        return f"{text}."
    return f"{text}, and an observed outcome at {_on_average(answered)}."


def _on_average(shares: NDArray[np.float64]) -> str:
    lowest, mean, highest = (percent(float(f(shares))) for f in (np.min, np.mean, np.max))
    if lowest == highest:
        return mean
    return f"{mean} on average (from {lowest} to {highest})"


def _with_outcome(study: Study) -> NDArray[np.bool_]:
    return np.isfinite(outcomes(study))


def _possible(study: Study) -> NDArray[np.bool_]:
    """(R,): whether a decision can have an outcome; the last one has no next value."""
    decisions = study.present.shape[1]
    last = isinstance(study.roles.utility, NextValue)
    return np.arange(decisions) < decisions - last


def _together(share: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    known = np.isfinite(share)
    count = np.add.reduceat(known, starts, dtype=np.int64)
    total = np.add.reduceat(np.where(known, share, 0.0), starts)
    return np.divide(total, count, out=np.full(len(starts), np.nan), where=count > 0)
