"""The maps to compare with, and how stable a map is."""

import numpy as np
import pytest

from smdp.errors import SettingError
from smdp.feature_map.adnn.iterate import fit_feature_map
from smdp.feature_map.identity import identity_feature_map
from smdp.feature_map.pca import PcaSettings, pca_feature_map
from smdp.feature_map.stability import aligned, feature_map_stability, resampled
from smdp.feature_map.tnn import TnnSettings, tnn_feature_map
from smdp.plain_data import read_plain, write_plain


def test_identity_standardises_and_nothing_else(study):
    found = identity_feature_map(study)
    features = found.transform(study.states[:, :-1][study.valid])
    np.testing.assert_allclose(features.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(features.std(axis=0), 1)
    assert found.features == study.variables
    assert found.variables_used == study.variables


def test_components_are_as_many_as_the_variance_takes(study):
    found = pca_feature_map(study)
    states = study.states[:, :-1]
    scaled = (states - states.mean(axis=(0, 1))) / states.std(axis=(0, 1))
    centred = (scaled - scaled.mean(axis=0)).reshape(-1, 4)
    values = np.linalg.svd(centred, compute_uv=False) ** 2
    shares = np.cumsum(values) / values.sum()
    assert shares[found.dimension - 1] >= 0.9
    assert shares[found.dimension - 2] < 0.9
    np.testing.assert_allclose(found.weights @ found.weights.T, np.eye(found.dimension), atol=1e-12)
    assert pca_feature_map(study, PcaSettings(variance=1.0)).dimension == 4
    with pytest.raises(SettingError, match="'variance' must be a share above 0, at most 1"):
        PcaSettings(variance=0)


@pytest.mark.parametrize("interpretable", [True, False])
def test_networks_for_each_action_side_by_side(study, quick_networks, interpretable, tmp_path):
    settings = TnnSettings(
        **quick_networks, interpretable=interpretable, dimensions=(1, 2), depths=(1, 2)
    )
    found = tnn_feature_map(study, settings)
    assert 2 <= found.dimension <= 4
    assert found.kind == "tnn"
    write_plain(found, tmp_path)
    again = read_plain(tmp_path).transform(study.states)
    np.testing.assert_array_equal(found.transform(study.states), again)


def test_features_are_aligned_whatever_their_order_and_sign():
    reference = np.random.default_rng(0).standard_normal((50, 3))
    assert aligned(reference, np.column_stack([-reference[:, 2], reference[:, 0]])) == [
        (0, 1, 1.0),
        (2, 0, -1.0),
    ]
    assert aligned(reference[:, :1], np.zeros((50, 1))) == [(0, 0, 1.0)]


def test_copies_of_a_subject_share_a_fold(study):
    from smdp.feature_map.transitions import transitions

    sample = resampled(study, np.random.default_rng(2))
    assert len(set(sample.subjects)) < 12
    rows = transitions(sample, 2, np.random.default_rng(0))
    names = np.array(sample.subjects)[rows.row]
    assert all(len(set(rows.fold[names == name])) == 1 for name in set(names))


def test_stability(study, quick, tmp_path):
    heard: list[float] = []
    found = feature_map_stability(
        study, quick, bootstraps=3, seed=1, progress=lambda share, message: heard.append(share)
    )
    assert found.selection.index.tolist() == list(study.variables)
    assert set(found.selection.mul(3).round(9)) <= {0, 1, 2, 3}  # shares of three refits
    assert found.dimensions.sum() == pytest.approx(1)
    assert (found.weights["lower"] <= found.weights["upper"]).all()
    assert heard == sorted(heard)
    given = fit_feature_map(study, quick, seed=1)
    again = feature_map_stability(study, quick, bootstraps=3, seed=1, fitted=given)
    assert again.selection.equals(found.selection)
    write_plain(found, tmp_path)
    assert read_plain(tmp_path).weights.equals(found.weights)
    with pytest.raises(SettingError, match="'bootstraps' must be"):
        feature_map_stability(study, quick, bootstraps=1)
