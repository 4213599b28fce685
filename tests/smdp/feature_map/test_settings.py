"""Settings that cannot be are refused by name."""

import pytest

from smdp.errors import SettingError
from smdp.feature_map.adnn.map_settings import FeatureMapSettings


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"level": 1.0}, "'level' must be a probability"),
        ({"margin": -0.1}, "'margin' must be a share"),
        ({"folds": 1}, "'folds' must be a whole number of at least 2"),
        ({"dimensions": ()}, "'dimensions' must be a list of whole numbers"),
        ({"dimensions": (0,)}, "'dimensions' must be a list of whole numbers"),
        ({"widths": (2.5,)}, "'widths' must be a list of whole numbers"),
        ({"penalties": (-0.1,)}, "'penalties' must be a list of numbers of at least 0"),
        ({"penalties": 0.1}, "'penalties' must be a list"),
        ({"activation": "sine"}, "'activation' must be 'arctan', 'tanh' or 'relu'"),
        ({"test": "both"}, "'test' must be 'closed', 'next_state', 'absolute' or 'relative'"),
        ({"condition": "ii"}, "'condition' must be 'i' unless 'test' is 'absolute'"),
        ({"weak_columns": 1.0}, "'weak_columns' must be a share of at least 0, below 1"),
        ({"learning_rate": 0.0}, "'learning_rate' must be a number above 0"),
        ({"restarts": 0}, "'restarts' must be a whole number of at least 1"),
        ({"steps": True}, "'steps' must be a whole number"),
    ],
)
def test_refused(given, message):
    with pytest.raises(SettingError, match=message):
        FeatureMapSettings(**given)


def test_candidates_are_sorted_and_single():
    assert FeatureMapSettings(dimensions=[3, 1, 3]).dimensions == (1, 3)
