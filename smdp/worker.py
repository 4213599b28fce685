"""A long step in a process of its own: `python -m smdp.worker FOLDER`.

The folder holds the request (`request/`), which knows what to do; progress goes to standard output
as JSON lines, the result to `result/`. A line on its standard input asks it to stop at the next
report of progress, with what is finished as its result. The process ends when its standard input
closes, so that no worker outlives the program that started it.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import traceback
from pathlib import Path
from typing import Protocol

from smdp.errors import SmdpError
from smdp.parallel import cores, threads
from smdp.plain_data import read_plain, write_plain
from smdp.plugins import load_plugins
from smdp.progress import Cancelled, Progress, facts_of

#: The exit code of a worker that was asked to stop and had nothing finished.
STOPPED = 5

#: More would mostly wait for one another.
MOST_THREADS = 8

#: Seconds in which a worker whose parent is gone has tidied up.
PATIENCE = 10.0


class Request(Protocol):
    """What is asked of a worker: plain data that knows what to do."""

    def do(self, progress: Progress) -> object: ...


def main(folder: Path) -> int:
    stop = threading.Event()
    threading.Thread(target=_listen_to_parent, args=(stop, folder), daemon=True).start()

    def report(share: float, message: str) -> None:
        if stop.is_set():
            raise Cancelled
        _say({"progress": share, "message": message, "facts": facts_of(message)})

    try:
        load_plugins()
        request: Request = read_plain(folder / "request")
        with threads(min(cores(), MOST_THREADS)):
            found = request.do(report)
        write_plain(found, folder / "result")
    except Cancelled as cancelled:
        if cancelled.finished is None:
            return STOPPED
        write_plain(cancelled.finished, folder / "result")
        if not getattr(cancelled.finished, "complete", False):  # asked at the very end
            _say({"stopped": True})
        return 0
    except SmdpError as error:
        _say({"problem": error.problem, "remedy": error.remedy, "concerns": error.concerns})
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
