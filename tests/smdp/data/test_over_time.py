"""Means, bands and shares over decisions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from small_studies import study_of
from statsmodels.stats.proportion import proportion_confint

from smdp.data.arrange import arrange
from smdp.data.column_roles import ColumnRoles, NextValue, StateVariable
from smdp.data.compliance import (
    ANSWERED,
    DAY,
    IN_STUDY,
    OUTCOME,
    ROW,
    compliance_by_day,
    compliance_table,
    days_of,
    describe_compliance,
)
from smdp.data.measured import measured, places
from smdp.data.over_time import MOST_POINTS, by_span, course, few_people, spans
from smdp.figures.data import compliance_figure

NAN = np.nan


def state(study):
    return measured(study, next(p for p in places(study) if p.role == "state"))


def test_mean_and_middle_of_the_people_at_each_decision():
    random = np.random.default_rng(4)
    values = random.normal(size=(23, 6, 1))
    values[random.random(values.shape) < 0.3] = NAN
    values[:, 3] = NAN
    found = course(state(study_of(values, [StateVariable("x")])))
    own = values[:, :, 0]
    seen = [0, 1, 2, 4, 5]
    np.testing.assert_allclose(found.mean[seen], np.nanmean(own[:, seen], axis=0))
    np.testing.assert_allclose(found.low[seen], np.nanquantile(own[:, seen], 0.1, axis=0))
    np.testing.assert_allclose(found.high[seen], np.nanquantile(own[:, seen], 0.9, axis=0))
    assert found.people[3] == 0
    assert np.isnan([found.mean[3], found.low[3], found.high[3]]).all()


def test_of_two_values_the_band_is_an_interval_of_the_share():
    values = np.array([[1.0, 2], [1, 2], [2, 2], [1, 1], [NAN, 1]])[:, :, None]
    found = course(state(study_of(values, [StateVariable("x", "binary")])))
    for t, (count, n) in enumerate([(1, 4), (3, 5)]):
        low, high = proportion_confint(count, n, method="wilson")
        assert (found.low[t], found.high[t]) == (pytest.approx(1 + low), pytest.approx(1 + high))


def test_of_a_long_study_decisions_are_taken_together():
    decisions = 2 * MOST_POINTS + 5
    together = spans(decisions)
    assert together.width == 3
    assert (together.first[0], together.last[-1]) == (1, decisions)
    assert (together.first[1:] == together.last[:-1] + 1).all()
    values = np.arange(decisions, dtype=float)[None, :]
    values[0, 0] = NAN
    assert by_span(values)[0, 0] == 1.5
    assert by_span(values)[0, -1] == decisions - 2 or len(together.first) % 3


def test_the_few_people_have_many_values_and_differ():
    each = np.arange(10.0)[:, None] + np.zeros((10, 8))
    each[5, 1:] = NAN
    taken = few_people(each, 4)
    assert 5 not in taken
    assert taken == sorted(taken)
    assert len(taken) == 4
    assert few_people(np.full((3, 2), NAN), 4) == []
    assert few_people(np.ones((1, 2)), 4) == [0]


def test_compliance_counts_all_people_at_every_decision():
    study = study_of(np.zeros((4, 3, 1)), [StateVariable("x")], lengths=[3, 3, 2, 1])
    present, utilities = study.present.copy(), study.utilities.copy()
    present[0, 1] = False
    utilities[1, 0] = NAN
    study = replace(study, present=present, utilities=utilities)
    table = compliance_table(study)
    assert table[IN_STUDY].tolist() == [1, 0.75, 0.5]
    assert table[ROW].tolist() == [1, 0.5, 0.5]
    assert table[OUTCOME].tolist() == [0.75, 0.5, 0.5]
    said = describe_compliance(study)
    assert "Of 3 decisions, a person has a row at 67 % on average (from 33 % to 100 %)" in said


def five_times_a_day() -> pd.DataFrame:
    """Two people who begin on different days; the second one misses a day, and the evenings."""
    rows = [
        (who, f"{first + day:02d}.03.2024 {hour:02d}:{minute:02d}", day)
        for who, first, days in (("a", 3, (0, 1, 2)), ("b", 7, (0, 2)))
        for day in days
        for hour, minute in ((9, 0), (13, 20 + day), (18, 40))[: 3 if who == "a" else 2]
    ]
    frame = pd.DataFrame(rows, columns=["who", "at", "day"])
    return frame.assign(action=frame.index % 2, x=1.5 * frame.index, y=2.5 * frame.index)


def test_compliance_by_day_from_dates_or_from_a_state_that_counts():
    frame = five_times_a_day()
    roles = ColumnRoles("who", "at", "action", ["x", "day"], "y")
    study = arrange(frame, roles)
    dated, counted = days_of(study)
    assert (dated.called, counted.called) == (DAY, "day")
    assert (dated.first, counted.first) == (1, 0)
    table = compliance_by_day(study, dated)
    assert table["first day"].tolist() == [1, 2, 3]
    assert table[ROW].tolist() == [1, 0.5, 1]
    assert table[IN_STUDY].tolist() == [1, 1, 1]
    assert dated.usual == 3
    np.testing.assert_allclose(table[ANSWERED], [5 / 6, 3 / 6, 5 / 6])
    late = study.utilities.copy()
    late[1, 2:] = NAN
    seen = compliance_by_day(replace(study, utilities=late), counted)
    assert seen[OUTCOME].tolist() == [1, 0.5, 0.5]
    figure = compliance_figure(study, dated)
    assert figure.layout.xaxis.title.text == DAY


def test_where_a_decision_is_a_day_there_are_no_days_beside_them():
    daily = five_times_a_day().drop_duplicates(["who", "day"])
    daily["at"] = daily["at"].str.slice(0, 10)
    assert days_of(arrange(daily, ColumnRoles("who", "at", "action", ["x", "day"], "y"))) == ()
    numbered = study_of(np.zeros((3, 4, 1)), [StateVariable("x")])
    assert days_of(numbered) == ()


def test_the_last_decision_has_no_next_value():
    study = study_of(np.ones((2, 3, 1)), [StateVariable("x")])
    study = replace(study, roles=replace(study.roles, utility=NextValue("x")))
    assert compliance_table(study)[OUTCOME].tolist()[:2] == [1, 1]
    assert np.isnan(compliance_table(study)[OUTCOME][2])
    assert describe_compliance(study).endswith("an observed outcome at 100 %.")
