"""A long step in a process of its own: `python -m smdp.worker FOLDER`.

The folder holds the request (`request/`); progress goes to standard output as JSON lines, the
result to `result/`. The process ends when its standard input closes, so that no worker outlives
the program that started it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smdp.errors import SmdpError
from smdp.plain_data import read_plain, write_plain
from smdp.progress import Progress


@dataclass(frozen=True)
class Request:
    """What to do: the name of a task, what it works on, its settings and its seed."""

    task: str
    data: Any
    settings: Any
    seed: int


def _screen(request: Request, progress: Progress) -> object:
    from smdp.screening import screen

    return screen(request.data, request.settings, seed=request.seed, progress=progress)


def _feature_map(request: Request, progress: Progress) -> object:
    from smdp.feature_map import baselines
    from smdp.feature_map.iterate import fit_feature_map

    fit = {
        "adnn": fit_feature_map,
        "tnn": baselines.tnn_feature_map,
        "pca": baselines.pca_feature_map,
        "identity": baselines.identity_feature_map,
    }[request.task]
    return fit(request.data, request.settings, seed=request.seed, progress=progress)


def _stability(request: Request, progress: Progress) -> object:
    from smdp.feature_map.stability import feature_map_stability

    trajectories, fitted = request.data
    return feature_map_stability(
        trajectories,
        fitted.settings,
        bootstraps=request.settings,
        seed=request.seed,
        progress=progress,
        fitted=fitted,
    )


TASKS: dict[str, Callable[[Request, Progress], object]] = {
    "screen": _screen,
    "stability": _stability,
    **dict.fromkeys(("adnn", "tnn", "pca", "identity"), _feature_map),
}


def main(folder: Path) -> int:
    threading.Thread(target=_end_with_parent, daemon=True).start()

    def report(share: float, message: str) -> None:
        _say({"progress": share, "message": message})

    try:
        request: Request = read_plain(folder / "request")
        write_plain(TASKS[request.task](request, report), folder / "result")
    except SmdpError as error:
        _say({"problem": error.problem, "remedy": error.remedy})
        return 2
    except MemoryError:
        _say(
            {
                "problem": "There was not enough memory for this step.",
                "remedy": "Close other programs, or choose fewer variables or permutations.",
            }
        )
        return 3
    except Exception:
        traceback.print_exc()
        return 1
    _say({"done": True})
    return 0


def _say(line: dict) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _end_with_parent() -> None:
    """Wait until standard input closes, which it does when the parent ends, and end too."""
    # Not sys.stdin, whose lock a waiting thread would hold when the interpreter ends.
    while os.read(0, 1024):
        pass
    os._exit(4)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
