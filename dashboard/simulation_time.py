"""How long a simulation will take, from what such replications usually take."""

from __future__ import annotations

from collections.abc import Iterable

from smdp.simulation.names import StudyMap
from smdp.simulation.paper_tables import PAPER_SUBJECTS, PAPER_TIMES
from smdp.simulation.study_settings import PAPER_NOISE, StudyCell
from smdp.text import duration

PAPER_ROWS = PAPER_SUBJECTS * PAPER_TIMES

#: Seconds of one replication of the paper's size, without and with 200 noise variables: with full
#: training, and with quick training.
SECONDS: dict[StudyMap, tuple[tuple[float, float], tuple[float, float]]] = {
    "identity": ((2.5, 4), (1, 2)),
    "oracle": ((1, 1), (0.5, 0.5)),
    "adnn": ((65, 250), (9, 25)),
    "tnn": ((26, 150), (8.5, 40)),
    "pca": ((2.5, 3.5), (1, 2)),
    "screened": ((2.5, 4.5), (1.5, 4)),
}
#: A worker has to start, too.
SECONDS_TO_START = 3


def about(cells: Iterable[StudyCell], *, quickly: bool) -> str:
    """'about 2 min'."""
    total = float(SECONDS_TO_START)
    for cell in cells:
        none, most = SECONDS[cell.feature_map][quickly]
        share = min(1.0, cell.setting.noise / max(PAPER_NOISE))
        size = cell.setting.subjects * cell.setting.times / PAPER_ROWS
        total += (none + share * (most - none)) * (0.3 + 0.7 * size)
    rounded = max(5, 5 * round(total / 5)) if total < 90 else total
    return f"about {duration(rounded)}"
