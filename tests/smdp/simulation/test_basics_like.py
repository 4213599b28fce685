"""The synthetic studies have the shape, the gaps and the truth that their docstrings promise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from smdp.errors import SettingError
from smdp.simulation.basics_like import (
    NOISE,
    REPORTS,
    SELF_REPORTS,
    STATES,
    basics_like,
    standardised_effects,
    treatment_effect,
)
from smdp.simulation.three_action import ACTIONS, WALKING_STATES, three_action

OUTCOME = "next_cigs"


@pytest.fixture(scope="module")
def study() -> pd.DataFrame:
    return basics_like()


@pytest.fixture(scope="module")
def kept(study: pd.DataFrame) -> pd.DataFrame:
    missing = study[list(STATES)].isna().mean(axis=1).groupby(study["student"]).mean()
    return study[study["student"].map(missing) <= 0.5]


@pytest.fixture(scope="module")
def large() -> pd.DataFrame:
    return basics_like(seed=5, subjects=600)


@pytest.fixture(scope="module")
def large_complete() -> pd.DataFrame:
    return basics_like(seed=5, subjects=600, missing=False)


def interactions(frame: pd.DataFrame, also: tuple[str, ...] = ()) -> pd.DataFrame:
    """Least squares of the next cigarettes; standard errors clustered by student (sandwich)."""
    frame = frame.copy()
    of_student = frame.groupby("student")
    frame[OUTCOME] = of_student["cigs"].shift(-1)
    frame["doses"] = (
        of_student["module"].transform(lambda m: m.shift(1).rolling(4, min_periods=1).sum())
    ).fillna(0)
    frame["calm"] = 10 - frame["stress"]
    modifiers = ["weekend", "calm", "quit_attempts", "doses", *also]
    frame = frame.dropna(subset=[OUTCOME, "cigs", "urge", "drinks", *modifiers])
    main = frame[["cigs", "urge", "drinks", "dependence"]].to_numpy(dtype=float)
    modifier = (frame[modifiers] - frame[modifiers].mean()).to_numpy(dtype=float)
    module = frame[["module"]].to_numpy(dtype=float)
    design = np.hstack([np.ones_like(module), main, modifier, module, module * modifier])
    outcome = frame[OUTCOME].to_numpy(dtype=float)

    inverse = np.linalg.inv(design.T @ design)
    estimate = inverse @ design.T @ outcome
    scores = design * (outcome - design @ estimate)[:, None]
    by_student = pd.DataFrame(scores).groupby(frame["student"].to_numpy()).sum().to_numpy()
    errors = np.sqrt(np.diag(inverse @ by_student.T @ by_student @ inverse))
    names = ["module", *modifiers]
    table = pd.DataFrame({"estimate": estimate, "error": errors}).tail(len(names))
    return table.set_axis(names, axis=0)


def test_the_shape_is_that_of_basics_mobile(study: pd.DataFrame) -> None:
    assert study["student"].nunique() == 30
    assert (study.groupby("student")["report"].agg(list).map(len) == REPORTS).all()
    assert len(STATES) == 15
    assert set(STATES) < set(study.columns)
    assert study["report"].unique().tolist() == list(range(1, 29))
    assert set(study["module"]) == {0, 1}


def test_the_same_seed_gives_the_same_study_and_leaves_the_global_state_alone() -> None:
    np.random.seed(1)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    first = basics_like(seed=3, subjects=5)
    assert np.random.random() == expected  # noqa: NPY002
    pd.testing.assert_frame_equal(first, basics_like(seed=3, subjects=5))
    assert not first.equals(basics_like(seed=4, subjects=5))


def test_too_few_subjects_are_refused() -> None:
    with pytest.raises(SettingError, match="'subjects' must be more than 2"):
        basics_like(subjects=2)


def test_excluding_at_one_half_leaves_28_students(kept: pd.DataFrame) -> None:
    assert kept["student"].nunique() == 28


def test_the_two_dropouts_miss_more_than_60_percent_but_no_variable_whole(
    study: pd.DataFrame, kept: pd.DataFrame
) -> None:
    dropouts = study[~study["student"].isin(kept["student"])]
    share = dropouts[list(STATES)].isna().mean(axis=1).groupby(dropouts["student"]).mean()
    assert len(share) == 2
    assert (share > 0.6).all()
    assert (study.groupby("student")[list(STATES)].count() > 0).all(axis=None)


def test_a_tenth_of_the_self_reports_is_missing_and_nothing_else(kept: pd.DataFrame) -> None:
    missing = kept.isna().mean()
    assert missing[list(SELF_REPORTS)].mean() == pytest.approx(0.10, abs=0.015)
    assert missing.drop(list(SELF_REPORTS)).sum() == 0


def test_more_is_missing_in_the_evening_and_under_stress(
    large: pd.DataFrame, large_complete: pd.DataFrame
) -> None:
    lost = large[list(SELF_REPORTS)].isna().mean(axis=1)
    evening = large["period"] == "evening"
    stress = large_complete["stress"]
    assert lost[evening].mean() > 1.3 * lost[~evening].mean()
    assert lost[stress >= 7].mean() > 2 * lost[stress <= 3].mean()
    pd.testing.assert_frame_equal(
        large.dropna().astype(dict.fromkeys(SELF_REPORTS, "int64")),
        large_complete.loc[large.dropna().index],
    )


def test_cigs_has_18_values_up_to_20_and_no_state_has_more(kept: pd.DataFrame) -> None:
    values = kept[list(STATES)].nunique()
    assert values["cigs"] == 18
    assert kept["cigs"].max() == 20
    assert values.drop("cigs").max() <= 12


def test_the_coin_is_fair_and_blind(large_complete: pd.DataFrame) -> None:
    n = len(large_complete)
    assert large_complete["module"].mean() == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(n))
    correlation = large_complete[list(STATES)].corrwith(large_complete["module"])
    assert correlation.abs().max() < 4 / np.sqrt(n)


def test_weekend_differs_between_students_at_each_report(kept: pd.DataFrame) -> None:
    """Tests at one time see nothing of a variable that is the same for everybody."""
    assert (kept.groupby("report")["weekend"].nunique() == 2).all()


@pytest.mark.parametrize("lost", [False, True], ids=["complete", "with gaps"])
def test_the_planted_interactions_show_in_a_large_sample(
    lost: bool, large: pd.DataFrame, large_complete: pd.DataFrame
) -> None:
    table = interactions(large if lost else large_complete)
    z = table["estimate"] / table["error"]
    assert (z[["module", "weekend", "calm", "quit_attempts"]] < -6).all()
    assert z["doses"] > 6


def test_noise_does_not_modify_the_treatment(large_complete: pd.DataFrame) -> None:
    table = interactions(large_complete, also=NOISE).loc[list(NOISE)]
    assert (table["estimate"] / table["error"]).abs().max() < 3.5


def test_the_study_itself_agrees_with_the_planted_interactions(
    kept: pd.DataFrame, large_complete: pd.DataFrame
) -> None:
    """Within chance: with effects of this size, 28 students need not show each of them."""
    table, truth = interactions(kept), interactions(large_complete)["estimate"]
    assert ((table["estimate"] - truth) / table["error"]).abs().max() < 2.5


def test_effects_are_of_the_size_that_trials_report(large_complete: pd.DataFrame) -> None:
    table = standardised_effects(large_complete)
    assert table.abs().max(axis=None) <= 0.5
    assert -0.3 < table.loc["module", "effect"] < -0.1
    moderation = table["moderation"].abs()
    assert moderation[moderation > 0].between(0.1, 0.4).all()
    under_treatment = table["effect"] - table["moderation"]
    assert under_treatment.abs().max() <= 0.5


def test_one_treatment_lowers_the_next_cigarettes_by_its_effect() -> None:
    """The same students twice, with and without treatment at the tenth report."""
    asked = iter(range(1, REPORTS + 1))
    treated, untreated = (
        basics_like(seed=6, subjects=2000, missing=False, assign=assign)
        for assign in (
            lambda state: np.full(len(state), next(asked) == 10),
            lambda state: np.zeros(len(state)),
        )
    )
    now, after = untreated["report"] == 10, untreated["report"] == 11
    saved = (untreated["cigs"] - treated["cigs"])[after].to_numpy()
    planted = treatment_effect(untreated[now])
    far_from_the_ends = untreated.loc[now, "cigs"].between(6, 10).to_numpy()
    slope, start = np.polyfit(planted[far_from_the_ends], saved[far_from_the_ends], 1)
    assert slope == pytest.approx(1, abs=0.1)
    assert start == pytest.approx(0, abs=0.1)


def test_students_differ_in_their_own_level(large_complete: pd.DataFrame) -> None:
    """About two fifths of the variance of the cigarettes lies between students."""
    of_student = large_complete.groupby("student")["cigs"]
    within = of_student.var().mean()
    between = of_student.mean().var() - within / REPORTS
    assert 0.35 < between / (between + within) < 0.55


def test_a_rule_beats_the_coin_and_worn_out_treatment_is_no_better_than_none() -> None:
    def cigs(assign) -> float:
        frame = basics_like(seed=8, subjects=1000, missing=False, assign=assign)
        return frame.loc[frame["report"] > 1, "cigs"].mean()

    never = cigs(lambda state: np.zeros(len(state)))
    always = cigs(lambda state: np.ones(len(state)))
    coin = cigs(None)
    ruled = cigs(lambda state: treatment_effect(state) > 0.5)
    assert ruled + 0.3 < coin < never - 0.2
    assert always == pytest.approx(never, abs=0.1)


def test_the_study_is_stable_and_its_reports_resemble_their_predecessors(
    large_complete: pd.DataFrame,
) -> None:
    halves = large_complete[large_complete["report"] > 4].groupby("report")[list(SELF_REPORTS)]
    assert (halves.mean().iloc[:4].mean() - halves.mean().iloc[-4:].mean()).abs().max() < 0.6
    before = large_complete.groupby("student")[["stress", "urge", "cigs"]].shift(1)
    assert (large_complete[["stress", "urge", "cigs"]].corrwith(before) > 0.4).all()


def test_the_three_action_study_has_unequal_lengths_gaps_and_availability() -> None:
    frame = three_action()
    rows = frame.groupby("person").size()
    assert len(rows) == 24
    assert rows.between(20, 30).all()
    assert rows.nunique() > 3
    assert set(frame["time"].dt.hour) == {9, 18}
    assert not frame.duplicated(["person", "time"]).any()
    days = frame.groupby("person")["time"].agg(lambda t: (t.iloc[-1] - t.iloc[0]).days)
    assert (2 * (days + 1) > rows + 1).any(), "some slots are skipped"
    assert 0.02 < frame[list(WALKING_STATES)].isna().mean().mean() < 0.1

    unavailable = frame["available"] == 0
    assert 0.02 < unavailable.mean() < 0.15
    assert frame["action"].isna().equals(unavailable)
    assert set(frame["action"].dropna()) == set(ACTIONS)


def test_the_three_actions_follow_their_probabilities_and_their_truth() -> None:
    frame = three_action(seed=7, subjects=300)
    frame = frame[frame["available"] == 1]
    chances = frame[[f"prob_{name}" for name in ACTIONS]]
    assert np.allclose(chances.sum(axis=1), 1)
    for name in ACTIONS:
        expected = frame[f"prob_{name}"].mean()
        assert (frame["action"] == name).mean() == pytest.approx(expected, abs=0.02)

    def gain(action: str, where: pd.Series) -> float:
        walked = frame[where].groupby("action")["outcome_walked"].mean()
        return walked[action] - walked["none"]

    assert gain("message", frame["pain"] <= 4) > gain("message", frame["pain"] > 4) + 6
    assert gain("call", frame["mood"] <= 3) > gain("call", frame["mood"] > 3) + 9
