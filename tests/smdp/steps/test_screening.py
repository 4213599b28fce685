"""The step Screening, whichever way was asked for."""

from __future__ import annotations

import pytest

from smdp.blocks import Draw
from smdp.steps import SCREENING
from smdp.steps.screening import screening_section

WAYS = {
    "closed_set": {},
    "rounds": {"method": "rounds"},
    "paper": {"method": "paper", "pooling": "trajectory"},
    "all forced": {"force_in": ("stress", "craving", "noise", "smoker")},
    "none": {"level": 0.004, "force_in": (), "force_out": ("craving", "stress")},
}
TABLES = {
    "closed_set": ["screening", "screening-rounds", "screening-arrows"],
    "rounds": ["screening", "screening-rounds"],
    "paper": ["screening", "screening-by-decision"],
    "all forced": ["screening"],
    "none": ["screening", "screening-rounds"],
}


@pytest.fixture(params=WAYS)
def way(request):
    return request.param


@pytest.fixture
def screened(analysis, way):
    asked = analysis.with_settings(SCREENING, **WAYS[way])
    return asked.run_one(SCREENING)


def test_tables_figures_methods_and_report(screened, way):
    result = screened.screening
    tables = dict(SCREENING.tables(screened))
    assert list(tables) == TABLES[way]
    assert len(tables["screening"]) == 4
    if "screening-arrows" in tables:
        assert "utility" in set(tables["screening-arrows"]["target"])
        assert (screened.screening.arrows["target"] == "").any()
    figures = SCREENING.figures(result)
    assert ("screening-paths" in figures) == ("screening-arrows" in tables)
    asked = screened.records["screening"].asked
    text = SCREENING.methods(screened, asked)
    assert text.endswith(".")
    assert ("no variable was left to test" in text.lower()) == (way == "all forced")
    assert ("Rüger" in text) is False
    assert ("Chwialkowski" in text) == (way != "paper")
    assert screening_section(screened, Draw("screening", ()))
    assert SCREENING.says(screened)
    SCREENING.warns(result, screened)


def test_rounds_are_told_test_by_test(analysis):
    tables = dict(SCREENING.tables(analysis))
    rounds = tables["screening-rounds"]
    assert list(rounds)[:3] == ["round", "stage", "variable"]
    assert len(rounds) == sum(len(each.tests) for each in analysis.screening.rounds)
