"""A long step in a process of its own: `python -m smdp.worker FOLDER`.

The folder holds the request (`request/`); progress goes to standard output as JSON lines, the
result to `result/`. A line on its standard input asks it to stop at the next report of progress,
with what is finished as its result. The process ends when its standard input closes, so that no
worker outlives the program that started it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from smdp.errors import SmdpError
from smdp.plain_data import read_plain, write_plain
from smdp.progress import Cancelled, Progress

#: The exit code of a worker that was asked to stop and had nothing finished.
STOPPED = 5

#: Seconds in which a worker whose parent is gone has tidied up.
PATIENCE = 10.0

#: Tasks with parts that are results of their own, so that it is worth asking them to stop.
KEEP_WHAT_IS_FINISHED = {"adnn", "stability", "simulate", "plan_study"}


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
    from smdp.feature_map.kinds import FITTERS

    fit = FITTERS[request.task]
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


def _policies(request: Request, progress: Progress) -> object:
    """One policy for each of the settings."""
    from smdp.policy.q_learning import learn_policy

    trajectories, fitted = request.data
    several = request.settings
    return tuple(
        learn_policy(
            trajectories,
            fitted,
            settings,
            seed=request.seed,
            progress=_part(progress, k, len(several)),
        )
        for k, settings in enumerate(several)
    )


def _evaluation(request: Request, progress: Progress) -> object:
    """What each of the policies would earn."""
    from smdp.policy.evaluation import evaluate_policy

    trajectories, policies = request.data
    return tuple(
        evaluate_policy(
            trajectories,
            policy,
            request.settings,
            seed=request.seed,
            progress=_part(progress, k, len(policies)),
        )
        for k, policy in enumerate(policies)
    )


def _placebo(request: Request, progress: Progress) -> object:
    """The gain of one policy beside those with shuffled actions."""
    from smdp.policy.placebo import placebo_check

    trajectories, policy = request.data
    _, repeats, settings = request.settings  # the first names the policy
    return placebo_check(
        trajectories, policy, settings, repeats=repeats, seed=request.seed, progress=progress
    )


def _simulate(request: Request, progress: Progress) -> object:
    """A simulation study of one setting with several maps; the data: its cells done earlier."""
    from smdp.simulation.study import StudyCancelled, run_study

    setting, maps, replications, how = request.settings
    try:
        return run_study(
            [setting],
            maps=maps,
            replications=replications,
            how=replace(how, seed=request.seed),
            known=request.data,
            progress=_without_time_left(progress),
        )
    except StudyCancelled as stop:
        if stop.finished.rows.empty:
            raise Cancelled from stop
        raise


def _plan_study(request: Request, progress: Progress) -> object:
    """What to expect of studies of several sizes; the settings are those of `plan_study`."""
    from smdp.simulation.planning import plan_study

    options = dict(request.settings)
    how = replace(options.pop("how"), seed=request.seed)
    return plan_study(**options, how=how, progress=_without_time_left(progress))


def _without_time_left(progress: Progress) -> Progress:
    """Who watches a worker sees the time left of every task, worked out in one way."""
    return lambda share, what: progress(share, re.sub(r", about [\w ]+ left", "", what))


def _part(progress: Progress, k: int, of: int) -> Progress:
    return lambda share, what: progress((k + share) / of, what)


TASKS: dict[str, Callable[[Request, Progress], object]] = {
    "screen": _screen,
    "stability": _stability,
    "policies": _policies,
    "evaluation": _evaluation,
    "placebo": _placebo,
    "simulate": _simulate,
    "plan_study": _plan_study,
    **dict.fromkeys(("adnn", "tnn", "pca", "identity"), _feature_map),
}


def main(folder: Path) -> int:
    stop = threading.Event()
    threading.Thread(target=_listen_to_parent, args=(stop, folder), daemon=True).start()

    def report(share: float, message: str) -> None:
        if stop.is_set():
            raise Cancelled
        _say({"progress": share, "message": message})

    try:
        request: Request = read_plain(folder / "request")
        write_plain(TASKS[request.task](request, report), folder / "result")
    except Cancelled as cancelled:
        if cancelled.finished is None:
            return STOPPED
        write_plain(cancelled.finished, folder / "result")
        if not getattr(cancelled.finished, "complete", False):  # asked at the very end
            _say({"stopped": True})
        return 0
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
    try:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:  # the parent is gone; who listens to it tidies up and ends this process
        threading.Event().wait(PATIENCE)
        raise


def _listen_to_parent(stop: threading.Event, folder: Path) -> None:
    """Stop when asked to; when standard input closes, as it does with the parent's end, end.

    Then nobody else deletes the folder, which holds people's data.
    """
    # Not sys.stdin, whose lock a waiting thread would hold when the interpreter ends.
    while os.read(0, 1024):
        stop.set()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(4)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
