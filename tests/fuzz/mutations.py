"""Files changed at random: their bytes, their words, their parts, and the values inside."""

from __future__ import annotations

import contextlib
import json
import re
import tomllib
import zipfile
from collections.abc import Sequence
from io import BytesIO
from random import Random
from typing import Any

import tomli_w
from fuzz.corpus import members, structure
from saved_members import resealed

LONG = "n" * 10_000
WORDS = (
    *("", " ", '"', '""', "'", ",", ";", "\t", "|", "\n", "\r", "\r\n\r\n", "\\", "\x1a", "\x1f"),
    *("NA", "NaN", "inf", "-inf", "1e999", "-1e-999", "9" * 400, "9" * 5_000, "0x1F", "1_000"),
    *("-9", "007", "1,5", "1.000,5", "2020-13-45", "0000-00-00", "TRUE", "null", "None", "#REF!"),
    *("<script>alert(1)</script>", "=cmd|' /C calc'!A0", "$x^2$", "**b** [x](javascript:1)"),
    *("\u202eright to left", "שלום", "😀" * 50, "\ufeff", "\u2028", "\x00", "\x07\x1b[31m", LONG),
    *("sep=;\n", "subject", "column_1", "../../etc/passwd", "{}", "[]", "%s%n", "&lt;", "%{x}"),
)
BYTES = (
    *(b"\x00", b"\xff", b"\x00" * 8, b"\xff" * 8, b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f"),
    *(b"\x80" * 4, b"\xc3", b"\xf0\x9f", b"\xed\xa0\x80", b"PK\x03\x04", b"PAR1", b"\xff\xfe"),
)
ENCODINGS = ("utf-16", "utf-16-be", "utf-32", "utf-8-sig", "cp1252", "latin-1", "utf-7", "cp037")
MARKS = re.compile(rb"[,;\t|\n\"']|[0-9.]+|[A-Za-z_]+")
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 0.5, 1e308, 10**30, 10**400, 2**63, -(2**63), "", "x", LONG),
    *([], {}, [[]], [None], {"$array": "a"}, {"$class": "os:system", "fields": {}}, float("nan")),
    *({"$tuple": [[]]}, {"$map": [[[], 1]]}, {"$enum": "cell", "value": 99}),
)
PART_NAMES = ("../x", "/etc/passwd", "a\\b", "", "x/" * 2_000, "manifest.json", "xl/workbook.xml")


def mutated(data: bytes, dice: Random, others: Sequence[bytes]) -> bytes:
    """The file after one to six changes, of a kind that suits what it is."""
    for _ in range(dice.choice((1, 1, 1, 2, 3, 6))):
        changes = [_change_bytes] * 2 + [_change_words] * 2
        if members(data):
            changes += [_change_parts] * 6
        elif data[:1] in b"{[" and structure(data) is not None:
            changes += [_change_json] * 4
        changes += [lambda d, r: _spliced(d, r.choice(others), r), _recoded]
        with contextlib.suppress(RecursionError):  # nested so deeply that it cannot be written
            data = dice.choice(changes)(data, dice)
    return data


def _change_bytes(data: bytes, dice: Random) -> bytes:
    changed = bytearray(data)
    start = dice.randrange(len(changed) + 1)
    stop = min(len(changed), start + dice.choice((1, 1, 4, 8, 60, 1_000)))
    match dice.randrange(8):
        case 0:
            del changed[start:]
        case 1:
            del changed[:start]
        case 2:
            del changed[start:stop]
        case 3:
            changed[start:start] = changed[start:stop] * dice.choice((1, 2, 50))
        case 4:
            changed[start:stop] = dice.choice(BYTES)
        case 5:
            changed[start:start] = dice.randbytes(dice.choice((1, 4, 64)))
        case _:
            if changed:
                changed[start % len(changed)] ^= 1 << dice.randrange(8)
    return bytes(changed)


