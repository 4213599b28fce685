"""Shares of so many that were looked at, with intervals.

Reference: Wilson (1927), "Probable inference, the law of succession, and statistical inference".
"""

from __future__ import annotations

import numpy as np

from smdp.settings import require

#: 97.5 % of the standard normal distribution lie below.
NORMAL_975 = 1.959963984540054


def wilson_interval(found: int, total: int) -> tuple[float, float]:
    """The 95 % Wilson interval of a share: never outside 0 to 1, and sensible at both ends."""
    require(0 <= found <= total and total > 0, "found", f"from 0 to {total}", found)
    z, share = NORMAL_975, found / total
    centre = (share + z**2 / (2 * total)) / (1 + z**2 / total)
    half = z / (1 + z**2 / total) * np.sqrt(share * (1 - share) / total + (z / (2 * total)) ** 2)
    # Rounding aside, these ends are exactly 0 and 1.
    lower = 0.0 if found == 0 else max(0.0, float(centre - half))
    return lower, 1.0 if found == total else min(1.0, float(centre + half))
