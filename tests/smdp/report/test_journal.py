from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest

from smdp.blocks import NamedFigure
from smdp.figures.style import ACTION_COLOURS, DIVERGING, GREY, SEQUENTIAL, VERMILION, new_figure
from smdp.report.figure_data import figure_data
from smdp.report.greyscale import parsed, to_greyscale
from smdp.report.journal import for_print

LONG = "State variable (weights of the one layer, standardised variables)"


def named(figure: go.Figure, title: str = "A title", **more: object) -> NamedFigure:
    return NamedFigure("name", title, figure, **more)


def is_grey(colour: str) -> bool:
    red, green, blue, _ = parsed(colour)
    return red == green == blue


@pytest.mark.parametrize(("preset", "millimetres"), [("single", 85), ("double", 170)])
def test_twelve_pixels_are_seven_points(preset, millimetres):
    figure, size = for_print(named(new_figure(400)), preset)
    assert size.width_mm == millimetres
    assert figure.layout.width == size.width
    points = 12 * millimetres / 25.4 * 72 / size.width
    assert 7 <= points < 7.1
    assert size.pixels(300) == round(millimetres / 25.4 * 300)


def test_the_figure_itself_is_left_alone():
    own = new_figure(400)
    own.add_bar(x=[1], y=["n" * 30], orientation="h", name="x" * 80, marker={"color": GREY})
    own.update_xaxes(title_text=LONG)
    before = own.to_json()
    for_print(named(own), "single", greyscale=True)
    assert own.to_json() == before


def test_small_text_grows_and_long_titles_break():
    own = new_figure(400)
    own.add_scatter(x=[1, 2], y=[1, 2], name="a name that is rather long for such a narrow figure")
    own.add_annotation(text="small", x=1, y=1, font={"size": 6})
    own.update_xaxes(title_text=LONG, tickfont={"size": 8})
    figure, _ = for_print(named(own), "single")
    assert figure.layout.annotations[0].font.size == 12
    assert figure.layout.xaxis.tickfont.size == 12
    assert "<br>" in figure.layout.xaxis.title.text
    assert figure.layout.xaxis.title.text.replace("<br>", " ") == LONG
    assert figure.layout.paper_bgcolor == "white"
    wide, _ = for_print(named(own), "double")
    assert "<br>" not in wide.layout.xaxis.title.text


def test_titles_are_optional_and_marks_are_not():
    with_title, tall = for_print(named(new_figure(400), "Gains <b>"), "single")
    without, low = for_print(named(new_figure(400)), "single", titles=False)
    marked, _ = for_print(named(new_figure(400), marks=("out of date",)), "single", titles=False)
    assert with_title.layout.title.text == "Gains &lt;b&gt;"
    assert without.layout.title.text == ""
    assert "Out of date" in marked.layout.title.text
    assert tall.height > low.height


def test_no_figure_is_taller_than_a_page():
    figure, size = for_print(named(new_figure(5000)), "single")
    assert size.height_mm <= 230
    assert figure.layout.height == size.height


def test_numbers_in_cells_only_while_they_fit_but_marks_stay():
    own = new_figure(300)
    texts = [[f"{j / 7:.2f} ●" for j in range(14)]]
    own.add_heatmap(z=np.ones((1, 14)), text=texts, texttemplate="%{text}")
    narrow, _ = for_print(named(own), "single")
    assert narrow.data[0].text[0][0] == "●"
    own.data[0].text = [["0.12"] * 14]
    bare, _ = for_print(named(own), "single")
    assert bare.data[0].texttemplate is None
    roomy, _ = for_print(named(own), "double")
    assert roomy.data[0].text[0][0] == "0.12"


