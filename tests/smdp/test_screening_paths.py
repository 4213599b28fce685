"""How the variables of a closed set lead to the utility."""

from __future__ import annotations

from itertools import product

from smdp.screening_paths import UTILITY, closed_set
from tests.screened import screened, with_arrows


def found(clear, also=None, names="abc"):
    """Arrows that are clear, others with the p-values given or with .9."""
    ends = dict.fromkeys(product(names, [UTILITY, *names]), 0.9)
    ends |= dict.fromkeys(clear, 0.001) | (also or {})
    return closed_set(with_arrows(screened(), ends))


def test_steps_are_counted_from_the_utility():
    paths = found([("a", UTILITY), ("b", "a"), ("c", "b"), ("a", "a")])
    assert paths.steps == {"a": 1, "b": 2, "c": 3}
    assert [(p.source, p.target) for p in paths.onward] == [("a", UTILITY), ("b", "a"), ("c", "b")]
    assert paths.aside == ()
    assert paths.memory == {"a"}
    assert all(path.clear for path in paths.onward)


def test_what_leads_nowhere_clearly_takes_its_clearest_way():
    paths = found([("a", UTILITY)], {("b", "a"): 0.04, ("c", UTILITY): 0.03})
    assert paths.steps == {"a": 1, "b": 2, "c": 1}
    assert [(p.target, p.clear) for p in paths.leads_to("b")] == [("a", False)]
    assert [(p.target, p.clear) for p in paths.leads_to("c")] == [(UTILITY, False)]


def test_a_circle_finds_its_way_out():
    paths = found([("a", "b"), ("b", "a")], {("b", UTILITY): 0.05})
    assert paths.steps["b"] == 1
    assert paths.steps["a"] == 2
    assert [(p.source, p.target) for p in paths.aside] == [("b", "a")]


def test_without_arrows_there_is_nothing_to_draw():
    assert closed_set(screened(method="rounds")) is None
    assert closed_set(screened(method="paper", permutations=99, pooling="trajectory")) is None
