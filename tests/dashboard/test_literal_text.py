"""Text stays text in a Markdown place."""

import pytest

from dashboard.literal_text import literal


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**b** <i>", r"\*\*b\*\* \<i\>"),
        ("$x$ :red[y]", r"\$x\$ \:red\[y\]"),
        ("a\n- b\n\n# c", r"a \- b \# c"),
        ("\u202eabc\x07", "\N{REPLACEMENT CHARACTER}abc\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_markup_is_shown(text, expected):
    assert literal(text) == expected


def test_addresses_do_not_become_links():
    joint = "\N{WORD JOINER}"
    assert literal("see http://a.b") == rf"see http\:{joint}//a\.b"
    assert literal("WWW.a.b") == rf"WWW{joint}\.a\.b"
    assert literal("me@a.b, @me") == rf"me@{joint}a\.b, @me"
