"""The proximal operator of the group lasso, for many networks at once.

    prox(w) = argmin_v 1/2 |v - w|^2 + threshold |v| = max(0, 1 - threshold / |w|) w

for each group w of weights. A group whose norm is at most the threshold becomes exactly zero.

Reference: Yuan & Lin (2006), "Model selection and estimation in regression with grouped
variables"; Parikh & Boyd (2014), "Proximal algorithms", section 6.5.4.
"""

from __future__ import annotations

from typing import Any


def block_soft_threshold(weights: Any, threshold: Any) -> Any:
    """The operator on the groups along the last axis; numpy arrays or tensors alike.

    `weights` is (..., group, members); `threshold` must broadcast with (..., group, 1).
    """
    norms = (weights * weights).sum(-1)[..., None] ** 0.5
    # Where a norm is 0, its group is 0 already; any other divisor will do.
    shrunk = 1 - threshold / (norms + (norms == 0))
    return weights * shrunk.clip(min=0)
