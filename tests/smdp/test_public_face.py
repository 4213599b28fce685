"""The public names, and what every result can do in a notebook."""

from __future__ import annotations

import ast
import dataclasses
import os
import re
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import hostile_study
import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from hostile_study import PERSON, TREATED
from small_simulation import small_how

import smdp
from smdp.analysis import result_faces
from smdp.result import Content, Result, same_content
from smdp.saved_types import HOMES
from smdp.steps import steps

ROOT = Path(smdp.__file__).resolve().parent.parent

STEP_RESULTS = {
    "study", "completed", "prepared", "screening", "feature_map", "stability", "markov", "linear",
    "neural", "folds", "value", "rule", "trade_off", "new_data", "placebo", "trial",
    "twin", "imputations", "passport",
}  # fmt: skip
NAMES = sorted(
    STEP_RESULTS
    | {"trajectories", "explanation", "patient", "advice", "test", "simulation", "plan", "beside"}
    | {"compared", "risk", "subgroups"}
)


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """One of each kind of result, from a study whose names are hostile."""
    plan = hostile_study.quick_plan()
    one = dataclasses.replace(plan.features.settings, dimensions=(1,))
    plan = plan.replace(features=dataclasses.replace(plan.features, settings=one))
    done = smdp.run_analysis(hostile_study.study_frame(), plan)
    assert done.prepared is not None
    linear, neural = done.policies
    own = done.prepared.trajectories.select(linear.variables)
    random = np.random.default_rng(0)
    x, y = random.normal(size=(2, 30))
    group = np.array([0, 1] * 15)
    setting = smdp.SimulationSetting("linear", 0, 12, 15)
    value = done.values[0]
    by_name = dict(zip(("linear", "neural"), done.values, strict=True))
    judging = {"coverage": value.coverage, "least_effective": 2.0}
    few = smdp.EvaluationSettings(folds=2, bootstraps=20, refit_map=False, segments=2)
    table = hostile_study.study_frame()
    others = table.assign(**{TREATED: 1 - table[TREATED]})
    others[PERSON] = "other" + others[PERSON]
    how = small_how()
    simulated = smdp.run_study([setting], maps=("identity",), replications=2, how=how)
    return {
        "study": done.study,
        "completed": done.completed,
        "prepared": done.prepared,
        "trajectories": done.prepared.trajectories,
        "screening": done.screening,
        "feature_map": done.feature_map,
        "stability": done.stability,
        "markov": done.markov,
        "linear": linear,
        "neural": neural,
        "folds": done.fold_analyses,
        "value": value,
        "rule": done.rule,
        "compared": smdp.comparison_of(done.policies, by_name, 2.0),
        "risk": smdp.outcome_risk(value.judged, seed=1, **judging),
        "subgroups": smdp.subgroup_gains(
            value.judged, done.prepared.trajectories, [own.variables[0]], **judging
        ),
        "trade_off": smdp.trade_off(own, linear, smdp.TradeOffSettings(points=3), few),
        "new_data": smdp.check_new_data(
            others,
            table,
            done.prepared,
            {"linear": linear},
            smdp.NewDataSettings(draws=99, folds=2, bootstraps=20),
            predicted=[value],
        ),
        "placebo": done.placebo,
        "twin": done.twin,
        "passport": done.passport,
        "imputations": done.imputations,
        "trial": done.trial,
        "explanation": smdp.explain_policy(linear, own),
        "patient": smdp.explain_patient(linear, own.states[0, 0], trajectories=own),
        "advice": linear.decide(own.states[:, 0]),
        "test": smdp.distance_covariance_test(x, y, strata=group, permutations=99, seed=1),
        "simulation": simulated,
        "plan": smdp.plan_study(
            "linear", noise=0, subjects=(12,), times=(15,), replications=2, how=how
        ),
        "beside": smdp.compare_with_paper(simulated),
    }


@pytest.fixture(params=NAMES)
def result(request: pytest.FixtureRequest, results: dict[str, Any]) -> Any:
    return results[request.param]


def test_all_kinds_of_results_are_tried(results):
    kinds = {f"{type(r).__module__}:{type(r).__qualname__}" for r in results.values()}
    of_steps = {step.result for step in steps() if step.result != "builtins:tuple"}
    assert kinds == of_steps | set(result_faces.SHOWN) | set(result_faces.ONE_OF_SEVERAL)
    assert all(isinstance(r, Result) for r in results.values())


def test_a_result_is_short_to_look_at(result):
    text = repr(result)
    assert type(result).__name__ in text
    assert len(text.splitlines()) <= 6
    assert len(text) <= 400
    # The common way to show a dataclass is for what cannot say more.
    assert "=<" not in text.replace("=<i>message7", "")


def test_a_result_says_something(result):
    text = result.summary()
    assert isinstance(text, str)
    assert len(text) > 20
    assert text.isprintable()


