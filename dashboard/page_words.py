"""Choices of the pages that have a name of their own, by what they stand for in the settings."""

from __future__ import annotations

from typing import Literal

ORDINAL, OWN_UNITS = "Ordinal: common levels", "Own units"
TESTS: dict[str, Literal["distance_covariance", "likelihood_ratio"]] = {
    "Any values (distance covariance)": "distance_covariance",
    "Few levels only (likelihood ratio)": "likelihood_ratio",
}
POOLINGS: dict[str, Literal["ruger", "trajectory"]] = {
    "Each decision on its own": "ruger",
    "Whole trajectories": "trajectory",
}
UPDATES: dict[str, Literal["batch", "stochastic"]] = {
    "All decisions at once": "batch",
    "One decision at a time (the paper's)": "stochastic",
}
