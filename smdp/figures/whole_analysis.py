"""Figure of the analyses without each fold of people: which variables come back."""

from __future__ import annotations

from collections import Counter

import plotly.graph_objects as go

from smdp.evaluation.whole_analysis import FoldAnalyses
from smdp.figures.explanation import counts_figure


def kept_figure(analyses: FoldAnalyses) -> go.Figure:
    """A bar for each variable that any of them kept, the most frequent first."""
    kept = Counter(name for each in analyses.analyses for name in each.selected)
    counts = dict(kept.most_common()) or {"nothing": len(analyses.analyses)}
    figure = counts_figure(counts, f"Kept in (of {len(analyses.analyses)} analyses)")
    figure.update_xaxes(dtick=1, range=[0, len(analyses.analyses)])
    return figure
