"""New people before a frozen analysis: what is said of them, and what is done with their table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from small_cohorts import ROLES, cohort, first_study

import smdp
from smdp.data.preparation_settings import PreparationSettings, RescalingSettings
from smdp.errors import DataError, SettingError
from smdp.plain_data import fingerprint
from smdp.validation.new_data import NewDataCheck, check_new_data
from smdp.validation.new_data_settings import NewDataSettings
from smdp.validation.verdict import judge

QUICK = NewDataSettings(draws=199, bootstraps=40, refit_level=0.06)


def checked(new: pd.DataFrame, **more: object) -> NewDataCheck:
    frame, prepared, policy, value = first_study()
    given = {"predicted": [value], "seed": 3} | more
    return check_new_data(new, frame, prepared, {"linear": policy}, QUICK, **given)


def said(found: NewDataCheck) -> str:
    return " ".join(map(str, (*found.found, *found.not_done)))


def test_people_like_the_first_keep_the_policy():
    found = checked(cohort(seed=12, name="b"))
    assert found.verdict.decision == "keep"
    assert found.people == 24
    assert found.not_done == ()
    own = found.policies[0]
    assert own.value is not None
    assert not own.value.cross_fitted
    assert own.beside["what"].tolist() == ["value", "gain"]
    assert own.calibration.lower < 1 < own.calibration.upper
    assert own.advised["share"].sum() == pytest.approx(1)


def test_the_same_again_to_the_last_bit():
    new = cohort(seed=12, name="b")
    assert fingerprint(checked(new)) == fingerprint(checked(new))


def test_a_reversed_effect_is_withdrawn():
    found = checked(cohort(seed=13, name="b", effect=-1.0))
    assert found.verdict.decision == "withdraw"
    assert found.verdict.gain_upper < 0
    assert found.verdict.reason("prediction").speaks_for == "refit"
    assert found.policies[0].calibration.upper < 0


def test_people_who_moved_are_refitted_and_the_variables_named():
    found = checked(cohort(seed=14, name="b", shift=0.8))
    assert found.verdict.decision == "refit"
    moved = found.likeness.table.set_index("variable")
    assert (moved.loc[["mood", "stress"], "adjusted"] <= 0.02).all()
    assert moved.loc["mood", "lower"] > 0.3
    assert (moved.loc["place", "adjusted"] > 0.05).all()


def test_levels_that_the_study_did_not_have():
    new = cohort(seed=12, name="b")
    new.loc[new.index[:30], "place"] = "the moon"
    found = checked(new)
    assert "'place' has 1 level that the first study did not have" in said(found)
    assert "30 of 600" in said(found)


def test_another_unit_is_said_by_name():
    new = cohort(seed=12, name="b")
    new["stress"] *= 10
    problem = next(p for p in checked(new).found if p.concerns == "unit")
    assert problem.about == "stress"
    assert "about 10 times larger" in problem.message


def test_what_the_policy_was_given_in_another_unit_is_not_judged():
    new = cohort(seed=12, name="b")
    new["mood"] *= 10
    found = checked(new)
    assert found.verdict.decision == "cannot tell"
    assert "'mood', which the policy uses, looks as if in another unit" in (
        found.verdict.reason("gain").why_not
    )
    frame, prepared, policy, value = first_study()
    sure = replace(QUICK, same_units=True)
    judged = check_new_data(new, frame, prepared, [policy], sure, predicted=[value], seed=3)
    assert judged.verdict.reason("people").speaks_for == "refit"


def test_an_outcome_in_another_unit_is_not_held_against_what_was_predicted():
    new = cohort(seed=12, name="b")
    new["steps"] *= 10
    found = checked(new)
    problem = next(p for p in found.found if p.concerns == "unit")
    assert problem.about == "steps"
    assert "looks like another unit" in problem.message
    assert found.policies[0].beside is None
    assert found.policies[0].calibration is None
    assert "'steps' looks as if in another unit" in found.verdict.reason("prediction").why_not
    assert found.verdict.decision == "keep", "whether it gains does not depend on the unit"


def test_a_missing_column_that_the_policy_needs():
    with pytest.raises(DataError, match="no column 'mood', which the analysis") as caught:
        checked(cohort(seed=12, name="b").drop(columns="mood"))
    assert "Name its columns" in caught.value.remedy


def test_a_needed_column_of_which_nothing_can_be_read():
    words = cohort(seed=12, name="b").assign(mood="good")
    with pytest.raises(DataError, match=r"no value of 'mood' that can be used.*holds 'good'"):
        checked(words)


def test_a_missing_column_that_nobody_needs():
    found = checked(cohort(seed=12, name="b").drop(columns=["noise", "place"]))
    assert "no columns 'noise', 'place'" in said(found)
    assert found.verdict.decision == "keep"
    assert set(found.likeness.table["variable"]) == {"mood", "stress"}


def test_what_some_people_lack_and_nobody_needs_costs_no_people():
    new = cohort(seed=12, name="b")
    new.loc[new["person"] <= "b08", "noise"] = np.nan
    found = checked(new)
    assert found.people == 24
    assert "no value at all of 'noise' of 9 of 24 people. No policy uses it" in said(found)
    assert "noise" not in set(found.likeness.table["variable"])
    new.loc[new["person"] == "b00", "mood"] = np.nan
    assert checked(new).people == 23, "what the policy needs of her is not known"


def test_without_outcomes_people_are_compared_and_the_rest_is_said():
    found = checked(cohort(seed=12, name="b").drop(columns="steps"))
    assert "no outcome (no column 'steps')" in said(found)
    assert found.likeness is not None
    assert found.policies[0].value is None
    assert found.verdict.decision == "cannot tell"
    assert found.with_outcome == 0
    empty = checked(cohort(seed=12, name="b").assign(steps=np.nan))
    for each in (found, empty):
        assert "No decision of the new table has an outcome" in said(each)
        assert "Check the roles" not in said(each)


def test_one_new_person_is_no_population():
    found = checked(cohort(people=1, seed=12, name="b"))
    assert found.people == 1
    assert found.likeness is None
    assert found.verdict.decision == "cannot tell"
    assert said(found).count("1 person of the new table cannot stand for a population") == 1
    assert len(found.not_done) == 1, "it is said once"
    assert found.policies[0].advised["share"].sum() == pytest.approx(1)


def test_copies_of_people_are_left_out():
    new = pd.concat([cohort(seed=12, name="b"), cohort().query("person <= 'a02'")])
    found = checked(new)
    assert found.people == 24
    assert "3 of 27 people of the new table have the very rows" in said(found)
    renamed = cohort().assign(person=lambda rows: "other " + rows["person"])
    with pytest.raises(DataError, match="nothing is new"):
        checked(renamed)


def test_rows_of_the_first_study_before_later_ones_are_left_out():
    later = cohort(seed=12, name="a").assign(day=lambda rows: rows["day"] + 25)
    alone = checked(later)
    both = checked(pd.concat([cohort(), later], ignore_index=True))
    assert "Rows that the first study has of the same people" in said(both)
    assert "(600)" in said(both)
    assert both.decisions == alone.decisions == 600
    assert both.policies[0].value == alone.policies[0].value
    chance = cohort(seed=12, name="a")
    chance.iloc[:4] = cohort().iloc[:4]
    assert "Rows that the first study has" not in said(checked(chance))


def test_numbers_without_end_count_as_missing():
    new = cohort(seed=12, name="b")
    new.loc[new.index[3:5], "mood"] = [np.inf, -np.inf]
    assert "'mood' holds 'inf', '-inf' in 2 rows" in said(checked(new))


def test_the_same_people_later():
    found = checked(cohort(seed=12, name="a"))
    assert found.same_people
    assert "the same people later" in said(found)
    assert found.likeness.paired == 24


def test_some_names_of_the_first_study():
    new = cohort(seed=12, name="b")
    new["person"] = new["person"].replace({"b00": "a00"})
    found = checked(new)
    assert not found.same_people
    assert "1 of 24 people of the new table have names" in said(found)


def test_actions_may_be_named_and_unknown_ones_are_not_used():
    new = cohort(seed=12, name="b").astype({"treated": object})
    new.loc[new.index[:5], "treated"] = "both"
    assert "'treated' has 'both' in 5 rows, which is no action" in said(checked(new))
    with pytest.raises(DataError, match="none of the first study's actions"):
        checked(new.assign(treated="both"))


def test_ranges_and_levels_are_those_of_the_first_study():
    """Nobody refits them: a new table of half the range does not become the whole of it."""
    frame, _, policy, _ = first_study()
    roles = smdp.ColumnRoles(
        "person", "day", "treated", ["mood", "stress", "noise"], "steps", probability=0.5
    )
    settings = PreparationSettings(rescaling=RescalingSettings("noise"))
    rescaled = smdp.prepare(frame, roles, settings)
    fitted = smdp.identity_feature_map(rescaled.trajectories.select(["mood"]))
    learned = smdp.learn_policy(rescaled.trajectories, fitted, policy.settings, seed=1)
    from smdp.validation.arrival import arrive

    new = cohort(people=6, seed=12, name="b")
    new["mood"] = new["mood"] / 2
    new.loc[new.index[0], "mood"] = 99.0
    found = arrive(new, frame, rescaled, settings.completion, needed=learned.variables)
    assert found.trajectories is not None
    low, high = rescaled.trajectories.variable("mood").rescaled_from
    own = found.trajectories.states[0, :, 0]
    expected = np.clip((new["mood"].to_numpy()[:25] - low) / (high - low), 0, 1)
    assert np.abs(own - expected).max() < 0.02
    assert own[0] == rescaled.study.levels[-1]
    assert "Values outside the first study's range: 'mood' 1 of 150" in " ".join(
        map(str, found.findings)
    )
    again = arrive(frame.assign(person="x" + frame["person"], day=frame["day"] + 1), frame,
                   rescaled, settings.completion)  # fmt: skip
    assert np.array_equal(
        again.trajectories.states, rescaled.trajectories.states, equal_nan=True
    ), "the first study's own people come out as they went in"


def test_what_cannot_be_read_counts_as_missing_and_is_said():
    new = cohort(seed=12, name="b").astype({"mood": object})
    new.loc[new.index[3], "mood"] = "fine"
    assert "'mood' holds 'fine' in 1 row" in said(checked(new))


def test_any_policy_can_be_judged():
    class Rule:
        variables = ("mood",)

        def recommend(self, states, available=None):
            return (states[..., 0] > 0).astype(int)

    frame, prepared, policy, _ = first_study()
    found = check_new_data(
        cohort(seed=12, name="b"), frame, prepared, {"rule": Rule(), "linear": policy}, QUICK
    )
    assert [each.kind for each in found.policies] == ["rule", "linear"]
    assert found.policies[0].value.gain["estimate"] > 0.2
    assert found.policies[0].calibration is None
    with pytest.raises(SettingError, match="no policy"):
        check_new_data(cohort(seed=12), frame, prepared, {}, QUICK)


def test_nothing_known_is_cannot_tell():
    verdict = judge(
        "linear", NewDataSettings(), value=None, why_no_value="no outcome", spread=1.0,
        people=None, why_no_people="one person", map_holds=None, why_no_map="", beside=None,
        gain_comparable=False, why_not_beside="",
    )  # fmt: skip
    assert verdict.decision == "cannot tell"
    assert verdict.reason("gain").why_not == "no outcome"
    assert not any(each.checked for each in verdict.reasons)


def test_the_columns_are_declared_as_the_study_has_them():
    assert ROLES.state_names == ("mood", "stress", "noise", "place")
