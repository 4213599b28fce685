"""Results as plotly figures: a module for each page, such as `smdp.figures.screening`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smdp.lazy import lazily

_HOME = {
    "data": "smdp.figures.data",
    "explanation": "smdp.figures.explanation",
    "feature_dimension": "smdp.figures.feature_dimension",
    "markov": "smdp.figures.markov",
    "measured": "smdp.figures.measured",
    "missing_values": "smdp.figures.missing_values",
    "patient": "smdp.figures.patient",
    "policy": "smdp.figures.policy",
    "q_differences": "smdp.figures.q_differences",
    "q_functions": "smdp.figures.q_functions",
    "recommendations": "smdp.figures.recommendations",
    "rescaling": "smdp.figures.rescaling",
    "screening": "smdp.figures.screening",
    "screening_paths": "smdp.figures.screening_paths",
    "simulation": "smdp.figures.simulation",
    "weights": "smdp.figures.weights",
}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from smdp.figures import data as data
    from smdp.figures import explanation as explanation
    from smdp.figures import feature_dimension as feature_dimension
    from smdp.figures import markov as markov
    from smdp.figures import measured as measured
    from smdp.figures import missing_values as missing_values
    from smdp.figures import patient as patient
    from smdp.figures import policy as policy
    from smdp.figures import q_differences as q_differences
    from smdp.figures import q_functions as q_functions
    from smdp.figures import recommendations as recommendations
    from smdp.figures import rescaling as rescaling
    from smdp.figures import screening as screening
    from smdp.figures import screening_paths as screening_paths
    from smdp.figures import simulation as simulation
    from smdp.figures import weights as weights
else:
    __getattr__, __dir__ = lazily(__name__, _HOME)
