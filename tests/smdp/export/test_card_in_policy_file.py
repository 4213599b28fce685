"""The rule card in the device file: the reader says what the card says, from raw reports."""

from __future__ import annotations

import json

import numpy as np
import pytest

import smdp
from smdp.data.column_roles import ColumnRoles, NextValue
from smdp.data.preparation_settings import PreparationSettings, RescalingSettings
from smdp.export.policy_file import policy_text, use_of_card
from smdp.export.policy_reader import Policy
from smdp.policy.point_of_use import state_now
from smdp.policy.rule_card import Branch, End, Question, RuleCard
from tests.small_trial import study_frame

CARD = RuleCard(
    Branch(
        Question("stress", ("stress",), 5.0, said=5.0),
        Branch(Question("smoker", ("smoker",), 0.5, level="yes", other="no"), End(0), End(1)),
        End(1),
    ),
    ("0", "1"),
)


@pytest.fixture(scope="module")
def made():
    frame = study_frame().replace({"stress": {-9: None}}).astype({"stress": float})
    roles = ColumnRoles(
        "person",
        "day",
        "treated",
        ["stress", "craving", "noise", "smoker"],
        NextValue("craving", -1),
        probability=0.5,
    )
    prepared = smdp.prepare(frame, roles, PreparationSettings(rescaling=RescalingSettings()))
    fitted = smdp.identity_feature_map(prepared.trajectories.select(["craving"]))
    policy = smdp.learn_policy(prepared.trajectories, fitted, smdp.PolicySettings(bootstraps=2))
    return policy, prepared


def test_the_reader_says_what_the_card_says(made):
    policy, prepared = made
    text = policy_text(policy, prepared, card=CARD)
    assert json.loads(text)["version"] == 3
    reader = Policy(text)
    use = use_of_card(CARD, prepared)
    random = np.random.default_rng(2)
    for _ in range(60):
        count = int(random.integers(1, 6))
        reports = [
            {
                "stress": None if random.random() < 0.3 else float(random.uniform(0, 10)),
                "smoker": float(random.integers(0, 2)),
                "craving": 4.0,
            }
            for _ in range(count)
        ]
        asked = [{name: value for name, value in r.items() if name != "craving"} for r in reports]
        state = state_now(use, asked).values.to_numpy()
        wanted = CARD.recommend(state)
        answer = reader.card(reports)
        assert answer["recommendation"] == CARD.action_labels[int(wanted)]
        assert answer["answers"][0][0] == "stress ≥ 5"
    assert reader.card(reports, available=False)["why"] == "unavailable"
    assert reader.card(reports, available=["0"])["recommendation"] == "0"
    assert reader.recommend(reports)["best"] in ("0", "1")


def test_without_a_card_the_file_is_as_before(made):
    reader = Policy(policy_text(*made))
    with pytest.raises(ValueError, match="no rule card"):
        reader.card([{"craving": 3.0}])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"action": 7}, "unknown action"),
        ({"question": "x", "columns": [9], "cut": 0.0, "turned": False}, "not there"),
        ({"question": "x"}, "is missing"),
        ([], "no table"),
    ],
)
def test_a_spoilt_card_is_refused(made, change, problem):
    import hashlib

    file = json.loads(policy_text(*made, card=CARD))
    file["content"]["card"]["tree"] = change
    exact = json.dumps(file["content"], sort_keys=True, separators=(",", ":"))
    file["fingerprint"] = hashlib.sha256(exact.encode()).hexdigest()
    with pytest.raises(ValueError, match=problem):
        Policy(json.dumps(file))
