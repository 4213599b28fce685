import plotly.graph_objects as go

from smdp.figures.style import new_figure, plain
from smdp.words.figures import figure_words, table_words


def test_kind_axes_colours_and_groups():
    figure = new_figure()
    figure.add_heatmap(z=[[1]], colorbar={"title": {"text": "missing (%)"}})
    figure.update_xaxes(title_text="Decision<br>number")
    figure.update_yaxes(title_text="Subject")
    assert figure_words(figure) == (
        "Heatmap. vertical: Subject. horizontal: Decision number. colour: missing (%)."
    )


def test_each_group_is_named_once_and_not_all_of_many():
    figure = go.Figure([go.Bar(y=[1], name=f"g{k // 2}") for k in range(24)])
    figure.add_bar(y=[1], name="aside", showlegend=False)
    figure.add_scatter(y=[1], name="unseen", visible=False)
    assert figure_words(figure) == ("Bar chart. groups: g0, g1, g2, g3, g4, g5, g6, g7 and 4 more.")
    assert figure_words(go.Figure()) == "Empty chart."


def test_names_are_said_as_they_are():
    figure = go.Figure(go.Bar(y=[1], name=plain("<b>urge</b> & stress")))
    assert figure_words(figure) == "Bar chart. groups: <b>urge</b> & stress."


def test_columns_of_a_table():
    assert table_words(["subject", 3]) == "Table: subject, 3."
