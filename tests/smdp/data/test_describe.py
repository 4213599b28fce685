"""Sentences hold the actual numbers."""

from smdp.data.arrange import arrange
from smdp.data.describe import (
    describe_completed,
    describe_prepared,
    describe_study,
    rescaling_table,
    variable_table,
)
from smdp.data.guess_roles import guess_roles
from smdp.data.preparation_settings import PreparationSettings, RescalingSettings
from smdp.data.prepare import prepare
from smdp.data.read_table import read_table
from smdp.simulation.samples import sample_file
from smdp.text import percent


def test_percent():
    assert percent(0.071) == "7 %"
    assert percent(0.0712, 1) == "7.1 %"
    assert percent(0.0001) == "< 1 %"
    assert percent(0) == "0 %"


def test_sample_study_in_words():
    frame = read_table(sample_file("basics_mobile_synthetic.csv"))
    study = arrange(frame, guess_roles(frame))
    text = " ".join(describe_study(study))
    assert "30 subjects with 28 decisions each, 840 rows." in text
    assert "the next value of 'cigs' (continuous); less cigs is better, so the utility" in text
    assert "they will be estimated" in text
    assert len(variable_table(study)) == 15
    prepared = prepare(
        frame, guess_roles(frame), PreparationSettings(rescaling=RescalingSettings())
    )
    said = " ".join(describe_completed(prepared.completed) + describe_prepared(prepared))
    assert "28 of 30 subjects are kept; left out:" in said
    assert "not a measurement" in said
    assert "28 subjects, 15 state variables and 756 of 756 transitions" in said
    assert (rescaling_table(prepared)["unique values after"] > 0).all()


def test_three_actions_in_words():
    frame = read_table(sample_file("three_action_synthetic.csv"))
    text = " ".join(describe_study(arrange(frame, guess_roles(frame))))
    assert "has 3 levels: none" in text
    assert "no action could be taken" in text
    assert "without a row (gaps)" in text
    assert "Randomisation probabilities are known" in text
    assert "2 decisions a day (09:00, 18:00)" in text
