"""Steps of the dashboard with as little work as it takes, for tests that are not about its size."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partialmethod
from pathlib import Path

import pytest

from smdp.errors import SmdpError
from smdp.evaluation.evaluation_settings import EvaluationSettings
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.plain_data import read_plain, write_plain
from smdp.policy.policy_settings import PolicySettings
from smdp.progress import facts_of

#: What the pages do not ask, set to as little work as it takes.
TINY = {
    FeatureMapSettings: {
        "widths": (4,),
        "penalties": (0.02,),
        "folds": 2,
        "steps": 30,
        "polish_steps": 5,
        "refit_steps": 30,
        "restarts": 1,
        "batch": 16,
        "permutations": 299,
        "iterate": False,
    },
    PolicySettings: {"width": 4, "steps": 100},
    EvaluationSettings: {"segments": 2},
}


class InThisProcess:
    """A worker without a process of its own: each would spend its seconds on imports.

    It says what a worker says, once all is done.
    """

    stdin = None

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.code = 0

    @property
    def stdout(self) -> Iterator[str]:
        request, lines = read_plain(self.folder / "request"), []

        def report(share: float, message: str) -> None:
            lines.append({"progress": share, "message": message, "facts": facts_of(message)})

        try:
            write_plain(request.do(report), self.folder / "result")
        except SmdpError as error:
            said = {"problem": error.problem, "remedy": error.remedy, "concerns": error.concerns}
            lines.append(said)
            self.code = 2
        yield from map(json.dumps, lines)

    def wait(self) -> int:
        return self.code


def tiny(patch: pytest.MonkeyPatch) -> None:
    """New settings are the tiny ones."""
    for kind, settings in TINY.items():
        patch.setattr(kind, "__init__", partialmethod(kind.__init__, **settings))
