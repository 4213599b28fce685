"""Labels are text, short, and different for different names."""

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
