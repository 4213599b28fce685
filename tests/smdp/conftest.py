"""A small study, analysed once; and feature maps made by hand, for what only reads them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_trial import NEW_FILE, plan_with_new_data, study_frame

from smdp.analysis.analysis import Analysis, run_analysis
from smdp.analysis.plan import AnalysisPlan
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.feature_map.layers import Layer
from smdp.feature_map.stability import FeatureMapStability


@pytest.fixture(scope="session")
def study_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("study") / "study.csv"
    study_frame().to_csv(path, index=False)
    study_frame(6, "Bert").to_csv(path.with_name(NEW_FILE), index=False)
    return path


@pytest.fixture(scope="session")
def plan() -> AnalysisPlan:
    return plan_with_new_data()


@pytest.fixture(scope="session")
def analysis(study_file, plan) -> Analysis:
    """Every step, done."""
    return run_analysis(study_file, plan)


@pytest.fixture
def hand_made() -> Callable[..., FittedFeatureMap]:
    """A map with the given weights, one layer or two.

    `candidates`: (dimension, p, rejected), as in results of earlier versions.
    """

    def make(
        weights: list[list[float]],
        variables: tuple[str, ...],
        *,
        deep: bool = False,
        candidates: tuple[tuple[int, float, bool], ...] = (),
        **more: object,
    ) -> FittedFeatureMap:
        matrix = np.array(weights)
        layers = (Layer(matrix, np.zeros(len(matrix))),)
        if deep:
            layers = (*layers, Layer(np.eye(len(matrix)), np.zeros(len(matrix))))
        tried = pd.DataFrame(
            {
                "pass": 1,
                "dimension": [q for q, _, _ in candidates],
                "p_relative": [p for _, p, _ in candidates],
                "p_absolute": [p for _, p, _ in candidates],
                "rejected": [r for _, _, r in candidates],
                "chosen": [k == len(candidates) - 1 for k in range(len(candidates))],
                "kept_count": len(variables),
                "penalty": 0.1,
                "cv_loss": 1.0,
                "refit_loss": 0.9,
            }
        )
        names = [f"feature {k + 1}" for k in range(len(matrix))]
        given = {"settings": FeatureMapSettings(test="relative"), "seed": 0} | more
        return FittedFeatureMap(
            kind="adnn",
            variables=variables,
            layers=layers,
            activation="arctan",
            centre=np.zeros(len(variables)),
            scale=np.ones(len(variables)),
            weights=pd.DataFrame(matrix, index=names, columns=list(variables)),
            column_norms=pd.Series(np.linalg.norm(matrix, axis=0), index=list(variables)),
            steps=tried[tried["chosen"]],
            candidates=tried,
            **given,
        )

    return make


@pytest.fixture
def steady() -> Callable[..., FeatureMapStability]:
    """The stability of a map, with the given share of same signs for each (feature, variable)."""

    def make(
        fitted: FittedFeatureMap, same_sign: list[list[float]], refits: int = 10
    ) -> FeatureMapStability:
        rows = [
            (feature, variable, w, w - 0.1, w + 0.1, refits, same_sign[k][j])
            for k, feature in enumerate(fitted.features)
            for j, (variable, w) in enumerate(fitted.weights.loc[feature].items())
        ]
        columns = ["feature", "variable", "estimate", "lower", "upper", "refits", "same_sign"]
        return FeatureMapStability(
            fitted=fitted,
            selection=pd.Series(1.0, index=list(fitted.variables)),
            dimensions=pd.Series([1.0], index=[fitted.dimension]),
            weights=pd.DataFrame(rows, columns=columns),
            bootstraps=10,
            failed=(),
            coverage=0.9,
            seed=0,
        )

    return make
