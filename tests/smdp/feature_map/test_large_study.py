"""A large study's map is sought among some people and fitted to everybody."""

import numpy as np
import pytest

from smdp.feature_map.adnn import iterate, polish
from smdp.feature_map.adnn.iterate import FitCancelled, fit_feature_map
from smdp.feature_map.transitions import some_people, transitions
from smdp.progress import Cancelled
from smdp.simulation.generative_model import simulate
from smdp.words.feature_map import result_for_methods


@pytest.fixture
def many():
    return simulate("linear", noise=3, subjects=40, times=12, seed=1).select(
        ["S1", "S2", "S3", "W1"]
    )


@pytest.fixture
def large(monkeypatch):
    """What takes 12,000 decisions otherwise."""
    monkeypatch.setattr(iterate, "ENOUGH", 200)


def test_whole_people_are_drawn_alike_from_every_fold(many):
    rows = transitions(many, 4, np.random.default_rng(0))
    some = some_people(rows, 200, np.random.default_rng(1))
    assert some.sum() == pytest.approx(200, abs=4 * 12)
    drawn = np.unique(rows.subject[some])
    assert np.isin(rows.subject, drawn).sum() == some.sum()  # all decisions of each
    people = [len(np.unique(rows.subject[some & (rows.fold == k)])) for k in range(4)]
    assert max(people) - min(people) <= 1
    again = some_people(rows, 200, np.random.default_rng(1))
    assert (again == some).all()
    assert (some_people(rows, 200, np.random.default_rng(2)) != some).any()


def test_more_people_where_an_action_is_rare(many):
    rows = transitions(many, 2, np.random.default_rng(0))
    rare = np.flatnonzero(rows.head == 1)
    kept = np.concatenate(
        [rare[(rows.fold[rare] == k) & (rows.time[rare] == 2)][:3] for k in range(2)]
    )
    head = np.zeros_like(rows.head)
    head[kept] = 1
    rows.head[:] = head
    some = some_people(rows, 60, np.random.default_rng(0))
    for k in range(2):
        own = some & (rows.fold == k) & (rows.head == 1)
        assert len(np.unique(rows.subject[own])) >= 2


def test_all_people_where_there_are_few(many):
    rows = transitions(many, 2, np.random.default_rng(0))
    assert some_people(rows, len(rows.head), np.random.default_rng(0)).all()


def test_the_map_is_of_everybody_and_says_who_was_asked(many, quick, large):
    found = fit_feature_map(many, quick, seed=3)
    (note,) = [note for note in found.notes if "drawn at random" in note]
    drawn = int(found.steps["people_drawn"].iloc[-1])
    assert f"among {drawn} of 40 people" in note
    assert f"among {drawn} of 40 people" in result_for_methods(found)
    everybody = many.states[:, :-1].reshape(-1, 4)
    assert found.centre == pytest.approx(everybody.mean(axis=0))  # by all rows
    assert found.steps["variables_count"].iloc[0] == 4
    assert np.isfinite(found.candidates["explained"]).all()


def test_the_same_seed_gives_the_same_bits(many, quick, large):
    first, again = (fit_feature_map(many, quick, seed=3) for _ in range(2))
    assert first == again


def test_the_largest_dimension_that_can_be_rejected_comes_first(many, quick, large, monkeypatch):
    tried = []

    def say(share, what):
        if "Testing dimension" in what or "testing dimension" in what:
            tried.append(int(what.rsplit(" ", 1)[1]))

    found = fit_feature_map(many, quick, seed=3, progress=say)
    columns = int(found.steps["variables_count"].iloc[0])
    assert tried[0] == columns - 1
    first = found.candidates[found.candidates["pass"] == 1]
    assert first["dimension"].is_monotonic_increasing
    assert first["dimension"].is_unique


def test_a_large_study_can_be_stopped(many, quick, large):
    def stop(share, what):
        if "everybody" in what:
            raise Cancelled

    with pytest.raises(FitCancelled) as stopped:
        fit_feature_map(many, quick, seed=3, progress=stop)
    assert stopped.value.finished is not None
    assert not stopped.value.finished.complete


def test_few_rows_are_all_used_by_the_polish_and_many_are_spaced():
    rows = np.arange(10)
    assert polish._spaced(rows, 10).tolist() == rows.tolist()
    assert polish._spaced(rows, 4).tolist() == [0, 3, 6, 9]
