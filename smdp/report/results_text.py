"""The results as sentences for a paper, in the style of the APA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smdp.steps.policies import policy_names

if TYPE_CHECKING:
    from smdp.analysis.analysis import Analysis


#: The file of the sentences.
RESULTS = "results.txt"


def results_file(analysis: Analysis) -> dict[str, bytes]:
    """The sentences as a file, a paragraph each; no file where there are none."""
    told = results_text(analysis)
    mark = "synthetic-" if analysis.source.synthetic else ""
    return {mark + RESULTS: ("\n\n".join(told) + "\n").encode()} if told else {}


def results_text(analysis: Analysis) -> list[str]:
    """A sentence for each effect and each value that was estimated."""
    from smdp.words.apa import apa_effects, apa_value

    found: list[str] = []
    if analysis.trial is not None:
        from smdp.steps.trial import telling

        found += apa_effects(analysis.trial, telling(analysis))
    names = policy_names(analysis.policies)
    if len(names) == len(analysis.values):
        for name, value in zip(names, analysis.values, strict=True):
            found += apa_value(value, name, analysis.outcome_name)
    return found
