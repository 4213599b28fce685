from __future__ import annotations

import pytest

from smdp.blocks import NamedFigure
from smdp.errors import SettingError
from smdp.figures.style import ACTION_COLOURS, BLUE, DIVERGING, new_figure
from smdp.report.figure_theme import PALETTES, THEMES, FigureTheme, in_theme
from smdp.report.journal import for_print


@pytest.fixture
def figure():
    drawn = new_figure(400)
    drawn.add_bar(x=[1, 2], y=[1, 2], marker={"color": BLUE}, name="#0072B2")
    drawn.add_scatter(x=[1, 2], y=[1, 2], line={"color": "rgba(0,114,178,0.3)"})
    drawn.add_heatmap(z=[[1, -1]], colorscale=DIVERGING)
    return drawn


@pytest.mark.parametrize("palette", [name for name in PALETTES if name != "smdp"])
def test_colours_become_those_of_the_palette(figure, palette):
    shown = in_theme(figure, FigureTheme(palette=palette))
    text = shown.to_json().lower()
    first = tuple(int(PALETTES[palette][0][k : k + 2], 16) for k in (1, 3, 5))
    assert shown.data[0].marker.color == "rgba({},{},{},1)".format(*first)
    assert shown.data[1].line.color == "rgba({},{},{},0.3)".format(*first)
    assert shown.data[0].name == "#0072B2", "a name is no colour"
    assert shown.data[2].colorscale[0][1] == "rgba({},{},{},1)".format(*first)
    assert "rgba(0,114,178" not in text
    assert figure.data[0].marker.color == BLUE, "the figure itself stays as it is"


def test_every_palette_has_a_colour_for_each_of_the_house():
    for palette in PALETTES.values():
        assert len(set(palette)) == len(palette) == len(PALETTES["smdp"])
    assert set(ACTION_COLOURS) <= set(PALETTES["smdp"])


def test_size_and_text_in_print(figure):
    named = NamedFigure("f", "F", figure)
    theme = FigureTheme(width_mm=120, points=9, height=1.5, font="Arial")
    shown, size = for_print(named, theme, titles=False)
    assert size.width_mm == 120
    assert shown.layout.width == int(120 * 72 / 25.4 / 9 * 12)
    assert shown.layout.height >= 600
    assert shown.layout.font.family.startswith("Arial")
    plain, usual = for_print(named, "single", titles=False)
    same, again = for_print(named, THEMES["single"], titles=False)
    assert usual == again
    assert plain == same


@pytest.mark.parametrize(
    "wrong", [{"font": "Comic"}, {"palette": "x"}, {"width_mm": 10}, {"points": 99}]
)
def test_what_cannot_be(wrong):
    with pytest.raises(SettingError):
        FigureTheme(**wrong)
