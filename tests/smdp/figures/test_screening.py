"""The Screening page's figures."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from smdp.figures.screening import pooled_figure


def test_the_axis_is_read_in_p_values():
    table = pd.DataFrame(
        {"p_value": [0.012, 0.3, 1.0], "round": [1, None, None]}, index=["stress", "age", "sleep"]
    )
    result = SimpleNamespace(table=table, settings=SimpleNamespace(level=0.1))
    figure = pooled_figure(result)
    axis = figure.layout.xaxis
    assert axis.ticktext == ("1", ".5", ".2", ".1", ".05", ".02", ".01")
    np.testing.assert_allclose(10 ** -np.array(axis.tickvals), [1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01])
