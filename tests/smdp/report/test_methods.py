from __future__ import annotations

from dataclasses import replace

import pytest

from smdp.data.preparation_settings import RescalingSettings
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.policy.policy_settings import PolicySettings
from smdp.report.appendix import record_table, settings_table, version_table
from smdp.report.methods import methods_text
from smdp.report.references import REFERENCES, cited
from smdp.screening_settings import ScreeningSettings


def asked(analysis, step, **changes):
    """The methods text if a step had been asked for otherwise."""
    record = analysis.records[step]
    changed = replace(record, asked=replace(record.asked, **changes))
    results = {name: result for name, result in analysis.results.items() if name != step}
    records = {**analysis.records, step: changed}
    return " ".join(methods_text(replace(analysis, results=results, records=records)))


def test_it_says_what_was_done(analysis):
    text = " ".join(methods_text(analysis))
    for words in (
        "more than 50 % missing",
        "one more was left out by hand (2 of 14 in all)",
        "local linear regression",
        "nearest 75 %",
        "own units",
        "smallest closed set",
        "299 patterns of signs",
        "0.1 was the level of that family",
        " was included without a test",
        "arctan(Ws + b)",
        "The penalty was 0.02.",
        "Dimensions (1, 2) were tried upwards",
        "at level 0.05",
        "for this reason: two, to be quick",
        "2 samples of subjects",
        "with a discount of 0.5 and a ridge of 0.001",
        "two hidden layers of 4 units",
        "(linear: 12, neural: 2)",
        "2 folds of subjects",
        "20 bootstrap samples",
        "shuffled among the subjects who had a choice at each decision, 2 times",
        "intervals are of 90 %",
        "were known",
        "smdp 0.1.0",
    ):
        assert words in text, words


def test_only_what_is_cited_is_listed(analysis):
    paragraphs = methods_text(analysis)
    listed = cited(paragraphs)
    authors = [item.split(",")[0] for item in listed]
    assert authors == sorted(authors, key=lambda name: name.replace("é", "e"))
    assert "Rüger" not in authors
    for name in (
        "Wang",
        "Székely",
        "Chwialkowski",
        "Romano",
        "Bell",
        "Cleveland",
        "Lagoudakis",
        "Kallus",
        "Boruvka",
        "Ernst",
    ):
        assert name in authors
    assert cited(["Nothing."]) == ()
    assert len(cited(REFERENCES)) == len(REFERENCES)


@pytest.mark.parametrize(
    ("step", "changes", "words"),
    [
        (
            "screening",
            {"settings": ScreeningSettings(method="paper", rank=2)},
            "u = 2 (Rüger, 1978)",
        ),
        (
            "screening",
            {"settings": ScreeningSettings(method="paper", pooling="trajectory", permutations=299)},
            "299 permutations of whole trajectories among the subjects. Variables with a pooled "
            "p-value of at most 0.1 joined",
        ),
        (
            "screening",
            {"settings": ScreeningSettings(method="rounds", past_actions=1, ranks=True)},
            "the ranks of values standardised at each decision, over all decisions with the same "
            "action and the same action before",
        ),
        (
            "screening",
            {"settings": ScreeningSettings(force_out=("age", "sex"))},
            "age, sex were left out without a test",
        ),
        (
            "features",
            {"settings": FeatureMapSettings(test="absolute", condition="ii")},
            "condition (ii) of Lemma 3.4",
        ),
        (
            "features",
            {"settings": FeatureMapSettings(interpretable=False, depths=(1, 2))},
            "a network with 1 or 2 hidden layers",
        ),
        ("features", {"settings": FeatureMapSettings()}, "0.02, 0.05, 0.1, 0.2 by 5-fold"),
        ("features", {"kind": "pca", "settings": None}, "principal components"),
        ("features", {"kind": "tnn", "settings": None}, "separate sparse network"),
        (
            "features",
            {"kind": "identity", "use_all": False, "settings": None},
            "screening had kept, standardised",
        ),
        ("trial", {"controls": (), "moderators": ()}, "intervals are of 90 %."),
    ],
)
def test_it_follows_the_settings(analysis, step, changes, words):
    assert words in asked(analysis, step, **changes)


def test_rescaling_and_the_papers_update(analysis):
    record = analysis.records["rescaling"]
    rescaled = replace(record, asked=RescalingSettings("cigs"))
    policy = analysis.records["policy"]
    plan = replace(policy.asked[0], settings=PolicySettings(update="stochastic"))
    records = {
        **analysis.records,
        "rescaling": rescaled,
        "policy": replace(policy, asked=(plan,)),
    }
    text = " ".join(methods_text(replace(analysis, records=records)))
    assert "rescaled to the levels of 'cigs'" in text
    assert "stochastic update of Wang et al. (2017)" in text
    assert "Lagoudakis" not in text


def test_nothing_done_nothing_said(analysis):
    assert methods_text(replace(analysis, results={}, records={})) == []


def test_the_appendix_has_every_setting_seed_and_version(analysis):
    settings = settings_table(analysis)
    names = set(settings["setting"])
    for name in ("exclude_above", "imputation.span", "level", "permutations", "1.discount",
                 "2.model", "weight_limit", "seed", "repeats"):  # fmt: skip
        assert name in names, name
    by_name = settings.set_index("setting")["value"]
    assert by_name["1.discount"] == "0.5"
    assert by_name["reason"] == "two, to be quick"
    records = record_table(analysis).set_index("step")
    assert records.loc["Q-functions", "seed"] == "4, 1"
    assert records.loc["Screening", "seed"] == "3"
    assert (records["state"] == "done").all()
    versions = version_table(analysis).set_index("program")["version"]
    assert versions["smdp"] == "0.1.0"
    assert {"python", "numpy", "torch"} <= set(versions.index)
