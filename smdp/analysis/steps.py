"""The steps of an analysis."""

from __future__ import annotations

from enum import StrEnum


class Step(StrEnum):
    """The steps of an analysis, in order."""

    DATA = "data"
    MISSING = "missing"
    RESCALING = "rescaling"
    SCREENING = "screening"
    FEATURES = "features"
    STABILITY = "stability"
    POLICY = "policy"
    EVALUATION = "evaluation"
    PLACEBO = "placebo"
    TRIAL = "trial"


#: Steps whose results are the values of single people.
PERSONAL = (Step.DATA, Step.MISSING, Step.RESCALING)
