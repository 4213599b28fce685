"""Studies drawn from a twin: like the study, and true or untrue as they were asked to be."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from study_of_every_kind import roles_of_every_kind, table_of_every_kind

import smdp
from smdp.errors import DataError, SettingError
from smdp.feature_map.identity import identity_feature_map, no_features
from smdp.plain_data import fingerprint
from smdp.progress import Cancelled
from smdp.simulation.basics_like import basics_like
from smdp.simulation.generative_model import simulate
from smdp.validation.twin import WORLDS, fit_twin
from smdp.validation.twin_settings import TwinSettings
from smdp.validation.twin_study import TwinCancelled, rate_in_truth, repeat_on_twin
from smdp.words.twin import describe_twin, twin_table


def twin_of(study, *names):
    own = identity_feature_map(study.select(names)) if names else no_features()
    return fit_twin(study, own)


@pytest.fixture(scope="module")
def linear():
    return simulate("linear", subjects=16, times=40, seed=5).select(("S1", "S2", "S3", "S4", "S30"))


@pytest.fixture(scope="module")
def students():
    frame = basics_like(3)
    rescaled = smdp.PreparationSettings(rescaling=smdp.RescalingSettings())
    return smdp.prepare(frame, smdp.guess_roles(frame), rescaled).trajectories


@pytest.fixture(scope="module")
def every_kind():
    frame = table_of_every_kind(people=14, decisions=16)
    return smdp.prepare(frame, roles_of_every_kind()).trajectories


def holds_like(study, drawn):
    assert (np.isfinite(study.states) == np.isfinite(drawn.states)).all()
    assert (np.isfinite(study.utilities) == np.isfinite(drawn.utilities)).all()
    assert ((study.actions >= 0) == (drawn.actions >= 0)).all()
    for name in ("valid", "available", "probabilities"):
        np.testing.assert_array_equal(getattr(study, name), getattr(drawn, name))
    assert drawn.about == study.about
    assert drawn.subjects == study.subjects
    assert drawn.action_labels == study.action_labels
    for j, about in enumerate(study.about):
        # What came before is one of the values of the present variable.
        present = [k for k, each in enumerate(study.about) if each.column == about.column]
        seen = study.states[:, :, present][np.isfinite(study.states[:, :, present])]
        made = drawn.states[:, :, j][np.isfinite(drawn.states[:, :, j])]
        assert seen.min() <= made.min()
        assert made.max() <= seen.max()
        if len(np.unique(seen)) <= 20:
            assert set(made) <= set(seen)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("which", ["linear", "students", "every_kind"])
def test_a_draw_has_the_form_of_the_study(which, world, request):
    study = request.getfixturevalue(which)
    names = {"linear": ("S1", "S2"), "students": ("weekend", "cigs")}.get(which)
    twin = twin_of(study, *(names or ("weather", "movement", "stress")))
    drawn = twin.draw(1, world=world)
    holds_like(study, drawn)
    assert drawn == twin.draw(1, world=world)
    assert drawn != twin.draw(2, world=world)
    for whole in ("weather",) if which == "every_kind" else ():
        parts = drawn.states[:, :, list(drawn.wholes[whole])]
        assert np.isin(np.nansum(parts, axis=2), (0, 1)).all(), "one level at a time"


def test_more_people_and_fewer(linear):
    twin = twin_of(linear, "S1")
    assert len(set(twin.draw(1, people=40).subjects)) == 40
    assert len(set(twin.draw(1, people=5).subjects)) == 5
    assert twin.draw(1, planted=False) == twin.draw(1, world="no gain")
    with pytest.raises(SettingError, match="world of a twin"):
        twin.draw(1, world="flat")


def test_what_was_learned_is_planted_and_can_be_taken_out():
    study = simulate("linear", subjects=30, times=60, seed=1).select(("S1", "S2", "S3", "S4"))
    twin = twin_of(study, *study.variables)
    assert twin.explained > 0.95

    def slopes(world):
        drawn = twin.draw(3, world=world)
        rows = drawn.rows()
        taken, s = rows.at(drawn.actions), rows.at(drawn.states)
        u = rows.at(drawn.utilities)
        return np.array([np.linalg.lstsq(np.c_[s, np.ones(len(s))][taken == a], u[taken == a],
                                         rcond=None)[0][:4] for a in (0, 1)])  # fmt: skip

    true = np.array([[2, 2, -1, -1], [-1, -1, 2, 2]])
    assert np.abs(slopes("as learned") - true).max() < 0.25
    none = slopes("no gain")
    assert np.abs(none[0] - none[1]).max() < 0.1
    assert np.abs(none - 0.5).max() < 0.25
    assert np.abs(slopes("nothing")).max() < 0.1


def test_chance_dependence_is_not_planted():
    """The utility's own accidents with a variable that is noise do not come back.

    Beside what both have in common at each time, as in screening: that is of the study's days.
    """
    study = simulate("linear", subjects=12, times=30, seed=8).select(
        ("S1", "S2", "S3", "S4", "S40")
    )
    lucky = study.utilities + 0.15 * study.states[:, :-1, 4]
    study = replace(study, utilities=lucky)
    twin = twin_of(study, "S1", "S2", "S3", "S4")
    found = []
    for seed in range(12):
        drawn = twin.draw(seed, world="nothing")
        u, s = drawn.utilities, drawn.states[:, :-1, 4]
        of_day = [each - each.mean(axis=0) for each in (u, s)]
        found.append(np.corrcoef(*(each.ravel() for each in of_day))[0, 1])
    assert abs(np.mean(found)) < 3 * np.std(found, ddof=1) / np.sqrt(12), found


def test_the_outcome_stays_the_next_value_of_its_variable(students):
    twin = twin_of(students, "weekend", "stress", "cigs")
    assert twin.follows is not None
    column, a, b = twin.follows
    assert students.variables[column] == "cigs"
    drawn = twin.draw(4)
    rows = drawn.rows()
    assert np.allclose(rows.at(drawn.utilities), a + b * rows.after(drawn.states)[:, column])


def test_earlier_values_and_actions_are_remembered():
    frame = table_of_every_kind(people=10, decisions=14)
    study = smdp.prepare(frame, roles_of_every_kind(lags=1, action_lags=2)).trajectories
    drawn = twin_of(study, "stress").draw(2)
    holds_like(study, drawn)
    now, before = (study.variables.index(name) for name in ("stress", "stress_lag1"))
    follows = study.valid[:, :-1] & study.valid[:, 1:]
    here, after = drawn.states[:, :-2][follows], drawn.states[:, 1:-1][follows]
    assert (after[:, before] == here[:, now]).all()


def test_too_few_people_and_an_unknown_variable_are_clear(linear):
    with pytest.raises(DataError, match="5 people with usable decisions"):
        twin_of(linear.take(np.arange(5)), "S1")
    with pytest.raises(DataError, match="uses the variable S1"):
        fit_twin(linear.select(("S2",)), identity_feature_map(linear.select(("S1",))))


def test_one_decision_a_person_and_nothing_kept(linear):
    one = replace(linear, states=linear.states[:, :2], actions=linear.actions[:, :1],
                  utilities=linear.utilities[:, :1], valid=linear.valid[:, :1],
                  available=linear.available[:, :1],
                  probabilities=linear.probabilities[:, :1])  # fmt: skip
    holds_like(one, twin_of(one, "S1").draw(1))
    bare = twin_of(linear)
    assert bare.planted == ()
    assert "uses no variable" in bare.notes[0]
    holds_like(linear, bare.draw(1))


QUICK = TwinSettings(repetitions=2, repeated="screening")


def test_repetitions_say_how_often_it_is_found(linear):
    fitted = identity_feature_map(linear.select(("S1", "S2", "S3", "S4")))
    found = repeat_on_twin(linear, fitted, settings=QUICK, seed=3)
    assert found.planted == ("S1", "S2", "S3", "S4")
    assert found.all_planted == (2, 2)
    assert found.complete
    table = found.table.set_index("variable")
    assert table.loc["S1", "kept"] == 2
    assert table.loc["S1", "kept_lower"] == pytest.approx(0.3424, abs=1e-4)
    assert not table.loc["S30", "planted"]
    assert (table.loc["S1", "true_lower"], table.loc["S1", "true_upper"]) == rate_in_truth(2, 2)
    assert np.isnan(table.loc["S30", "true_lower"])
    said = " ".join(describe_twin(found))
    assert "the true rates lie within: S1 8 % to 100 %" in said
    assert twin_table(found)["true rate, 95 %"].tolist() == ["8 % to 100 %"] * 4 + [""]
    assert fingerprint(found) == fingerprint(repeat_on_twin(linear, fitted, settings=QUICK, seed=3))


@pytest.mark.parametrize("power", [0.2, 0.5, 0.9])
def test_the_true_rate_lies_where_it_is_said_to(power):
    """A test's statistic is normal about z; its study's twin has the power at what it estimated."""
    random = np.random.default_rng(5)
    studies = ndtr(ndtri(power) + random.normal(size=400))
    ranges = [rate_in_truth(k, 20) for k in random.binomial(20, studies)]
    covered = np.mean([low <= power <= high for low, high in ranges])
    assert covered >= 0.93
    assert rate_in_truth(20, 20)[0] > rate_in_truth(15, 20)[0] > rate_in_truth(1, 20)[0]
    assert rate_in_truth(1000, 1000)[0] > rate_in_truth(20, 20)[0]


def test_stopped_it_goes_on_from_what_is_finished(linear):
    fitted = identity_feature_map(linear.select(("S1", "S2")))

    def stop(share, message):
        if share >= 0.5:
            raise Cancelled

    with pytest.raises(TwinCancelled) as caught:
        repeat_on_twin(linear, fitted, settings=QUICK, progress=stop)
    partly = caught.value.finished
    assert not partly.complete
    assert 0 < len(partly.repetitions) < 4
    whole = repeat_on_twin(linear, fitted, settings=QUICK)
    assert repeat_on_twin(linear, fitted, settings=QUICK, earlier=partly) == whole
    more = replace(QUICK, repetitions=3)
    again = repeat_on_twin(linear, fitted, settings=more, earlier=whole)
    assert again.repetitions[:4] == whole.repetitions
    assert len(again.repetitions) == 6
