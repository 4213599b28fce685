"""What all tests share."""

from pathlib import Path

import pytest
from hypothesis import settings

# The same examples on every run and machine, however busy: a red test is then a change in the code.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

#: Left out by `make check`: pages, browsers, processes of their own, training, whole analyses.
SLOW = (
    "browser/",
    "dashboard/",
    "fuzz/",
    "golden/",
    "smdp/analysis/test_divided.py",
    "smdp/analysis/test_notebook.py",
    "smdp/analysis/test_run_command.py",
    "smdp/analysis/test_script.py",
    "smdp/data/test_read_table.py",
    "smdp/data/test_readers.py",
    "smdp/data/test_spss_stata_sas.py",
    "smdp/feature_map/test_every_kind.py",
    "smdp/feature_map/test_other_maps_and_stability.py",
    "smdp/feature_map/test_fit.py",
    "smdp/feature_map/test_stopping.py",
    "smdp/feature_map/test_tuning.py",
    "smdp/independence/test_distance_covariance.py",
    "smdp/report/",
    "smdp/simulation/",
    "smdp/test_cli.py",
    "smdp/test_public_face.py",
    "smdp/test_disk_faults.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.relative_to(here).as_posix().startswith(SLOW):
            item.add_marker("slow")
