"""What the documentation says of the program is what the program says of itself."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from smdp.data.shaping.functions import FUNCTIONS
from smdp.data.shaping.operations import OPERATIONS

ROOT = Path(__file__).resolve().parent.parent


def test_the_api_reference_is_up_to_date():
    where = importlib.util.spec_from_file_location("make_api", ROOT / "docs" / "make_api.py")
    assert where is not None
    assert where.loader is not None
    make_api = importlib.util.module_from_spec(where)
    where.loader.exec_module(make_api)
    written = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert written == make_api.api_text(), "run: python docs/make_api.py"


def test_the_files_that_the_architecture_names_are_there():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[\w]+/)+[\w]*(?:\.py)?|\w+\.py)`", text))
    rooms = (
        "",
        "smdp",
        "smdp/analysis",
        "smdp/feature_map",
        "smdp/steps",
        "smdp/data/files",
        "smdp/data/shaping",
    )
    gone = [n for n in named if not any((ROOT / room / n).exists() for room in rooms)]
    assert sorted(gone) == ["figures/x.py", "smdp/steps/x.py"]  # those that somebody would add
    assert len(named) > 30


def test_the_page_on_shaping_names_every_function_and_operation():
    text = (ROOT / "docs" / "shaping.md").read_text(encoding="utf-8")
    for function in FUNCTIONS.values():
        assert f"| `{function.usage}` | {function.words} |" in text
    for kind in OPERATIONS:
        assert f"| `{kind.__name__}(" in text
