"""The figure of the Markov check."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from small_process import process

from smdp.figures.markov import SMALLEST_SHOWN, markov_figure
from smdp.markov.markov_check import check_markov
from smdp.markov.markov_settings import MarkovSettings


def test_the_ladder_beside_the_effect_of_each_action():
    found = check_markov(process(1, people=24, actions=3), MarkovSettings(most=1, draws=99))
    figure = markov_figure(found)
    names = [trace.name for trace in figure.data if trace.name]
    assert names[:2] == ["as it is", "own levels allowed for"]
    assert [name for name in names if name.startswith("action")] == ["action a1", "action a2"] or (
        names[-2:] == ["a1", "a2"]
    )
    assert np.allclose(figure.data[0].y, np.clip(found.ladder["p_value"], SMALLEST_SHOWN, 1))
    assert figure.layout.xaxis2.title.text == "Decision"


def test_without_an_effect_the_ladder_has_the_whole_width():
    found = check_markov(process(1), MarkovSettings(most=1, draws=99))
    alone = replace(found, effect=pd.DataFrame(columns=found.effect.columns), look_back=None)
    figure = markov_figure(alone)
    assert len(figure.data) == 2
    assert figure.layout.xaxis.domain is None
