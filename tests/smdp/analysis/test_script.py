"""The script of a plan gives the numbers of the plan."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

import smdp
from smdp.data.column_roles import ColumnRoles
from smdp.steps.step_plans import ReadingSettings

COMPARE = """
import json, runpy, sys
names = runpy.run_path(sys.argv[1])
from smdp.plain_data import fingerprint
found = {
    "rescaling": names["prepared"].trajectories,
    "screening": names["screening"],
    "features": names["feature_map"],
    "stability": names["stability"],
    "policy": tuple(names["policies"]),
    "evaluation": tuple(names["values"]),
    "folds": names["analyses"],
    "rule": names["rule"],
    "placebo": names["placebo"],
    "trial": names["trial"],
}
print("FOUND", json.dumps({step: fingerprint(value) for step, value in found.items()}))
"""


def test_the_script_in_a_fresh_process_gives_the_same_numbers(analysis, plan, study_file, tmp_path):
    path = tmp_path / "script.py"
    path.write_text(plan.to_script(str(study_file)), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", COMPARE, str(path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = ast.literal_eval(done.stdout.rpartition("FOUND ")[2])
    assert found == {step: analysis.records[step].output for step in found}
    assert len(found) == 10
    assert "Kept by screening: stress, craving" in done.stdout


def test_only_public_names_are_used(plan, rescaled):
    for each in (plan, rescaled, plan.replace(reading=ReadingSettings("A", "wide"))):
        for node in ast.walk(ast.parse(each.to_script())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert node.value.id != "smdp" or node.attr in smdp.__all__, node.attr
            if isinstance(node, ast.Import | ast.ImportFrom):
                assert ast.unparse(node) in ("import smdp", "import pathlib")


@pytest.mark.parametrize(
    "note", ["x\nimport os", "x\rimport os", "a\x00b", "\u2028import os", '"""']
)
def test_no_text_of_the_user_becomes_code(plan, note):
    hostile = plan.replace(
        notes={"data": note, "screening": note},
        data_name=note,
        data_fingerprint="0",
        roles=ColumnRoles(f"s{note}", "t'", 'a"', ["x\\"], "u\n"),
        stop_after="rescaling",
    )
    tree = ast.parse(hostile.to_script())
    kinds = {type(node) for node in tree.body}
    assert kinds == {ast.Import, ast.Assign, ast.Expr}
    assert sum(isinstance(node, ast.Import) for node in tree.body) == 1
    constants = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)}
    assert {f"s{note}", "t'", 'a"', "x\\", "u\n"} <= constants


@pytest.mark.parametrize("step", ["data", "missing", "rescaling", "screening"])
def test_it_ends_where_the_plan_ends(plan, study_file, step, tmp_path):
    text = plan.replace(stop_after=step).to_script(str(study_file))
    (tmp_path / "s.py").write_text(text, encoding="utf-8")
    names: dict = {}
    exec(compile(text, "s.py", "exec"), names)
    assert ("screening" in names) == (step == "screening")
    assert ("prepared" in names) == (step != "data")


def test_notes_are_comments(plan):
    assert "# Stress was expected.\n# So was craving.\nscreening = " in plan.to_script()
