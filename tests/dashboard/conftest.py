"""The dashboard driven by Streamlit's own test runner."""

import functools
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, app_test, local_script_runner
from waiting import wait_until

from dashboard import jobs
from dashboard.session import Key
from smdp.analysis.analysis import Analysis
from smdp.analysis.autosave import Autosaves

# As a server does: a page is compiled once, and what is installed is looked through once. The test
# runner would do the one in every run, the other in every session.
_pages = ScriptCache()
app_test.ScriptCache = local_script_runner.ScriptCache = lambda: _pages
manifest_scanner.scan_component_manifests = functools.cache(
    manifest_scanner.scan_component_manifests
)

APP = Path(__file__).parents[2] / "dashboard" / "app.py"


class Driver:
    """The app with the few gestures that the tests need, by the words on the screen."""

    def __init__(self) -> None:
        self.at = AppTest.from_file(str(APP), default_timeout=60).run()

    def press(self, label: str) -> "Driver":
        next(b for b in self.at.button if label in b.label).click()
        return self.run()

    def run(self) -> "Driver":
        self.at.run()
        assert not self.at.exception, self.at.exception
        return self

    def go(self, view: str) -> "Driver":
        self.at.switch_page(f"views/{view}.py")
        return self.run()

    def upload(self, name: str, content: bytes) -> "Driver":
        self.at.file_uploader[0].upload(name, content)
        return self.run()

    def set_role(self, column: str, **cells: object) -> "Driver":
        """Edit a row of the table of columns."""
        return self._edit({column: cells})

    def set_roles(self, roles: dict[str, str]) -> "Driver":
        """Edit a row for each, before the page runs again."""
        return self._edit({column: {"role": role} for column, role in roles.items()})

    def _edit(self, rows: dict[str, dict[str, object]]) -> "Driver":
        editor = self.at.data_editor[0]
        edits = dict(self.at.session_state[editor.key]["edited_rows"])
        for column, cells in rows.items():
            row = int((editor.value["column"] == column).to_numpy().argmax())
            edits[row] = edits.get(row, {}) | cells
        state = {"edited_rows": edits, "added_rows": [], "deleted_rows": []}
        self.at.session_state[editor.key] = state
        return self.run()

    @property
    def title(self) -> str:
        return self.at.title[0].value

    @property
    def text(self) -> str:
        """Everything the page says, without Markdown's escapes and the glossary's marks."""
        kinds = ("markdown", "caption", "error", "warning", "info", "success", "text")
        parts = [e.value for kind in kinds for e in getattr(self.at, kind)]
        return re.sub(r"</?abbr[^>]*>", "", "\n".join(map(str, parts)).replace("\\", ""))

    @property
    def sidebar(self) -> list[str]:
        return [c.value for c in self.at.sidebar.caption]


def saved(app: Driver, folder: Path) -> Analysis:
    """What the autosave holds, once it is written."""
    name = app.at.query_params["work"]
    held = app.at.session_state[Key.AUTOSAVE]
    wait_until(lambda: held._waiting is None and (folder / f"{name}.smdp").exists())
    with held._writing:
        return Autosaves(folder).load(name)


def open_file(content: bytes, name: str = "study.smdp") -> Driver:
    """A new session with a saved analysis."""
    app = Driver()
    app.at.file_uploader[1].upload(name, content)
    return app.run()


@pytest.fixture(autouse=True)
def autosaves(tmp_path, monkeypatch) -> Path:
    """Where the dashboard keeps its work: a folder of this test."""
    folder = tmp_path / "autosave"
    monkeypatch.setenv("SMDP_AUTOSAVE", str(folder))
    return folder


@pytest.fixture(autouse=True)
def main_module() -> Iterator[None]:
    """Streamlit makes the app Python's main module; processes that are spawned would run it."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


@pytest.fixture
def in_this_process(monkeypatch) -> None:
    """Steps are done here: a worker would spend its seconds on imports."""
    from quick_steps import InThisProcess

    monkeypatch.setattr(jobs, "_worker", InThisProcess)


@pytest.fixture
def app() -> Driver:
    return Driver()


@pytest.fixture
def sample(app: Driver) -> Driver:
    return app.press("Smoking in students")
