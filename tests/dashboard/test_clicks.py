"""Where the library speaks to a Python user, the pages say what to click."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import smdp
from dashboard.clicks import CLICKS, what_to_do
from smdp.analysis.analysis import load_analysis
from smdp.errors import ReadError

PACKAGE = Path(smdp.__file__).parent


def test_every_concern_of_the_library_has_its_click():
    text = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    said = set(re.findall(r'concerns="([^"]+)"', text)) | {"open roles", "open outcome"}
    assert said == set(CLICKS) - {"probability"}
    assert all(f'"{each}"' in text for each in said)


def test_the_page_says_where_to_click_and_the_library_what_to_call():
    with pytest.raises(ReadError) as refused:
        load_analysis(b"id,day\n1,2\n", name="study.csv")
    assert "smdp.read_table" in refused.value.remedy
    assert "on the page Start" in what_to_do(refused.value.remedy, refused.value.concerns)
    assert what_to_do("Correct it.", "") == "Correct it."
