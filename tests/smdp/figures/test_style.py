"""Labels are text, short, and different for different names."""

import html

from smdp.figures.style import labels, plain


def test_markup_is_text():
    assert plain("<b>x</b>") == "&lt;b&gt;x&lt;/b&gt;"


def test_long_names_keep_their_ends_and_stay_apart():
    names = [f"STUDY2024-SITE-A-P{i:02d}" for i in range(1, 7)]
    made = labels(names, 16)
    assert len(set(made.values())) == 6
    assert all(len(label) <= 16 for label in made.values())
    same = labels(["x" * 300, "x" * 299, "x" * 298], 28)
    assert len(set(same.values())) == 3


def test_what_plotly_would_fill_in_set_or_turn_around_is_text():
    assert plain("%{x} at 5 %") == "&#37;{x} at 5 %"
    assert plain("$x^2$") == "&#36;x^2&#36;"
    assert plain("a\u202eb\ac\n d") == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c d"
    assert html.unescape(plain("<i>$%{&amp;</i>")) == "<i>$%{&amp;</i>"