def test_numbers_beside_the_figure_take_two_lines_in_a_narrow_one():
    own = new_figure(300)
    own.update_layout(margin={"r": 185})
    own.add_scatter(x=[1], y=["a policy with a rather long name"])
    own.update_yaxes(type="category")
    own.add_annotation(x=1.02, xref="paper", y=0, text="0.42 (0.18 to 0.66)")
    figure, _ = for_print(named(own), "single")
    assert figure.layout.annotations[0].text == "0.42<br>(0.18 to 0.66)"
    assert figure.layout.margin.r < 185
    assert "<br>" in figure.layout.yaxis.ticktext[0]


def test_named_colours_become_greys_that_differ():
    own = new_figure(300)
    for place, colour in enumerate(ACTION_COLOURS[:4]):
        own.add_bar(x=[1], y=[place], name=str(place), marker={"color": colour})
    own.add_vline(x=0, line={"color": VERMILION})
    greys = [trace.marker.color for trace in to_greyscale(own).data]
    assert all(map(is_grey, greys))
    levels = sorted(parsed(colour)[0] for colour in greys)
    assert np.diff(levels).min() > 0.1
    assert is_grey(to_greyscale(own).layout.shapes[0].line.color)


def test_the_same_colour_is_the_same_grey_in_legend_and_cells():
    own = new_figure(300)
    steps = [[0, "#56B4E9"], [0.5, "#56B4E9"], [0.5, "#0072B2"], [1, "#0072B2"]]
    own.add_heatmap(z=[[0, 1]], colorscale=steps)
    own.add_scatter(x=[None], y=[None], marker={"color": "#0072B2"})
    grey = to_greyscale(own)
    assert grey.data[0].colorscale[3][1] == grey.data[1].marker.color


def test_plus_and_minus_stay_apart_in_grey():
    own = new_figure(300)
    own.add_heatmap(z=[[-1, 1]], colorscale=DIVERGING)
    own.add_heatmap(z=[[0, 1]], colorscale=SEQUENTIAL)
    grey = to_greyscale(own)
    signed = [parsed(colour)[0] for _, colour in grey.data[0].colorscale]
    assert signed[0] > signed[1] > signed[2]
    growing = [parsed(colour)[0] for _, colour in grey.data[1].colorscale]
    assert growing == sorted(growing, reverse=True)
    assert np.asarray(grey.data[0].z).tolist() == [[-1, 1]]


def test_what_has_no_colour_of_its_own_is_grey_too():
    own = new_figure(300)
    own.add_bar(x=[1], y=[1])
    own.add_heatmap(z=[[1, 2]])
    grey = to_greyscale(own)
    assert all(map(is_grey, grey.layout.colorway))
    assert all(is_grey(colour) for _, colour in grey.data[1].colorscale)


def test_lines_get_dashes_in_grey():
    own = new_figure(300)
    for colour in ("#0072B2", "#D55E00"):
        own.add_scatter(x=[1, 2], y=[1, 2], mode="lines", name=colour, line={"color": colour})
    assert len({trace.line.dash for trace in to_greyscale(own).data}) == 2


def test_the_numbers_behind_bars_intervals_and_cells():
    own = new_figure(300)
    own.add_scatter(
        x=[1.0, 2.0, np.nan], y=["a &lt;b&gt;", "b", None], name="<b>gain</b>",
        error_x={"array": [0.5, 0.25], "arrayminus": [0.1, 0.2]},
    )  # fmt: skip
    own.add_bar(x=[3], base=[1], y=["c"], orientation="h")
    own.add_scatter(x=[None], y=[None], name="only in the legend")
    own.add_heatmap(z=[[1.0, np.nan]], x=["u", "v"], y=["w"])
    own.update_xaxes(title_text="Gain<br>a decision")
    table = figure_data(own)
    assert table["series"].tolist() == ["gain", "gain", "", ""]
    assert table["y"].tolist() == ["a <b>", "b", "c", "w"]
    assert table["x lower"].tolist()[:3] == pytest.approx([0.9, 1.8, 1])
    assert table["x upper"].tolist()[:3] == pytest.approx([1.5, 2.25, 4])
    assert table["value"].tolist()[3] == 1
    assert table["x axis"].iloc[0] == "Gain a decision"
    assert "y lower" not in table
