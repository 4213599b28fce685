"""p-values as papers print them."""

import pytest

from smdp.text import p_text, signed


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0342, "p = .034"),
        (0.00001, "p < .001"),
        (0.0009999, "p < .001"),
        (0.001, "p = .001"),
        (0.21, "p = .21"),
        (0.1, "p = .10"),
        (1.0, "p > .99"),
        (0.995, "p > .99"),
    ],
)
def test_p_text(p, text):
    assert p_text(p) == text


def test_nothing_has_no_sign():
    assert [signed(v) for v in (0.2, -0.154, -0.001, 0.0)] == ["+0.20", "-0.15", "0.00", "0.00"]
