from __future__ import annotations

import re
from io import BytesIO

import pytest
from PIL import Image

from smdp.blocks import NamedFigure
from smdp.errors import SettingError
from smdp.figures.style import new_figure
from smdp.report.collect import report_figures
from smdp.report.composed import composed_figure, usual_panels
from smdp.report.figure_theme import FigureTheme


@pytest.fixture
def three():
    drawn = []
    for k in range(3):
        figure = new_figure(200 + 40 * k)
        figure.add_bar(x=[1, 2], y=[k, k + 1])
        drawn.append(NamedFigure(f"f{k}", f"Title {k} <b>", figure))
    return drawn


def test_a_picture_of_the_whole_width(three, chrome):
    made = composed_figure(three, "png", browser=chrome, dpi=300)
    with Image.open(BytesIO(made)) as image:
        assert image.width == pytest.approx(170 / 25.4 * 300, abs=4)
        assert image.info["dpi"][0] == pytest.approx(300, abs=0.1)


def test_an_svg_with_letters_and_no_name_twice(three, chrome):
    text = composed_figure(three, "svg", browser=chrome, theme=FigureTheme(width_mm=180.0)).decode()
    assert 'width="180mm"' in text
    for letter in "ABC":
        assert f">{letter}" in text
    names = re.findall(r'\bid="([^"]+)"', text)
    assert len(names) == len(set(names))
    aims = set(re.findall(r"url\(['\"&quot;]*#([^'\")&]+)", text))
    assert aims <= set(names)
    assert "<b>" not in text


def test_what_cannot_be_put_together(three):
    for wrong in ({"kind": "pdf"}, {"columns": 0}):
        with pytest.raises(SettingError):
            composed_figure(three, **wrong)
    with pytest.raises(SettingError):
        composed_figure([])


def test_the_usual_panels(analysis):
    names = [each.name for each in usual_panels(report_figures(analysis))]
    assert len(names) == 4
    assert [name.split("-")[0] for name in names] == ["weights", "effects", "q", "policy"]