def _change_words(data: bytes, dice: Random) -> bytes:
    """A word, a number or a mark somewhere becomes another, or one that does harm."""
    place = dice.randrange(len(data) + 1)
    found = MARKS.search(data, place) or MARKS.search(data)
    if found is None:
        return data
    new = dice.choice(WORDS).encode()
    match dice.randrange(4):
        case 0:
            new = found[0] + new
        case 1:  # everywhere, as a different delimiter would be
            return data.replace(found[0], new[:20]) if len(data) < 100_000 else data
        case _:
            pass
    return data[: found.start()] + new + data[found.end() :]


def _spliced(data: bytes, other: bytes, dice: Random) -> bytes:
    """The beginning of one file and the end of another."""
    return data[: dice.randrange(len(data) + 1)] + other[dice.randrange(len(other) + 1) :]


def _recoded(data: bytes, dice: Random) -> bytes:
    try:
        return data.decode().encode(dice.choice(ENCODINGS))
    except UnicodeError:
        return data


def _change_parts(data: bytes, dice: Random) -> bytes:
    """A packed file whose parts were changed, renamed, swapped, doubled or left out."""
    parts = members(data)
    if not parts:
        return data
    pairs = list(parts.items())
    place, other = dice.randrange(len(pairs)), dice.randrange(len(pairs))
    name, content = pairs[place]
    match dice.randrange(8):
        case 0:
            del pairs[place]
        case 1:
            pairs[place] = (dice.choice(PART_NAMES), content)
        case 2:
            pairs[place], pairs[other] = (name, pairs[other][1]), (pairs[other][0], content)
        case 3:
            pairs.append((dice.choice((name, *PART_NAMES)), dice.choice((b"", content))))
        case 4:
            pairs[place] = (name, _packed([(name, content)], dice))
        case _:
            pairs[place] = (name, _changed_part(content, dice))
    if b"smdp analysis" in parts.get("manifest.json", b"") and dice.random() < 0.8:
        try:
            return resealed(dict(pairs))
        except Exception:  # what a forger cannot pack is not a case
            return data
    return _packed(pairs, dice)


def _changed_part(content: bytes, dice: Random) -> bytes:
    if members(content):
        return _change_parts(content, dice)
    if content[:1] in b"{[" and content and dice.random() < 0.8:
        return _change_json(content, dice)
    return dice.choice((_change_bytes, _change_words))(content, dice)


def _packed(pairs: Sequence[tuple[str, bytes]], dice: Random) -> bytes:
    kind = dice.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED))
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", kind) as file:
        for name, content in pairs:
            file.writestr(zipfile.ZipInfo(name), content, kind)
    return buffer.getvalue()


def _change_json(data: bytes, dice: Random) -> bytes:
    value = structure(data)
    return data if value is None else json.dumps(changed_value(value, dice)).encode()


def changed_toml(data: bytes, dice: Random) -> bytes:
    """A TOML text with one value or key exchanged; as it was where TOML cannot say so."""
    try:
        return tomli_w.dumps(changed_value(tomllib.loads(data.decode()), dice)).encode()
    except Exception:
        return data


def changed_value(value: Any, dice: Random) -> Any:
    """The structure with one of its values or keys exchanged."""
    places: list[tuple[Any, Any]] = []
    _collect(value, places)
    if not places:
        return dice.choice(VALUES)
    holder, key = dice.choice(places)
    match dice.randrange(6):
        case 0 if isinstance(holder, dict):
            holder[dice.choice(("", "$class", "$array", LONG, "format"))] = holder.pop(key)
        case 1:
            holder.pop(key)
        case 2:
            holder[key] = _deep(dice.choice((50, 700, 20_000)))
        case 3:
            other, at = dice.choice(places)
            holder[key] = json.loads(json.dumps(other[at])) if at in _keys(other) else None
        case _:
            holder[key] = dice.choice(VALUES)
    return value


def _deep(levels: int) -> Any:
    """Nested as deeply as can still be written down."""
    value: Any = 1
    for _ in range(min(levels, 700)):
        value = [value]
    return value if levels <= 700 else "[" * levels


def _keys(holder: Any) -> Any:
    return holder if isinstance(holder, dict) else range(len(holder))


def _collect(value: Any, places: list[tuple[Any, Any]]) -> None:
    pairs: Any = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for key, inner in pairs:
        places.append((value, key))
        _collect(inner, places)
