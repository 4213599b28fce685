"""Nominal variables, vectors and texts from the table to trajectories."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from study_of_every_kind import roles_of_every_kind, table_of_every_kind

from smdp.analysis.plan import AnalysisPlan
from smdp.data.arrange import arrange
from smdp.data.checks import find_problems
from smdp.data.column_roles import ColumnRoles, NextValue, StateVariable
from smdp.data.leaks import find_leaks
from smdp.data.nominal import OTHER, filled_level, nominal_levels
from smdp.data.participants import as_in_papers, describe_variables, participants_table
from smdp.data.preparation_settings import PreparationSettings, RescalingSettings
from smdp.data.prepare import prepare
from smdp.data.study import Cell
from smdp.data.text_embedding import bucket, fit_text
from smdp.errors import DataError, SettingError
from smdp.plain_data import read_plain, write_plain


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return table_of_every_kind()


def test_each_variable_brings_all_its_columns(frame: pd.DataFrame) -> None:
    trajectories = prepare(frame, roles_of_every_kind()).trajectories
    sizes = {name: len(columns) for name, columns in trajectories.wholes.items()}
    assert sizes == {"weather": 4, "home": 2, "movement": 3, "diary": 5, "stress": 1}
    chosen = trajectories.select(["movement", "weather"])
    assert chosen.variables[:4] == ("move_x", "move_y", "move_z", "weather: rain")
    assert list(chosen.wholes) == ["movement", "weather"]
    with pytest.raises(DataError, match="no state variable nothing"):
        trajectories.select(["nothing"])


def test_columns_of_a_nominal_variable_say_which_level_it_has(frame: pd.DataFrame) -> None:
    prepared = prepare(frame, roles_of_every_kind())
    study, trajectories = prepared.completed.study, prepared.trajectories
    codes = study.values[:, :, [v.name for v in study.variables].index("weather")]
    levels = dict(study.variables[0].levels)
    for code, level in list(levels.items())[1:]:
        own = trajectories.states[:, :, trajectories.variables.index(f"weather: {level}")]
        inside = study.on_grid
        np.testing.assert_array_equal(own[inside], codes[inside] == code)
    assert levels[0.0] == "sun"
    assert list(levels.values())[-1] == OTHER


def test_rescaling_leaves_levels_alone_and_never_refers_to_words(frame: pd.DataFrame) -> None:
    rescaled = prepare(
        frame, roles_of_every_kind(), PreparationSettings(rescaling=RescalingSettings())
    )
    plain = prepare(frame, roles_of_every_kind())
    at = [plain.trajectories.variables.index(n) for n in ("weather: rain", "home: town")]
    np.testing.assert_array_equal(
        rescaled.trajectories.states[:, :, at], plain.trajectories.states[:, :, at]
    )
    assert rescaled.study.reference in ("move_x", "move_y", "move_z", "stress")
    settings = PreparationSettings(rescaling=RescalingSettings(reference="weather"))
    with pytest.raises(SettingError, match="weather"):
        prepare(frame, roles_of_every_kind(), settings)


def test_a_missing_level_is_the_last_one_or_the_most_frequent() -> None:
    series = np.array([np.nan, 2.0, 1.0, np.nan, 2.0, np.nan])
    assert filled_level(series, 3) == 1.0
    assert filled_level(series, 5) == 2.0
    assert filled_level(series, 0) == 2.0
    assert np.isnan(filled_level(series[:1], 0))


def test_missing_levels_and_texts_are_filled_in_and_said(frame: pd.DataFrame) -> None:
    prepared = prepare(frame, roles_of_every_kind())
    study = prepared.completed.arranged
    names = [v.name for v in study.variables]
    weather, words = names.index("weather"), names.index("diary: words 1")
    for i in range(5):
        series = study.values[i, : study.lengths[i], weather]
        filled = prepared.completed.study.values[i, : study.lengths[i], weather]
        for t in np.flatnonzero(np.isnan(series)):
            assert filled[t] == filled_level(series, int(t))
    gaps = prepared.completed.origin[:, :, words] == Cell.IMPUTED
    assert gaps.any()
    assert not prepared.completed.study.values[gaps, words].any()
    said = " ".join(prepared.log["what"])
    assert "last level before" in said
    assert "count as nothing written" in said


def test_rare_levels_are_grouped_and_said(frame: pd.DataFrame) -> None:
    found = nominal_levels(frame["weather"], frame["id"])
    assert set(found.rare) == {"hail", "dust"}
    notes = [p.message for p in find_problems(frame, roles_of_every_kind())]
    assert any("2 rare levels (hail, dust" in note and "'other'" in note for note in notes)
    alone = frame.assign(weather=frame["weather"].replace("dust", "hail"))
    assert OTHER not in nominal_levels(alone["weather"], alone["id"]).names


def test_too_many_levels_have_one_clear_message(frame: pd.DataFrame) -> None:
    many = pd.concat([frame] * 8, ignore_index=True)
    many["id"] = many["id"] + "-" + (np.arange(len(many)) // len(frame)).astype(str)
    many["weather"] = [f"place {k}" for k in range(len(many))][: len(many)]
    with pytest.raises(DataError) as caught:
        arrange(many, roles_of_every_kind())
    assert f"'weather' has {len(many):,} different levels" in str(caught.value)
    assert "roup its levels" in str(caught.value)
    assert "leave it out" in str(caught.value)
    rare = frame.assign(weather=[f"place {k % 150}" for k in range(len(frame))])
    with pytest.raises(DataError, match="All 150 levels of 'weather' are rare"):
        arrange(rare, roles_of_every_kind())


def test_a_text_is_the_same_whoever_is_beside_it(frame: pd.DataFrame) -> None:
    embedding = fit_text(frame["diary"], frame["id"])
    every = embedding(frame["diary"])
    np.testing.assert_allclose(embedding([frame["diary"].iloc[7]])[0], every[7], atol=1e-14)
    np.testing.assert_array_equal(embedding(["", None, "123 ..."]), np.zeros((3, 5)))
    assert embedding(["TIRED work, boss!"]) == pytest.approx(embedding(["tired work boss"]))
    assert {w.lstrip("−") for w in embedding.words[0]} & {"tired", "happy", "good", "work"}


def test_a_word_of_few_people_is_not_named(frame: pd.DataFrame) -> None:
    told = frame.copy()
    rows = told["id"].isin(["p00", "p01"])
    told.loc[rows, "diary"] = "Zebulon " + told.loc[rows, "diary"].fillna("")
    words = fit_text(told["diary"], told["id"]).words
    assert "zebulon" not in " ".join(word for own in words for word in own)


def test_text_without_different_words_is_refused(frame: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="'diary' does not have two texts"):
        arrange(frame.assign(diary="..."), roles_of_every_kind())


def test_look_back_keeps_columns_together(frame: pd.DataFrame) -> None:
    trajectories = prepare(frame, roles_of_every_kind(lags=1)).trajectories
    assert len(trajectories.wholes["weather_lag1"]) == 4
    assert len(trajectories.wholes["movement_lag1"]) == 3
    assert len(trajectories.wholes["diary_lag1"]) == 5
    assert "home_lag1" not in trajectories.wholes
    now, before = (
        trajectories.states[:, :, trajectories.variables.index(name)]
        for name in ("weather: rain", "weather_lag1: rain")
    )
    both = np.isfinite(now[:, :-1]) & np.isfinite(before[:, 1:])
    np.testing.assert_array_equal(now[:, :-1][both], before[:, 1:][both])


def test_plan_and_file_keep_kinds(frame: pd.DataFrame, tmp_path) -> None:
    plan = AnalysisPlan(roles=roles_of_every_kind())
    again = AnalysisPlan.from_toml(plan.to_toml())
    assert again.roles == plan.roles
    assert [v.group for v in again.roles.variables][2:5] == ["movement"] * 3
    prepared = prepare(frame, roles_of_every_kind())
    write_plain(prepared, tmp_path / "prepared")
    back = read_plain(tmp_path / "prepared")
    assert back == prepared
    assert back.study.embeddings[0](["tired"]).tolist() == (
        prepared.study.embeddings[0](["tired"]).tolist()
    )


def test_table_of_participants_counts_levels(frame: pd.DataFrame) -> None:
    described = describe_variables(arrange(frame, roles_of_every_kind()))
    table = participants_table(described).set_index("variable")
    counts = frame["weather"].value_counts()
    assert f"sun: {counts['sun']}; rain: {counts['rain']}" in table.loc["weather", "levels"]
    assert np.isnan(table.loc["weather", "mean"])
    assert table.loc["weather", "type"] == "nominal"
    paper = as_in_papers(described)
    assert {"weather: sun", "home: town"} <= set(paper["Variable"])
    assert any(name.startswith("diary: words 1 (") for name in paper["Variable"])


def test_names_in_the_file_are_the_levels(frame: pd.DataFrame) -> None:
    coded = frame.assign(weather=frame["weather"].map({"sun": 1.0, "rain": 2.0, "snow": 3.0}))
    coded.attrs["value_labels"] = {"weather": {1.0: "sunny", 2.0: "rainy"}}
    levels = arrange(coded, roles_of_every_kind()).variables[0].levels
    assert [name for _, name in levels] == ["sunny", "rainy", "3"]


@pytest.mark.parametrize(
    ("states", "utility", "what"),
    [
        ([StateVariable("a", "nominal")], NextValue("a"), "must be a number"),
        ([StateVariable("a", "text")], "a", "must be a number"),
        ([StateVariable("a", group="b"), "b"], "u", "called like a state variable"),
    ],
)
def test_roles_that_cannot_be(states, utility, what) -> None:
    with pytest.raises(SettingError, match=what):
        ColumnRoles("id", "day", "treatment", states, utility)


def test_levels_that_tell_the_outcome_are_asked_about(frame: pd.DataFrame) -> None:
    leaky = frame.assign(
        weather=pd.cut(frame["score"], [-9, -2, -1, 0, 1, 2, 9], labels=list("abcdef")).astype(str)
    )
    assert "weather" in {leak.column for leak in find_leaks(leaky, roles_of_every_kind())}
    assert not find_leaks(frame, roles_of_every_kind())


def test_buckets_do_not_depend_on_the_process() -> None:
    assert (bucket("tired"), bucket("été")) == (774, 212)
