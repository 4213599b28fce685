"""Every kind of feature map by its name; all are fitted in the same way."""

from __future__ import annotations

from collections.abc import Callable

from smdp.feature_map.baselines import identity_feature_map, pca_feature_map, tnn_feature_map
from smdp.feature_map.iterate import fit_feature_map
from smdp.feature_map.result import FittedFeatureMap

#: Called with trajectories and settings, and by name with `seed` and `progress`.
FITTERS: dict[str, Callable[..., FittedFeatureMap]] = {
    "adnn": fit_feature_map,
    "tnn": tnn_feature_map,
    "pca": pca_feature_map,
    "identity": identity_feature_map,
}
