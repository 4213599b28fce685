"""Who may import what: data flows one way, and the first page stays quick."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import smdp

ROOT = Path(__file__).resolve().parent.parent

LAYERS = (
    "lazy",
    "text",
    "errors",
    "system",
    "settings",
    "typed_text",
    "saved_types",
    "progress",
    "plain_data",
    "result",
    "plugins",
    "atomic_write",
    "archive",
    "pools",
    "parallel",
    "data",
    "independence",
    "propensity",
    "policy_iteration",
    "screening_settings",
    "screening_by_person",
    "screening",
    "screening_paths",
    "feature_map",
    "policy",
    "evaluation",
    "markov",
    "explanation",
    "export",
    "validation",
    "simulation",
    "words",
    "blocks",
    "figures",
    "steps",
    "report",
    "analysis",
    "worker",
    "commands",
    "cli",
)
MAY_IMPORT_TORCH = {"smdp.policy.q_neural"}
STATISTICS = {"scipy", "torch", "numba", "dcor", "statsmodels", "sklearn"}
PICKLING = {"pickle", "_pickle", "cloudpickle", "dill", "shelve"}


def module_name(path: Path) -> str:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


def executed(node: ast.AST) -> Iterator[ast.AST]:
    """Everything in a file but what only a type checker reads."""
    yield node
    typing_only = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    children = node.orelse if typing_only else ast.iter_child_nodes(node)
    for child in children:
        yield from executed(child)


@cache
def imports(path: Path) -> tuple[str, ...]:
    """The full name of everything a file imports, inside functions too."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    name = module_name(path)
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    for node in executed(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = "." * node.level + (node.module or "")
            base = importlib.util.resolve_name(source, package)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def breaches(folders: tuple[str, ...], forbidden: set[str]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)} imports {imported}"
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
        for imported in imports(path)
        if imported.partition(".")[0] in forbidden
    ]


def test_smdp_knows_nothing_of_the_dashboard():
    assert breaches(("smdp",), {"streamlit", "dashboard"}) == []


def test_the_dashboard_does_no_statistics():
    assert breaches(("dashboard",), STATISTICS) == []


def test_nothing_is_pickled():
    assert breaches(("smdp", "dashboard", "bench", "tests"), PICKLING) == []


def test_only_the_networks_import_torch():
    importers = {
        module_name(path)
        for path in (ROOT / "smdp").rglob("*.py")
        for imported in imports(path)
        if imported.partition(".")[0] == "torch"
    }
    assert importers <= MAY_IMPORT_TORCH


def test_a_layer_imports_only_from_those_above_it():
    wrong = []
    for path in sorted((ROOT / "smdp").rglob("*.py")):
        name = module_name(path)
        if name == "smdp":
            continue
        layer = name.split(".")[1]
        assert layer in LAYERS, f"{name} belongs to no layer"
        for imported in imports(path):
            if imported.partition(".")[0] != "smdp" or imported == "smdp.__version__":
                continue
            # A public name taken from `smdp` itself hides where it comes from.
            source = f"{imported}.".split(".")[1]
            if source not in LAYERS or LAYERS.index(source) > LAYERS.index(layer):
                wrong.append(f"{name} imports {imported}")
    assert wrong == []


def test_no_module_needs_itself_in_the_end():
    """Imports inside functions count, too."""
    files = {
        module_name(p): p for folder in ("smdp", "dashboard") for p in (ROOT / folder).rglob("*.py")
    }
    needs = {
        name: {_module(imported, files) for imported in imports(path)} - {None, name}
        for name, path in files.items()
    }
    while free := [name for name, others in needs.items() if not others & needs.keys()]:
        for name in free:
            del needs[name]
    assert not needs, f"among these there is a circle: {sorted(needs)}"


def _module(imported: str, files: dict[str, Path]) -> str | None:
    """The module that an import loads: the name itself, or the one that has the name."""
    return next((m for m in (imported, imported.rpartition(".")[0]) if m in files), None)


def loaded_after(code: str) -> set[str]:
    """The top-level packages that a fresh Python has loaded after running the code."""
    ending = "\nimport sys; print('\\nLOADED', *{name.partition('.')[0] for name in sys.modules})"
    run = subprocess.run(
        [sys.executable, "-c", code + ending], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return set(run.stdout.rpartition("LOADED")[2].split())


def test_import_smdp_is_light():
    heavy = {"torch", "statsmodels", "dcor", "streamlit", "plotly", "pandas"}
    assert loaded_after("import smdp") & heavy == set()


def test_the_first_page_is_light():
    code = (
        "from streamlit.testing.v1 import AppTest\n"
        "app = AppTest.from_file('dashboard/app.py', default_timeout=60).run()\n"
        "assert not app.exception, app.exception\n"
    )
    assert loaded_after(code) & {"torch", "statsmodels", "dcor"} == set()


@pytest.mark.parametrize("name", smdp.__all__)
def test_every_public_name_resolves(name):
    assert getattr(smdp, name) is not None


def test_no_class_name_stands_twice():
    homes: dict[str, list[str]] = {}
    for path in [*(ROOT / "smdp").rglob("*.py"), *(ROOT / "dashboard").rglob("*.py")]:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert not {name: files for name, files in homes.items() if len(files) > 1}
