"""How the variables of a closed set lead to the utility: the arrows that a screening found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from smdp.independence.pooling import at_most
from smdp.screening import ScreeningResult

#: The target of an arrow that leads to the utility.
UTILITY = ""


@dataclass(frozen=True)
class Path:
    """A variable leads to the utility or to the next value of another, clearly or perhaps."""

    source: str
    target: str
    p_value: float
    clear: bool  # at the level, for all arrows together


@dataclass(frozen=True)
class ClosedSet:
    """Every variable's way to the utility.

    `steps`: 1 for a variable that leads to the utility itself, 2 for one that leads to such a
    variable, and so on. What leads nowhere clearly takes its clearest way, which is then not
    `clear`. `onward`: arrows one step nearer to the utility; `aside`: all others that are clear.
    """

    steps: dict[str, int]
    onward: tuple[Path, ...]
    aside: tuple[Path, ...]
    memory: frozenset[str]  # variables on which their own next value clearly depends

    def leads_to(self, name: str) -> tuple[Path, ...]:
        return tuple(path for path in (*self.onward, *self.aside) if path.source == name)


def closed_set(result: ScreeningResult) -> ClosedSet | None:
    """The arrows among the variables kept; None where none were tested."""
    arrows = result.arrows
    if arrows is None or not len(arrows):
        return None
    level = result.settings.level
    paths = [
        Path(str(source), str(target), float(p), bool(at_most(family, level)))
        for source, target, p, family in arrows.itertuples(index=False)
    ]
    names = list(dict.fromkeys(path.source for path in paths))
    memory = frozenset(path.source for path in paths if path.clear and path.target == path.source)
    between = [path for path in paths if path.source != path.target]
    steps, unclear = _steps(names, between)
    onward = [p for p in between if p.clear and steps[p.source] == steps[p.target] + 1] + unclear
    aside = [p for p in between if p.clear and p not in onward]
    del steps[UTILITY]
    return ClosedSet(steps, tuple(onward), tuple(aside), memory)


def _steps(names: Iterable[str], between: list[Path]) -> tuple[dict[str, int], list[Path]]:
    """By variable how far it is from the utility, and the ways that had to be taken unclear."""
    steps, unclear = {UTILITY: 0}, []
    left = set(names)
    while left:
        found = {p.source: p for p in between if p.clear and p.source in left and p.target in steps}
        if not found:
            ways = [p for p in between if p.source in left and p.target in steps]
            clearest = min(ways, key=lambda p: (p.p_value, steps[p.target], p.source))
            unclear.append(clearest)
            found = {clearest.source: clearest}
        nearest = {
            name: 1 + min(steps[p.target] for p in _open(between, unclear, name, steps))
            for name in found
        }
        steps |= nearest
        left -= nearest.keys()
    return steps, unclear


def _open(
    between: list[Path], unclear: list[Path], name: str, steps: dict[str, int]
) -> Iterable[Path]:
    return (
        p for p in between if p.source == name and p.target in steps and (p.clear or p in unclear)
    )
