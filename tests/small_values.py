"""Policy values made by hand, for tests of what is said and drawn of them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from smdp.evaluation.value import PolicyValue
from smdp.evaluation.value_tables import DOUBLY_ROBUST, FITTED_Q, STEPWISE

WHY = "The estimate rests on the decisions of 3.0 subjects' worth (at least 10 are needed)."


def value_of(
    estimates: Sequence[float] = (3.2, 2.4, 2.0, 2.9),
    error: float = 0.15,
    untrusted: Sequence[str] = (),
    gain_error: float = 0.2,
) -> PolicyValue:
    """Of the learned policy, the observed one, and "always" of two actions."""
    names = ["learned", "observed", "always 0", "always 1"]
    rows = []
    for method in (DOUBLY_ROBUST, FITTED_Q, STEPWISE):
        for name, estimate in zip(names, estimates, strict=True):
            trusted = method == DOUBLY_ROBUST and name not in untrusted
            half = 2 * error if trusted or method == FITTED_Q else np.nan
            rows.append(
                {
                    "policy": name,
                    "method": method,
                    "estimate": estimate,
                    "lower": estimate - half,
                    "upper": estimate + half,
                    "standard_error": half / 2,
                    "effective": 25.0 if trusted else 3.0,
                    "trusted": trusted,
                    "reason": "" if trusted else WHY,
                }
            )
    against = []
    for name, estimate in zip(names[1:], estimates[1:], strict=True):
        trusted = not {"learned", name} & set(untrusted)
        half = 2 * gain_error if trusted else np.nan
        difference = estimates[0] - estimate
        against.append(
            {
                "policy": "learned",
                "against": name,
                "estimate": difference,
                "lower": difference - half,
                "upper": difference + half,
                "standard_error": half / 2,
                "effective": 25.0,
                "trusted": trusted,
                "reason": "" if trusted else WHY,
            }
        )
    return PolicyValue(
        table=pd.DataFrame(rows),
        differences=pd.DataFrame(against),
        positivity=pd.DataFrame(
            {
                "action": ["0", "1"],
                "taken": [0.6, 0.4],
                "smallest": [0.3, 0.02],
                "below": [0.0, 0.08],
                "unsupported": [0.0, 0.2],
            }
        ),
        cautions=("At 8% of the decisions the action '1' had a probability below 0.05.",),
        notes=("Cross-fitted.",),
        discount=0.9,
        coverage=0.95,
        subjects=30,
        decisions=800,
        cross_fitted=True,
        whole_analysis=True,
        seed=0,
    )
