"""Checked reading of values that came from JSON: every fault is one ``ValueError`` that begins with its path."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from jolly_env.cards import Card, parse_card
from jolly_env.rules import Rules


def shown(value: Any) -> str:
    """Return a value for an error message: on one line and not long."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**40:
        return "a very long number"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def whole(value: Any, path: str, low: int, high: int) -> int:
    """Return a whole number from ``low`` to ``high``."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{path}: expected a whole number from {low} to {high}, got {shown(value)}")
    return value


def number(value: Any, path: str) -> float:
    """Return a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < math.inf:
        raise ValueError(f"{path}: expected a number, got {shown(value)}")
    return float(value)


def flag(value: Any, path: str) -> bool:
    """Return a truth value."""
    if not isinstance(value, bool):
        raise ValueError(f"{path}: expected true or false, got {shown(value)}")
    return value


def text(value: Any, path: str) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise ValueError(f"{path}: expected a text, got {shown(value)}")
    return value


def entries(value: Any, path: str, count: int | None = None) -> list[Any]:
    """Return a list, of ``count`` entries if given."""
    if not isinstance(value, list):
        raise ValueError(f"{path}: expected a list, got {shown(value)}")
    if count is not None and len(value) != count:
        raise ValueError(f"{path}: expected {count} entries, got {len(value)}")
    return value


def members(value: Any, path: str, known: Collection[str], required: Collection[str] = ()) -> dict[str, Any]:
    """Return a mapping that has no keys but ``known`` ones, and all the ``required``."""
    if not isinstance(value, dict):
        raise ValueError(f"{path}: expected an object, got {shown(value)}")
    for key in value:
        if key not in known:
            raise ValueError(f"{path}: no key {shown(key)}; the keys are {', '.join(known)}")
    for key in required:
        if key not in value:
            raise ValueError(f"{path}: the key {key!r} is missing")
    return value


def choice(value: Any, path: str, names: Collection[str]) -> str:
    """Return one of ``names``."""
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"{path}: expected one of {', '.join(map(repr, names))}, got {shown(value)}")
    return value


def cards(value: Any, path: str) -> list[Card]:
    """Return the cards of a text with blanks between their names."""
    found = []
    for place, word in enumerate(text(value, path).split()):
        try:
            found.append(parse_card(word))
        except ValueError:
            raise ValueError(f"{path}: card {place} is {shown(word)}; expected one like 'Th' or '*'") from None
    return found


def rules(value: Any, path: str) -> Rules:
    """Return the rules of a mapping of field names."""
    try:
        return Rules.from_json(value)
    except ValueError as error:
        raise ValueError(f"{path}: {str(error).removeprefix('rules: ')}") from None


def whole_list(value: Any, path: str, count: int, low: int, high: int) -> list[int]:
    """Return a list of ``count`` whole numbers from ``low`` to ``high``."""
    return [whole(n, f"{path}[{i}]", low, high) for i, n in enumerate(entries(value, path, count))]


def heading(fields: dict[str, Any], path: str, name: str, version: int) -> None:
    """Make sure that ``format`` and ``version``, where given, are those that are read here."""
    if fields.get("format", name) != name:
        raise ValueError(f"{path}.format: expected {name!r}, got {shown(fields['format'])}")
    given = whole(fields.get("version", version), f"{path}.version", 0, 10**9)
    if given != version:
        age = "newer" if given > version else "older"
        raise ValueError(f"{path}.version: {given} is {age} than {version}, the version that is read here")
