"""Analyses saved before the code was rearranged still open and still give their numbers."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import pytest
from golden.compare import (
    FINGERPRINTS,
    SAVED,
    differences,
    done_steps,
    fingerprints,
    golden_tables,
    other_than_made_on,
    stored_tables,
)

import smdp
from smdp.data.preparation_settings import PreparationSettings
from smdp.data.prepare import prepare
from smdp.steps.data import long_table

NAMES = ("students", "walking", "continuous", "pca", "tnn", "identity")
ALL_STEPS = ("data", "missing", "rescaling", "trial", "screening", "features", "stability",
             "policy", "evaluation", "placebo")  # fmt: skip
PERSONAL = ("data", "missing", "rescaling")
#: Their networks were trained by torch; compiled steps add in another order, in single precision.
TRAINED_OTHERWISE = ("students", "walking", "continuous", "tnn")
#: Of a policy, what it recommends and why is computed anew from the data.
COMPUTED = ("-over-time", "-by-feature", "-by-variable")
PERSONAL_TABLES = ("variables", "left-out", "ranges", "log", "prepared-data")

OTHER_MACHINE = other_than_made_on()
EXACTNESS = "to 1e-5 on another machine" if OTHER_MACHINE else "to the last digit"
FORMATS = [pytest.param(folder, id=folder.name) for folder in SAVED.values()]
WITH_EXACTNESS = [f"{name}, {EXACTNESS}" for name in NAMES]


def steps_of(name: str) -> tuple[str, ...]:
    if name in ("pca", "tnn", "identity"):
        return tuple(s for s in ALL_STEPS[:9] if s not in ("trial", "stability"))
    return ALL_STEPS


def of_the_file(tables):
    return {name: text for name, text in tables.items() if not name.endswith(COMPUTED)}


def assert_same(name, expected, found, *, exact):
    listed = differences(name, expected, found, exact=exact)
    more = [f"and {len(listed) - 20} more"] if len(listed) > 20 else []
    assert not listed, "\n".join([*listed[:20], *more])


def assert_same_as_computed(name, expected, found):
    """To the last digit on the kind of machine that made the files, nearly so on others."""
    if OTHER_MACHINE and found != expected:
        warnings.warn(f"'{name}' is compared {EXACTNESS}: {'; '.join(OTHER_MACHINE)}", stacklevel=2)
    assert_same(name, expected, found, exact=not OTHER_MACHINE)


@pytest.mark.parametrize("name", NAMES)
def test_the_stored_tables_are_those_of_their_fingerprints(name):
    known = json.loads(FINGERPRINTS.read_text(encoding="utf-8"))
    assert list(known) == list(NAMES)
    assert fingerprints(stored_tables(name)) == known[name]


@pytest.mark.parametrize("folder", FORMATS)
@pytest.mark.parametrize("name", NAMES, ids=WITH_EXACTNESS)
def test_a_saved_analysis_opens_with_the_same_tables(name, folder):
    saved = smdp.load_analysis(folder / f"{name}.smdp")
    assert done_steps(saved) == steps_of(name)
    assert saved.table is not None
    assert saved.out_of_date == ()
    expected, found = stored_tables(name), golden_tables(saved)
    assert_same(name, of_the_file(expected), of_the_file(found), exact=True)
    assert_same_as_computed(name, expected, found)


@pytest.mark.parametrize("folder", FORMATS)
@pytest.mark.parametrize("name", NAMES)
def test_a_saved_analysis_without_data_opens_with_the_tables_that_need_none(name, folder):
    saved = smdp.load_analysis(folder / f"{name}-without-data.smdp")
    assert done_steps(saved) == tuple(s for s in steps_of(name) if s not in PERSONAL)
    assert saved.table is None
    kept = of_the_file(stored_tables(name))
    expected = {table: text for table, text in kept.items() if table not in PERSONAL_TABLES}
    assert_same(name, expected, golden_tables(saved), exact=True)


@pytest.mark.parametrize("name", NAMES)
def test_the_plan_is_the_same_as_text_and_in_files_of_every_format(name):
    plans = []
    for folder in SAVED.values():
        plans.append(smdp.AnalysisPlan.from_toml((folder / f"{name}.toml").read_text("utf-8")))
        plans.append(smdp.load_analysis(folder / f"{name}.smdp").plan)
        plans.append(smdp.load_analysis(folder / f"{name}-without-data.smdp").plan)
    assert all(plan == plans[0] for plan in plans)


@pytest.mark.parametrize("name", NAMES)
def test_its_plan_done_again_gives_the_same_tables(name):
    saved = smdp.load_analysis(SAVED[1] / f"{name}.smdp")
    again = golden_tables(smdp.run_analysis(saved.table, saved.plan))
    exact = not OTHER_MACHINE and name not in TRAINED_OTHERWISE
    assert_same(name, stored_tables(name), again, exact=exact)


@pytest.mark.parametrize("folder", FORMATS)
@pytest.mark.parametrize("name", NAMES)
def test_its_variables_are_those_that_the_table_gives_now(name, folder):
    """Format 1 had names only; names of values and labels come with the table alone."""
    saved = smdp.load_analysis(folder / f"{name}.smdp")
    plan = saved.plan
    settings = PreparationSettings.of(plan.preparation, plan.rescaling)
    again = prepare(long_table(saved.table, plan.reading), plan.roles, settings)
    expected = {v.name: v for v in again.trajectories.about}
    if folder == SAVED[1]:
        expected = {name: replace(v, label="", levels=()) for name, v in expected.items()}
    assert saved.prepared.trajectories.about == tuple(expected.values())
    for fitted in (saved.feature_map, *(policy.feature_map for policy in saved.policies)):
        assert fitted.about == tuple(expected[name] for name in fitted.variables)
    alone = smdp.load_analysis(folder / f"{name}-without-data.smdp").feature_map
    for known in alone.about:
        other = expected[known.name]
        assert (known.lag, known.column) == (other.lag, other.column)
        assert (known.comes_from, known.action) == (other.comes_from, other.action)
        assert (known.kind == "binary") == (other.kind == "binary")
