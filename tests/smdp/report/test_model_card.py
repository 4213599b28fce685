"""The model card: as plain values in the policy's file, and as a document; its numbers are true."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from smdp.errors import SettingError
from smdp.export import policy_reader
from smdp.export.policy_file import export_policy, policy_text
from smdp.report.markdown import to_markdown_document
from smdp.report.model_card import NOT_JUDGED, build_model_card, model_card


def test_its_numbers_are_those_of_the_analysis(analysis):
    for place, value in enumerate(analysis.values, start=1):
        card = model_card(analysis, place)
        told = card["performance"]
        assert told["value"]["estimate"] == value.estimate
        assert told["gain_over_what_was_done"]["estimate"] == value.gain["estimate"]
        trusted = bool(value.gain["trusted"])
        assert (told["gain_over_what_was_done"]["lower"] is not None) == trusted
    trajectories = analysis.prepared.trajectories
    card = model_card(analysis)
    assert card["people"]["people"] == len(trajectories.subjects)
    assert card["people"]["decisions"] == int(trajectories.valid.sum())
    assert card["data"]["sha256"] == analysis.source.fingerprint
    assert card["variables"] == list(analysis.policies[0].feature_map.variables_used)


def test_the_file_has_it_and_the_reader_reads_it_all_the_same(analysis, tmp_path):
    policy, prepared = analysis.policies[0], analysis.prepared
    card = model_card(analysis)
    export_policy(policy, prepared, tmp_path / "policy.json", model_card=card)
    content = json.loads((tmp_path / "policy.json").read_text(encoding="utf-8"))["content"]
    assert content["model_card"] == json.loads(json.dumps(card))
    plain = json.loads(policy_text(policy, prepared))["content"]
    assert "model_card" not in plain
    del content["model_card"]
    assert content == plain
    assert policy_reader.__doc__


def test_the_document(analysis):
    text = to_markdown_document(build_model_card(analysis))
    assert "Not a medical device" in text
    assert "You must write this" in text
    unjudged = replace(
        analysis, results={k: v for k, v in analysis.results.items() if k != "evaluation"}
    )
    assert NOT_JUDGED.rstrip(".") in to_markdown_document(build_model_card(unjudged))


def test_without_a_policy_there_is_none(analysis):
    with pytest.raises(SettingError, match="no policy"):
        model_card(replace(analysis, results={}, records={}))
