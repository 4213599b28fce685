"""Stopped work keeps what is finished, and says that it was stopped."""

from dataclasses import replace

import pytest

from smdp.errors import DataError
from smdp.feature_map.adnn.iterate import FitCancelled, fit_feature_map
from smdp.feature_map.stability import StabilityCancelled, feature_map_stability
from smdp.plain_data import read_plain, write_plain
from smdp.progress import Cancelled
from smdp.words.feature_map import stopped_notice


def stop_at(words):
    def progress(share, message):
        if words in message:
            raise Cancelled

    return progress


def test_a_map_stopped_between_passes_says_so(study, quick, tmp_path):
    shrinking = replace(quick, penalties=(0.6,), steps=200, dimensions=(1,), reason="one score")
    with pytest.raises(FitCancelled) as stopped:
        fit_feature_map(study, shrinking, progress=stop_at("Pass 2"))
    kept = stopped.value.finished
    assert not kept.complete
    assert stopped_notice(kept).startswith("Stopped after pass 1; not iterated to the end.")
    write_plain(kept, tmp_path)
    loaded = read_plain(tmp_path)
    assert not loaded.complete
    assert loaded.settings.reason == "one score"


def test_stopped_at_the_very_end_it_is_complete(study, quick):
    with pytest.raises(FitCancelled) as stopped:
        fit_feature_map(study, quick, progress=stop_at("is fitted"))
    assert stopped.value.finished.complete
    assert fit_feature_map(study, quick).complete


def test_refits_that_are_done_are_kept(study, quick):
    fitted = fit_feature_map(study, quick)
    with pytest.raises(StabilityCancelled) as stopped:
        feature_map_stability(
            study, quick, bootstraps=5, fitted=fitted, progress=stop_at("Refit 2")
        )
    assert stopped.value.finished is None  # one refit says nothing of stability
    with pytest.raises(StabilityCancelled) as stopped:
        feature_map_stability(
            study, quick, bootstraps=5, fitted=fitted, progress=stop_at("Refit 3")
        )
    assert stopped.value.finished.bootstraps == 2
    assert not stopped.value.finished.complete


def test_a_map_of_another_set_of_variables_is_refused(study, quick):
    fitted = fit_feature_map(study, quick)
    fitted.require_variables(study.variables)
    other = replace(study, variables=("S1", "S2", "S3", "stress"))
    message = r"another set of variables: the data have no W1 and the map does not know stress"
    with pytest.raises(DataError, match=message):
        feature_map_stability(other, quick, bootstraps=2, fitted=fitted)
    with pytest.raises(DataError, match="theirs have another order"):
        fitted.require_variables(study.variables[::-1])
