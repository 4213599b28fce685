"""Every kind of feature map by its name: the one list of them."""

from __future__ import annotations

from dataclasses import fields

from smdp.feature_map.adnn.kind import ADNN
from smdp.feature_map.base import MapKind
from smdp.feature_map.identity import IDENTITY
from smdp.feature_map.pca import PCA
from smdp.feature_map.tnn import TNN
from smdp.settings import require

_kinds: dict[str, MapKind] = {kind.name: kind for kind in (ADNN, TNN, PCA, IDENTITY)}

#: Keys of a plan beside which a map's settings stand.
TAKEN = ("kind", "use_all", "seed")


def register(kind: MapKind) -> MapKind:
    """Add a kind of map: it can then be planned, fitted, saved, reported and chosen on the page.

    Its settings class needs a tag of its own (`smdp.saved_types.register`) to be saved.
    """
    if _kinds.get(kind.name, kind) is not kind:
        raise ValueError(f"there is a kind of feature map called '{kind.name}' already")
    clash = sorted({each.name for each in fields(kind.settings)} & set(TAKEN))  # type: ignore[arg-type]
    if clash:
        raise ValueError(f"a map's settings cannot be called {', '.join(clash)}")
    _kinds[kind.name] = kind
    return kind


def map_kinds() -> tuple[MapKind, ...]:
    """All of them; the first is the one to begin with."""
    return tuple(_kinds.values())


def map_kind(name: object) -> MapKind:
    """The kind of this name."""
    known = isinstance(name, str) and name in _kinds
    require(known, "kind", f"one of {tuple(_kinds)}", name)
    return _kinds[str(name)]
