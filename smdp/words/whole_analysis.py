"""The whole analysis without each fold of people, in sentences."""

from __future__ import annotations

from collections import Counter

from smdp.data.problem import Problem
from smdp.evaluation.whole_analysis import FoldAnalyses
from smdp.text import listing, plural


def folds_summary(result: FoldAnalyses) -> str:
    """'5 folds of people', '3 of 5 folds of people'."""
    done = len(result.analyses)
    many = plural(result.folds, "fold")
    return f"{many} of people" if done == result.folds else f"{done} of {many} of people"


def describe_folds(result: FoldAnalyses) -> list[str]:
    """Which variables come back without each fold, and where nothing was left."""
    done = len(result.analyses)
    kept = Counter(name for each in result.analyses for name in each.selected)
    dimensions = Counter(each.feature_map.dimension for each in result.analyses)
    often = [f"{name} ({count} of {done})" for name, count in kept.most_common()]
    sentences = [
        f"The whole analysis was done anew without each of {done} folds of people. Kept for the "
        f"features: {listing(often, 12) if often else 'nothing'}.",
        "Features: "
        + ", ".join(
            f"{dimension} in {plural(count, 'fold')}"
            for dimension, count in sorted(dimensions.items())
        )
        + ".",
    ]
    constant = sum(each.constant for each in result.analyses)
    if constant:
        sentences.append(
            f"In {constant} of {plural(done, 'fold')} nothing was left to tell states apart by: "
            "there the policy is the best constant action."
        )
    return sentences


def check_folds(result: FoldAnalyses) -> list[Problem]:
    """What was not as in the analysis of everybody."""
    return [
        Problem("note", "", f"Without fold {each.fold + 1}: {note}")
        for each in result.analyses
        for note in each.notes
    ]
