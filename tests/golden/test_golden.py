"""Analyses saved before the code was rearranged still open and still give their numbers."""

from __future__ import annotations

import json
import warnings

import pytest
from golden.compare import (
    FINGERPRINTS,
    SAVED,
    differences,
    fingerprints,
    golden_tables,
    other_than_made_on,
    stored_tables,
)

import smdp

NAMES = ("students", "walking", "continuous", "pca", "tnn", "identity")
ALL_STEPS = ("data", "missing", "rescaling", "screening", "features", "stability", "policy",
             "evaluation", "placebo", "trial")  # fmt: skip
PERSONAL = ("data", "missing", "rescaling")
#: Of a policy, what it recommends and why needs the data.
NEEDS_DATA = ("-over-time", "-by-feature", "-by-variable")
PERSONAL_TABLES = ("variables", "left-out", "ranges", "log", "prepared-data")

OTHER_MACHINE = other_than_made_on()
EXACTNESS = "to 1e-6 on another machine" if OTHER_MACHINE else "to the last digit"


def steps_of(name: str) -> tuple[str, ...]:
    if name in ("pca", "tnn", "identity"):
        return tuple(s for s in ALL_STEPS[:8] if s != "stability")
    return ALL_STEPS


def assert_same(name, expected, found, *, exact):
    listed = differences(name, expected, found, exact=exact)
    more = [f"and {len(listed) - 20} more"] if len(listed) > 20 else []
    assert not listed, "\n".join([*listed[:20], *more])


@pytest.mark.parametrize("name", NAMES)
def test_the_stored_tables_are_those_of_their_fingerprints(name):
    known = json.loads(FINGERPRINTS.read_text(encoding="utf-8"))
    assert list(known) == list(NAMES)
    assert fingerprints(stored_tables(name)) == known[name]


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_analysis_opens_with_the_same_tables(name):
    saved = smdp.load_analysis(SAVED / f"{name}.smdp")
    assert tuple(saved.results) == steps_of(name)
    assert saved.table is not None
    assert_same(name, stored_tables(name), golden_tables(saved), exact=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_analysis_without_data_opens_with_the_tables_that_need_none(name):
    saved = smdp.load_analysis(SAVED / f"{name}-without-data.smdp")
    assert tuple(saved.results) == tuple(s for s in steps_of(name) if s not in PERSONAL)
    assert saved.table is None
    expected = {
        table: text
        for table, text in stored_tables(name).items()
        if table not in PERSONAL_TABLES and not table.endswith(NEEDS_DATA)
    }
    assert_same(name, expected, golden_tables(saved), exact=True)


@pytest.mark.parametrize("name", NAMES)
def test_the_plan_as_text_is_the_saved_plan(name):
    text = (SAVED / f"{name}.toml").read_text(encoding="utf-8")
    saved = smdp.load_analysis(SAVED / f"{name}.smdp")
    alone = smdp.load_analysis(SAVED / f"{name}-without-data.smdp")
    assert smdp.AnalysisPlan.from_toml(text) == saved.plan == alone.plan


@pytest.mark.parametrize("name", NAMES, ids=[f"{name}, {EXACTNESS}" for name in NAMES])
def test_its_plan_done_again_gives_the_same_tables(name):
    saved = smdp.load_analysis(SAVED / f"{name}.smdp")
    again = golden_tables(smdp.run_analysis(saved.table, saved.plan))
    if OTHER_MACHINE and again != stored_tables(name):
        warnings.warn(f"'{name}' is compared {EXACTNESS}: {'; '.join(OTHER_MACHINE)}", stacklevel=1)
    assert_same(name, stored_tables(name), again, exact=not OTHER_MACHINE)