def test_a_result_shows_its_table_in_a_notebook_without_running_its_names(result):
    html = result._repr_html_()
    assert "<table>" in html
    for harmful in ("<script", "<img", "<i>", "<b>who7", "\u202e", "\a"):
        assert harmful not in html
    assert type(result).__name__ in html
    assert len(html) < 40_000


def test_names_are_there_as_text(results):
    assert "&lt;script&gt;" in results["screening"]._repr_html_()


def test_a_result_is_a_table_and_a_figure(result):
    assert isinstance(result.to_frame(), pd.DataFrame)
    assert len(result.to_frame())
    figure = result.plot()
    assert isinstance(figure, go.Figure)
    assert len(figure.data)


def test_equal_content_is_equal(result):
    again = rebuilt(result)
    assert again is not result
    assert result == result
    assert result == again
    assert hash(result) == hash(again)
    assert len({result, again}) == 1
    other = changed(result)
    assert result != other
    assert result != 3
    assert (result == "another kind") is False


def rebuilt(value: Any) -> Any:
    """A copy that shares no array, table, tuple or settings with the value."""
    if isinstance(value, np.ndarray | pd.DataFrame | pd.Series):
        return value.copy()
    if isinstance(value, tuple):
        return tuple(rebuilt(each) for each in value)
    if isinstance(value, dict):
        return {key: rebuilt(each) for key, each in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        own = {f.name: rebuilt(getattr(value, f.name)) for f in dataclasses.fields(value) if f.init}
        return type(value)(**own)
    return value


def changed(value: Any) -> Any:
    """A copy that differs in one number, as deep as it has to be looked for."""
    for field in dataclasses.fields(value):
        held = getattr(value, field.name)
        other = _one_number_changed(held)
        if other is not None:
            return dataclasses.replace(value, **{field.name: other})
    raise AssertionError(f"{type(value).__name__} holds no number")


def _holds_a_number(value: Content) -> bool:
    held = (getattr(value, field.name) for field in dataclasses.fields(value))
    return any(_one_number_changed(each) is not None for each in held)


def _one_number_changed(held: Any) -> Any:
    if isinstance(held, Content):
        return changed(held) if _holds_a_number(held) else None
    if isinstance(held, tuple) and held and isinstance(held[0], Content):
        first = _one_number_changed(held[0])
        return None if first is None else (first, *held[1:])
    if isinstance(held, np.ndarray) and held.size and held.dtype.kind == "f":
        other = held.copy()
        other.flat[0] = np.nan_to_num(other.flat[0]) + 1
        return other
    if isinstance(held, pd.DataFrame) and len(held):
        for place, kind in enumerate(held.dtypes):
            if kind == "float64":
                other = held.copy()
                other.isetitem(place, held.iloc[:, place].fillna(0) + 1)
                return other
    if isinstance(held, float):
        return 0.99 * held if held else 1.0
    return None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (np.array([1.0, np.nan]), np.array([1.0, np.nan]), True),
        (np.array([1.0, np.nan]), np.array([1.0, 2.0]), False),
        (np.zeros((2, 3)), np.zeros((3, 2)), False),
        (np.array(["a", None], object), np.array(["a", None], object), True),
        (np.array(["a"]), np.array(["b"]), False),
        (np.array(["a"]), np.array([1.0]), False),
        (np.zeros(1), 0.0, False),
        (float("nan"), float("nan"), True),
        ({"a": np.zeros(2)}, {"a": np.zeros(2)}, True),
        ({"a": 1}, {"b": 1}, False),
        ((1, (2, np.ones(2))), (1, (2, np.ones(2))), True),
        ((1, 2), (1, 2, 3), False),
        (pd.DataFrame({"a": [None, "x"]}), pd.DataFrame({"a": [None, "x"]}), True),
        (pd.DataFrame({"a": [1]}), pd.Series([1]), False),
        (pd.Series([1.0], name="a"), pd.Series([1.0], name="b"), False),
    ],
)
def test_what_is_the_same(one, other, same):
    assert same_content(one, other) is same
    assert same_content(other, one) is same


def test_nothing_that_is_kept_raises_when_compared_or_hashed():
    """Each class of a saved file compares by content, or holds nothing that cannot be compared."""
    awkward = ("NDArray", "DataFrame", "Series", "Mapping", "dict", "list")
    for home in HOMES.values():
        module, _, name = home.partition(":")
        kind = getattr(import_module(module), name)
        if not dataclasses.is_dataclass(kind):
            continue
        words = {f.name: re.findall(r"\w+", str(f.type)) for f in dataclasses.fields(kind)}
        holds = [field for field, own in words.items() if set(own) & set(awkward)]
        if holds and kind.__eq__ is not object.__eq__:
            assert issubclass(kind, Content), f"{name} holds {holds}"


