"""The paper's tables 1 to 3, as data: means and standard errors over 500 replications.

Reference: Wang, Laber & Witkiewitz, section 5.
"""

from __future__ import annotations

import pandas as pd

REPLICATIONS = 500

#: The size of the paper's trials. The discount is not printed; the outcomes are those of 0.5.
PAPER_SUBJECTS, PAPER_TIMES, PAPER_DISCOUNT = 30, 90, 0.5

#: Mean outcomes of the policies that are optimal for a discount (`smdp.simulation.optimum`), over
#: the paper's times: `python bench/optimum.py`.
_OPTIMA = {
    0.5: {"linear": 3.469, "quad": 7.048, "exp": 9.487},
    0.95: {"linear": 3.755, "quad": 8.623, "exp": 9.647},
}

#: Model, noise variables, feature map; then Linear Q, NN Q, nVar and nDim, each with its standard
#: error (0 where none is printed: it is a given number).
_TABLES = """
linear  0    identity  3.36  0.012  3.31  0.012    64     0     64      0
linear  0    oracle    3.34  0.012  3.31  0.013     4     0      4      0
linear  0    adnn      3.21  0.018  3.34  0.013   4.1  0.01    3.1   0.02
linear  0    tnn       3.38  0.012  3.30  0.012  16.0  0.00   34.4   0.13
linear  0    pca       3.34  0.012  3.30  0.012    64     0   50.0   0.00
linear  50   identity  3.31  0.012  3.27  0.012   114     0    114      0
linear  50   oracle    3.31  0.012  3.29  0.013     4     0      4      0
linear  50   adnn      3.26  0.014  3.32  0.013   5.6  0.08    4.6   0.08
linear  50   tnn       3.32  0.012  3.29  0.013  37.0  0.00   86.0   0.19
linear  50   pca       3.34  0.012  3.28  0.013   114     0   85.8   0.02
linear  200  identity  2.17  0.016  2.98  0.035   264     0    264      0
linear  200  oracle    3.33  0.012  3.31  0.013     4     0      4      0
linear  200  adnn      3.29  0.013  3.32  0.012  10.2  0.12    7.5   0.09
linear  200  tnn       3.34  0.012  3.27  0.013  87.4  0.11  157.8   0.48
linear  200  pca       3.33  0.013  3.11  0.028   264     0  166.0   0.02
quad    0    identity  3.08  0.062  2.64  0.073    64     0     64      0
quad    0    oracle    2.54  0.056  6.75  0.046     4     0      4      0
quad    0    adnn      6.63  0.038  6.97  0.034   4.1  0.02    2.4   0.04
quad    0    tnn       6.94  0.027  6.54  0.068  15.3  0.04   37.1   0.22
quad    0    pca       2.97  0.064  2.50  0.067    64     0   51.2   0.02
quad    50   identity  2.96  0.054  1.69  0.064   114     0    114      0
quad    50   oracle    2.58  0.057  6.76  0.042     4     0      4      0
quad    50   adnn      6.76  0.032  6.99  0.030   6.4  0.06    5.3   0.09
quad    50   tnn       6.98  0.031  6.53  0.064  36.5  0.03   88.3   0.22
quad    50   pca       3.09  0.061  2.00  0.067   114     0   87.1   0.03
quad    200  identity  1.28  0.030  0.88  0.031   264     0    264      0
quad    200  oracle    2.52  0.056  6.68  0.050     4     0      4      0
quad    200  adnn      6.87  0.034  6.92  0.033  14.3  0.14   12.5   0.23
quad    200  tnn       6.76  0.044  6.03  0.075  84.1  0.11  152.4   0.36
quad    200  pca       3.09  0.062  0.96  0.033   264     0  167.4   0.03
exp     0    identity  8.73  0.008  8.78  0.012    64     0     64      0
exp     0    oracle    9.20  0.006  9.43  0.004     4     0      4      0
exp     0    adnn      9.30  0.018  9.45  0.004   4.3  0.13    2.4   0.13
exp     0    tnn       9.44  0.005  9.29  0.009  16.0  0.00   42.3   0.17
exp     0    pca       9.10  0.016  9.02  0.023    64     0   14.2  0.018
exp     50   identity  8.78  0.008  8.77  0.012   114     0    114      0
exp     50   oracle    9.19  0.006  9.43  0.005     4     0      4      0
exp     50   adnn      9.32  0.018  9.43  0.005   5.4  0.03    2.4   0.04
exp     50   tnn       9.43  0.005  9.18  0.012  37.0  0.00   81.5   0.28
exp     50   pca       8.89  0.014  8.99  0.020   114     0   37.2   0.02
exp     200  identity  8.71  0.008  8.73  0.012   264     0    264      0
exp     200  oracle    9.19  0.006  9.44  0.004     4     0      4      0
exp     200  adnn      9.37  0.016  9.41  0.006   7.8  0.09    3.3   0.12
exp     200  tnn       9.41  0.005  9.06  0.016  93.4  0.10  152.4   0.42
exp     200  pca       8.66  0.014  9.02  0.022   264     0   91.4   0.02
"""

MEASURES = ("linear", "neural", "variables_count", "dimension")


def paper_tables() -> pd.DataFrame:
    """By model, noise and feature map: each measure and its standard error (`.._se`)."""
    columns = [name for measure in MEASURES for name in (measure, f"{measure}_se")]
    rows = [line.split() for line in _TABLES.strip().splitlines()]
    frame = pd.DataFrame(rows, columns=["model", "noise", "feature_map", *columns])
    kinds = {"noise": "int64", **dict.fromkeys(columns, "float64")}
    return frame.astype(kinds).set_index(["model", "noise", "feature_map"])


def optimal_outcome(model: str, times: int, discount: float | None) -> float | None:
    """What the policy earns that is optimal for the discount, where that is known."""
    if times != PAPER_TIMES or discount not in _OPTIMA:
        return None
    return _OPTIMA[discount][model]
