"""What a device wrote down, and what New data make of it."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest
from small_cohorts import cohort, first_study

from smdp.export.policy_file import export_policy
from smdp.export.policy_reader import Log, Policy, chance_of
from smdp.validation.device_log import is_device_log, replayed
from smdp.validation.new_data import check_new_data
from smdp.validation.new_data_settings import NewDataSettings


@pytest.fixture(scope="module")
def policy_file() -> str:
    _, prepared, policy, _ = first_study()
    target = io.StringIO()
    export_policy(policy, prepared, target)
    return target.getvalue()


def written(text: str, path, people: int, days: int, **how: object) -> list[dict]:
    """Answers given to people whose moods come and go, some of them not reported."""
    random = np.random.default_rng(4)
    log = Log(Policy(text), path, **how)
    answers = []
    for i in range(people):
        reports, actions = [], []
        for _ in range(days):
            values = random.normal(0, 1, 2).round(3).tolist()
            values = [None if random.random() < 0.05 else value for value in values]
            reports.append(dict(zip(("mood", "stress"), values, strict=True)))
            available = bool(random.random() < 0.9)
            answers.append(log.decide(f"p{i}", reports, actions, available))
            actions.append(answers[-1]["action"])
    return answers


def test_replaying_10000_decisions_gives_those_of_the_device(policy_file, tmp_path):
    answers = written(policy_file, tmp_path / "log.csv", 400, 25, explore=0.2, seed=7)
    frame = pd.read_csv(tmp_path / "log.csv")
    assert len(frame) == len(answers) == 10_000
    again = replayed(frame, policy_file)
    assert (again.decisions, again.same, again.first_other) == (10_000, 10_000, "")
    assert again.other_policy == 0
    assert frame["treated"].notna().sum() == sum(a["action"] is not None for a in answers)


def test_probabilities_are_those_of_the_draws(policy_file, tmp_path):
    answers = written(policy_file, tmp_path / "log.csv", 100, 20, explore=0.3, seed=1)
    decided = [a for a in answers if a["action"] is not None]
    given = [a["probabilities"][a["action"]] for a in decided]
    assert set(np.round(given, 6)) == {0.15, 0.85}
    usual = np.mean([a["probabilities"][a["action"]] > 0.5 for a in decided])
    assert usual == pytest.approx(0.85, abs=0.025)
    assert all(sum(a["probabilities"].values()) == pytest.approx(1) for a in decided)


def test_without_exploration_it_does_what_it_recommends(policy_file, tmp_path):
    for answer in written(policy_file, tmp_path / "log.csv", 5, 10):
        if answer["recommendation"] is not None:
            assert answer["action"] == answer["recommendation"]
            assert answer["probabilities"][answer["action"]] == 1


def test_the_same_seed_draws_the_same(policy_file, tmp_path):
    one = written(policy_file, tmp_path / "one.csv", 5, 10, explore=0.5, seed=2)
    two = written(policy_file, tmp_path / "two.csv", 5, 10, explore=0.5, seed=2)
    other = written(policy_file, tmp_path / "other.csv", 5, 10, explore=0.5, seed=3)
    assert [a["action"] for a in one] == [a["action"] for a in two]
    assert [a["action"] for a in one] != [a["action"] for a in other]


def test_another_decision_is_found(policy_file, tmp_path):
    written(policy_file, tmp_path / "log.csv", 3, 10)
    frame = pd.read_csv(tmp_path / "log.csv", dtype={"recommended": object})
    frame.loc[12, "recommended"] = "something else"
    again = replayed(frame, policy_file)
    assert again.same == 29
    assert again.first_other == "p1 at 3"


def test_new_data_open_it_with_its_roles(policy_file, tmp_path):
    frame, prepared, policy, value = first_study()
    written(policy_file, tmp_path / "log.csv", 30, 20, explore=0.4, seed=5)
    log = pd.read_csv(tmp_path / "log.csv")
    assert is_device_log(log, prepared.trajectories.action_labels)
    assert not is_device_log(cohort(), prepared.trajectories.action_labels)
    settings = NewDataSettings(draws=99, bootstraps=20)
    found = check_new_data(log, frame, prepared, [policy], settings, predicted=[value])
    assert found.device_log
    assert found.people == 30
    assert "no outcome" in " ".join(map(str, found.found)), "a device does not see outcomes"
    log["steps"] = np.random.default_rng(1).normal(0, 1, len(log))
    found = check_new_data(log, frame, prepared, [policy], settings, predicted=[value])
    own = found.policies[0].value
    assert own is not None
    assert own.positivity["smallest"].min() == pytest.approx(0.2), "as the device drew"
    assert not found.policies[0].gain_comparable, "what was done is the policy, nearly"


def test_a_file_that_is_no_log_is_not_written_to(policy_file, tmp_path):
    (tmp_path / "log.csv").write_text("person,day\n1,2\n")
    with pytest.raises(ValueError, match="no log of this policy"):
        Log(Policy(policy_file), tmp_path / "log.csv")
    with pytest.raises(ValueError, match="'explore'"):
        Log(Policy(policy_file), tmp_path / "other.csv", explore=2)
    with pytest.raises(ValueError, match="'otherwise'"):
        Log(Policy(policy_file), tmp_path / "other.csv", otherwise="nonsense")


def test_it_appends(policy_file, tmp_path):
    log = Log(Policy(policy_file), tmp_path / "log.csv")
    log.decide("a", [{"mood": 1.0}], when="2024-01-01")
    Log(Policy(policy_file), tmp_path / "log.csv").decide("a", [{"mood": 1.0}, {"mood": 2.0}])
    frame = pd.read_csv(tmp_path / "log.csv")
    assert frame["day"].tolist() == [1, 2]
    assert frame["logged at"].iloc[0] == "2024-01-01"
    assert json.loads(frame["possible actions"].iloc[0]) == ["0", "1"]
    assert chance_of("1") in frame