def test_large_data_are_looked_at_and_compared_in_a_moment():
    n, times, p = 1_000, 200, 20
    states = np.random.default_rng(0).normal(size=(n, times + 1, p))
    large = smdp.Trajectories(
        states=states,
        actions=np.zeros((n, times), dtype=np.int64),
        utilities=np.zeros((n, times)),
        valid=np.ones((n, times), dtype=bool),
        available=np.ones((n, times), dtype=bool),
        probabilities=np.full((n, times, 2), 0.5),
        variables=tuple(f"v{j}" for j in range(p)),
        subjects=tuple(f"s{i}" for i in range(n)),
        action_labels=("0", "1"),
    )
    other = dataclasses.replace(large, states=states.copy())
    began = time.process_time()
    assert len(repr(large)) < 400
    assert hash(large) == hash(other)
    assert large == other
    assert time.process_time() - began < 5


def test_a_half_made_result_can_be_looked_at():
    broken = smdp.PlaceboCheck(gain=1.0, placebo=np.array([]), excludes_zero=np.array([]),
                               coverage=0.9, seed=0)  # fmt: skip
    assert "PlaceboCheck" in repr(broken)


def test_an_analysis_shows_itself(tmp_path):
    done = smdp.Analysis.from_file(
        hostile_study.study_frame(), roles=hostile_study.quick_plan().roles
    )
    done = done.run("data")
    assert "<li>" in done._repr_html_()
    assert "<b>study7" not in done._repr_html_()


@pytest.mark.parametrize("package", [smdp, smdp.figures, smdp.report], ids=lambda m: m.__name__)
def test_tools_see_the_names_that_there_are(package):
    """What is imported for type checkers is what is imported when it is used."""
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    typed = {}
    for node in tree.body:
        if isinstance(node, ast.If):
            for line in node.body:
                assert isinstance(line, ast.ImportFrom)
                for alias in line.names:
                    assert alias.asname == alias.name  # else it is not public to tools
                    whole = line.module == package.__name__
                    typed[alias.name] = f"{line.module}.{alias.name}" if whole else line.module
    assert typed == package._HOME
    for name in package.__all__:
        assert getattr(package, name) is not None
    assert dir(package) == package.__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        package.nothing  # noqa: B018


WRONG: dict[str, str] = {
    "smdp.fit_feature_map(1, 2, 3, 4, 5)": "Too many",
    "smdp.screen('table')": 'expected "Trajectories"',
    "smdp.nothing_of_this_name": "no attribute",
    "smdp.figures.screening.pooled_figure(3)": 'expected "ScreeningResult"',
    "smdp.report.build_report(3)": 'expected "Analysis"',
    "smdp.DataError(3)": 'expected "str"',
    "first: int = smdp.ScreeningSettings().level": 'variable has type "int"',
}
RIGHT = """
import smdp

def whole(trajectories: smdp.Trajectories) -> smdp.PolicyValue:
    kept = trajectories.select(smdp.screen(trajectories, seed=1).selected)
    fitted: smdp.FittedFeatureMap = smdp.fit_feature_map(kept, seed=1)
    policy = smdp.learn_policy(kept, fitted, smdp.PolicySettings(discount=0.9), seed=1)
    return smdp.evaluate_policy(kept, policy, seed=1)

study = smdp.Analysis.from_file("study.csv").run("screening", level=0.10, seed=1)
if study.screening is not None:
    words: str = study.screening.summary()
    study.screening.plot()
    study.screening.to_frame()
    smdp.figures.screening.pooled_figure(study.screening)
try:
    study.report("report.html")
except (smdp.DataError, smdp.SettingError, smdp.ReadError) as error:
    remedy: str = error.remedy
variable = smdp.Variable("sleep", unit="hours")
"""


def test_wrong_calls_are_seen_by_mypy(tmp_path):
    pytest.importorskip("mypy")
    user = tmp_path / "user.py"
    first = len(RIGHT.splitlines()) + 1
    user.write_text(RIGHT + "\n".join(WRONG) + "\n", encoding="utf-8")
    # With the project's own settings, what it has in store of the package is used.
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(user)],
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1, run.stdout + run.stderr
    errors: dict[int, str] = {}
    for line in run.stdout.splitlines():
        place, _, message = (
            line.removeprefix(str(user)).removeprefix("user.py").partition(": error: ")
        )
        if message:
            number = int(place.rpartition(":")[2])
            errors[number] = errors.get(number, "") + message
    assert sorted(errors) == list(range(first, first + len(WRONG))), run.stdout
    for number, message in zip(sorted(errors), WRONG.values(), strict=True):
        assert message in errors[number]


def test_names_that_the_readme_shows_are_public():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = {
        node.attr
        for block in text.split("```python\n")[1:]
        for node in ast.walk(ast.parse(block.partition("```")[0]))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "smdp"
    }
    assert {"prepare", "screen", "Analysis"} <= shown
    assert shown <= set(smdp.__all__)
