"""The pictures of the pages under docs/: cards of the rules, and how actions and observations are numbered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from jolly_env import actions as act
from jolly_env.drawing import draw_cards, draw_meld, draw_table
from jolly_env.features import FEATURE_FIELDS
from jolly_env.game import Game
from jolly_env.observation import OBSERVATION

CARDS: Mapping[str, str] = {
    "set": "7c 7d 7s",
    "set-joker": "Kc Kd *",
    "run": "9h Th Jh Qh",
    "run-ace-low": "Ac 2c 3c",
    "run-ace-high": "Qs Ks As",
    "run-jokers": "6d * 8d * Td",
}
SWAP = {
    "hands": ["7h Kd", "2c"],
    "melds": [{"cards": "5h 6h *7h", "seats": 1}, {"cards": "Tc Td Ts", "seats": 0}],
    "opened": [2, 1],
    "turn": 4,
    "phase": "play",
}
HAND_JOLLY = {
    "hands": ["9c", "Ah 5d *"],
    "opened": [6, None],
    "turn": 6,
    "phase": "play",
    "melds": [{"cards": "Jc Qc Kc", "seats": 0, "turn": 6}, {"cards": "4s 5s 6s", "seats": 0, "turn": 6}],
}

RUN_RULE = f"{act.LAY_RUN} + {act.RUN_FORMS * act.RUN_STARTS} · suit + {act.RUN_FORMS} · start + form"
BANDS = (
    ("draw", act.DRAW_STOCK, 1, "draw from the stock"),
    ("take", act.TAKE + 1, act.MAX_TAKE, "take k cards from the row: k"),
    ("set", act.LAY_SET, act.LAY_RUN - act.LAY_SET, f"base set: {act.LAY_SET} + {act.SET_FORMS} · rank + form"),
    ("run", act.LAY_RUN, act.MELD - act.LAY_RUN, f"base run: {RUN_RULE}"),
    ("meld", act.MELD, act.DISCARD - act.MELD, f"attach, swap: {act.MELD} + {act.MELD_FORMS} · meld + form"),
    ("discard", act.DISCARD, act.ACTIONS - act.DISCARD, f"discard a card: {act.DISCARD} + card"),
)
COLOURS = ("#0b7285", "#5f3dc4", "#2b8a3e", "#a61e4d", "#b35900", "#364fc7")


def pictures() -> dict[str, str]:
    """Return each picture by the name of its file, as SVG."""
    swap, done = Game.from_json(SWAP), Game.from_json(HAND_JOLLY)
    done.step(act.DISCARD + 8)
    return {
        **{f"rules-{name}.svg": draw_cards(cards).svg for name, cards in CARDS.items()},
        "rules-swap.svg": draw_meld(swap, 0).svg,
        "rules-hand-jolly.svg": draw_table(done).svg,
        "actions.svg": _bands(BANDS),
        "observation.svg": _bands(_grouped([(name, kind[0].itemsize // 2) for name, kind in _fields().items()])),
        "features.svg": _bands(_grouped(list(FEATURE_FIELDS))),
    }


def _fields() -> Mapping[str, tuple[object, ...]]:
    """Return the fields of an observation, in order."""
    fields = OBSERVATION.fields
    assert fields is not None
    return {name: fields[name] for name in OBSERVATION.names or ()}


def _grouped(fields: Sequence[tuple[str, int]]) -> list[tuple[str, int, int, str]]:
    """Return name, start, length and remark of each field."""
    rows, start = [], 0
    for name, length in fields:
        rows.append((name, start, length, ""))
        start += length
    return rows


def _bands(rows: Sequence[tuple[str, int, int, str]]) -> str:
    """Draw what lies from where to where: a line each, and a bar that shows its share."""
    line, width = 24, 900
    total = rows[-1][1] + rows[-1][2]
    parts = []
    for i, (name, first, count, remark) in enumerate(rows):
        y, colour = 8 + line * i, COLOURS[i % len(COLOURS)]
        x, long = 330 + 250 * first / total, max(2.0, 250 * count / total)
        last = first + count - 1
        span = f"{first}" if count == 1 else f"{first} … {last}"
        parts.append(
            f'<text x="16" y="{y + 16}" font-weight="bold">{escape(name)}</text>'
            f'<text x="250" y="{y + 16}" text-anchor="end">{span}</text>'
            f'<text x="316" y="{y + 16}" text-anchor="end" fill="#667">{count}</text>'
            f'<rect x="330" y="{y + 5}" width="250" height="13" fill="#e9ecef"/>'
            f'<rect x="{x:.1f}" y="{y + 5}" width="{long:.1f}" height="13" fill="{colour}"/>'
            f'<text x="594" y="{y + 16}" font-size="11">{escape(remark)}</text>'
        )
    height = 16 + line * len(rows)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="DejaVu Sans, sans-serif" font-size="13" fill="#111">'
        f'<rect width="100%" height="100%" rx="8" fill="#fff"/>'
        f"{''.join(parts)}</svg>"
    )
