"""Planning a study: shares with their intervals, and values, by size."""

from __future__ import annotations

import numpy as np
import pytest
from small_simulation import SETTINGS, small_how

from smdp.errors import SettingError
from smdp.figures.simulation import (
    comparison_figure,
    kept_figure,
    outcome_figure,
    power_figure,
    value_figure,
)
from smdp.independence.shares import wilson_interval
from smdp.plain_data import read_plain, write_plain
from smdp.screening_settings import ScreeningSettings
from smdp.simulation.compare import compare_with_paper
from smdp.simulation.planning import plan_study
from smdp.words.simulation import (
    check_plan,
    check_study,
    describe_plan,
    describe_study,
    plan_table,
)


@pytest.fixture(scope="module")
def plan():
    how = small_how(screening=ScreeningSettings(permutations=199, pooling="trajectory"))
    return plan_study(
        "linear", noise=3, subjects=(6, 40), times=(4, 12), replications=4, how=how, discount=0.5
    )


@pytest.mark.parametrize(
    ("found", "total", "lower", "upper"),
    # R: prop.test(x, n, correct = FALSE)$conf.int
    [(8, 10, 0.4901625, 0.9433178), (0, 20, 0.0, 0.1611252), (20, 20, 0.8388748, 1.0),
     (50, 100, 0.4038315, 0.5961685)],
)  # fmt: skip
def test_wilson_intervals_agree_with_r(found, total, lower, upper):
    assert wilson_interval(found, total) == pytest.approx((lower, upper), abs=1e-7)


def test_larger_studies_find_more(plan):
    table = plan.table.set_index(["subjects", "times"])
    assert list(table.index) == [(6, 4), (6, 12), (40, 4), (40, 12)]
    assert table.loc[(40, 12), "found"] > table.loc[(6, 4), "found"]
    assert (table["lower"] <= table["share"]).all()
    assert (table["share"] <= table["upper"]).all()
    assert (table["replications"] == 4).all()
    known = table["policies"] > 0
    assert np.isfinite(table.loc[known, "linear"]).all()
    assert table.loc[(40, 12), "linear"] > 1  # a policy at random earns 0


def test_a_plan_is_plain_data_and_repeats(plan, tmp_path):
    write_plain(plan, tmp_path)
    assert read_plain(tmp_path).table.equals(plan.table)
    again = plan_study("linear", noise=3, subjects=(40,), times=(12,), replications=2,
                       how=plan.study.how, discount=0.5)  # fmt: skip
    rows = plan.study.rows
    same = rows[(rows["subjects"] == 40) & (rows["times"] == 12) & (rows["replication"] < 2)]
    assert again.study.rows["variables"].tolist() == same["variables"].tolist()
    assert again.study.rows["neural"].tolist() == same["neural"].tolist()


def test_a_plan_is_drawn_and_told(plan):
    power, value = power_figure(plan), value_figure(plan)
    assert [trace.name for trace in power.data] == ["4 decisions", "12 decisions"]
    assert list(power.data[1].x) == [6, 40]
    assert len(value.data) == 2
    text = " ".join(describe_plan(plan))
    assert "all true variables" in text
    assert "weaker effects needs more subjects" in text
    shown = plan_table(plan)
    assert shown["all true variables found"].str.contains(r"\d of 4, \d+ % \(\d+ to \d+\)").all()
    assert any("intervals are wide" in problem.message for problem in check_plan(plan))


def test_a_study_is_drawn_and_told(small_study):
    comparison = compare_with_paper(small_study)
    for measure in ("linear", "neural", "variables_count", "dimension"):
        assert len(comparison_figure(comparison, measure).data) == 2 * 4
    figure = outcome_figure(small_study, SETTINGS[0], "linear", comparison)
    boxes = [trace for trace in figure.data if trace.type == "box"]
    assert [len(trace.x) for trace in boxes][:3] == [3, 3, 3]
    kept = kept_figure(small_study, SETTINGS[1])
    assert {trace.name for trace in kept.data} == {"screened"}
    assert "simulated trials in 2 settings" in describe_study(small_study, comparison)[0]
    assert any("luck" in problem.remedy for problem in check_study(small_study, comparison))


def test_bad_settings_are_explained():
    with pytest.raises(SettingError, match="'depth' must be 'screening' or 'whole'"):
        plan_study("linear", depth="all")
    with pytest.raises(SettingError, match="'subjects' must be a list of whole numbers"):
        plan_study("linear", subjects=())
