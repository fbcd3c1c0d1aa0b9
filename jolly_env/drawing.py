"""Cards, hands, melds and tables as pictures: SVG text, which notebooks show.

A table is drawn from a game, with everything, or from an observation, with what its seat may know. Jokers in melds
show what they stand for; a meld stands under the name of who laid most of it, and a disc marks the cards of others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import quoteattr

import numpy as np

from jolly_env import shapes
from jolly_env.cards import CARD_KINDS, HAND_VALUE, JOKER, RANKS, Card, format_cards, parse_cards
from jolly_env.scene import Scene, ShownMeld, ShownPlayer, listed, scene_of
from jolly_env.shapes import CARD_HEIGHT, CARD_WIDTH, FELT, FONT, Face

WIDTH: Final = 900
"""Of a table."""
MARGIN: Final = 16
SMALL: Final = 0.8
"""Scale of the cards on a table."""
STEP, LEAST_STEP = 26.0, 18.2
"""From one card to the next that covers it, and how near they come before a row wraps."""
MELD_LINES: Final = 2
"""Lines of melds for which there is always room, so that a film of a round is calm."""


class Drawing:
    """A picture as SVG text: ``svg``, ``width`` and ``height`` in pixels."""

    def __init__(self, width: float, height: float, body: str, label: str) -> None:
        """Put ``body``, SVG elements, on green felt; ``label`` says in words what is seen."""
        self.width, self.height = math.ceil(width), math.ceil(height)
        self.svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}"'
            f' viewBox="0 0 {self.width} {self.height}" font-family="{FONT}" role="img" aria-label={quoteattr(label)}>'
            f'<rect width="100%" height="100%" rx="10" fill="{FELT}"/>{body}</svg>'
        )
        self._label = label

    def save(self, path: str | Path) -> None:
        """Write the picture to a file, ``.svg`` or ``.png``; ``ValueError`` for another kind of file."""
        from jolly_env.film import save_picture

        save_picture(self, path)

    def _repr_svg_(self) -> str:
        """Return what a notebook shows."""
        return self.svg

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Drawing {self.width} x {self.height}: {self._label}>"


def draw_cards(cards: Iterable[Card] | str) -> Drawing:
    """Draw cards side by side, given by number or in notation, as in "Ac 2d Th *"; ``ValueError`` for other cards."""
    label = format_cards(parse_cards(cards) if isinstance(cards, str) else cards)
    faces = [Face(card) for card in parse_cards(label)]
    body, right, bottom = _spread(faces, MARGIN, MARGIN, WIDTH - 2 * MARGIN, 1, 66, 66)
    return Drawing(right + MARGIN, bottom + MARGIN, body, label or "no cards")


def draw_hand(counts: Any) -> Drawing:
    """Draw a hand given as counts by card, int[53], with its size and what it costs at a round's end (R15)."""
    cards = listed(_checked_counts(counts))
    body, right, bottom = _spread([Face(c) for c in cards], MARGIN, MARGIN, WIDTH - 2 * MARGIN, 1, 34, 34)
    label = f"{_count(len(cards), 'card')}, {_count(_cost(cards), 'point')}"
    width = max(right + MARGIN, 200)
    return Drawing(width, bottom + 34, body + shapes.text(MARGIN, bottom + 22, label, 14), label)


def draw_meld(source: Any, meld: int) -> Drawing:
    """Draw the meld of a number on the table of a game or an observation; ``ValueError`` if there is none."""
    melds = scene_of(source).melds
    if not isinstance(meld, int | np.integer) or not 0 <= meld < len(melds):
        raise ValueError(f"meld {meld!r}: the table has {_count(len(melds), 'meld')}, numbered from 0")
    shown = melds[meld]
    body, right, bottom = _meld(shown, MARGIN, 10, 1, 36)
    return Drawing(max(right + MARGIN, 170), bottom + MARGIN, body, f"meld {shown.number}")


def draw_table(source: Any) -> Drawing:
    """Draw the table of a game, with everything, or of an observation, with what its seat may know.

    An observation is a record, an array of one or its flat vector. ``ValueError`` for anything else.
    """
    scene = scene_of(source)
    parts = [_heading(30, " · ".join(scene.facts), 15, shapes.CREAM)]
    bottom = 44.0
    if scene.outcome is not None:
        parts.append(_heading(53, scene.outcome, 14, shapes.GOLD))
        bottom = 68
    for draw in (_stock_and_row, _melds, _players):
        body, bottom = draw(scene, bottom)
        parts.append(body)
    label = ", ".join(scene.facts) + (f"; {scene.outcome}" if scene.outcome else "")
    return Drawing(WIDTH, bottom + MARGIN, "".join(parts), label)


def _heading(y: float, words: str, size: float, fill: str) -> str:
    """Return a line of text over the whole width, in smaller letters if it is a long one."""
    return shapes.text(MARGIN, y, words, min(size, (WIDTH - 2 * MARGIN) / (0.7 * len(words))), fill=fill, bold=True)


def _stock_and_row(scene: Scene, top: float) -> tuple[str, float]:
    """Return the stock and the discard row, the newest on the right, and where they end."""
    y, left = top + 18, MARGIN + SMALL * CARD_WIDTH + 28
    body = shapes.text(MARGIN, top + 12, "stock", 12, fill=shapes.DIM)
    body += shapes.text(left, top + 12, "row, the newest last" if scene.row else "row", 12, fill=shapes.DIM)
    if scene.stock_size:
        for pile in range(min(scene.stock_size, 3)):
            body += shapes.card(Face(None), MARGIN + 2 * pile, y - pile, SMALL)
        x = MARGIN + 2 * pile + SMALL * CARD_WIDTH / 2
        body += shapes.box(x - 17, y + 22, 34, 22, 5, f'fill="{shapes.INK}" fill-opacity=".8"')
        body += shapes.text(x, y + 38, str(scene.stock_size), 14, bold=True, anchor="middle")
    else:
        body += _empty(MARGIN, y)
    faces = [Face(c) for c in scene.row]
    row, _, bottom = _spread(faces, left, y, WIDTH - MARGIN - left, SMALL, STEP, LEAST_STEP)
    return body + (row if faces else _empty(left, y)), bottom + 12


def _melds(scene: Scene, top: float) -> tuple[str, float]:
    """Return the melds in lines from left to right, and where they end."""
    line = SMALL * CARD_HEIGHT + 30
    x, y, body = float(MARGIN), top, ""
    for meld in scene.melds:
        width = SMALL * CARD_WIDTH + STEP * (len(meld.cards) - 1)
        if x + width > WIDTH - MARGIN:
            x, y = MARGIN, y + line
        drawn, right, _ = _meld(meld, x, y, SMALL, STEP)
        body += drawn
        x = max(right, x + 100) + 20
    if not scene.melds:
        body = shapes.text(MARGIN, y + 16, "no melds yet", 12, fill=shapes.DIM)
    return body, max(y + line, top + MELD_LINES * line) + 4


def _meld(meld: ShownMeld, x: float, y: float, scale: float, step: float) -> tuple[str, float, float]:
    """Return a meld under its number and owner, and where it ends to the right and below."""
    faces = []
    for laid, meant, seat in meld.cards:
        mark = None if seat == meld.owner else seat
        if laid == JOKER:
            rank, suit = meld.joker if meld.joker is not None else (meant % RANKS, meant // RANKS)
            faces.append(Face(laid, rank, suit, mark))
        else:
            faces.append(Face(laid, mark=mark))
    name = shapes.label(x, y + 9, f"m{meld.number}", f"player_{meld.owner}", shapes.SEATS[meld.owner])
    body, right, bottom = _spread(faces, x, y + 19, math.inf, scale, step, step)
    if meld.fresh:
        style = f'fill="none" stroke="{shapes.GOLD}" stroke-width="2.5"'
        body += shapes.box(x - 3.5, y + 15.5, right - x + 7, bottom - y - 12, 7, style)
    return f'<g class="meld" data-meld="{meld.number}">{name}{body}</g>', right, bottom


def _players(scene: Scene, top: float) -> tuple[str, float]:
    """Return the players' panels, two beside each other, a last one alone over the whole width; and where they end."""
    gap = 12
    half = (WIDTH - 2 * MARGIN - gap) / 2
    body, bottom = "", top - gap
    for i, player in enumerate(scene.players):
        if i % 2 == 0:
            top = bottom + gap
        width = WIDTH - 2 * MARGIN if i % 2 == 0 and i + 1 == len(scene.players) else half
        drawn, bottom = _player(player, MARGIN + i % 2 * (half + gap), top, width)
        body += drawn
    return body, bottom


def _player(player: ShownPlayer, x: float, top: float, width: float) -> tuple[str, float]:
    """Return a player's panel, and where it ends."""
    if player.hand is not None:
        faces = [Face(c) for c in player.hand]
        held = f"{_count(player.size, 'card')}, {_count(_cost(player.hand), 'point')}"
    else:
        faces = [Face(c) for c in player.known] + [Face(None)] * (player.size - len(player.known))
        held = _count(player.size, "card") + (f", {len(player.known)} known" if player.known else "")
    cards, _, bottom = _spread(faces, x + 12, top + 50, width - 24, SMALL, STEP, LEAST_STEP)
    frame = f' stroke="{shapes.GOLD}" stroke-width="2"' if player.moves else ""
    body = shapes.box(x, top, width, bottom + 12 - top, 8, 'fill="#000" fill-opacity=".2"' + frame)
    body += shapes.seat_mark(player.seat, x + 21, top + 17, 9)
    name = f"player_{player.seat}" + (" moves" if player.moves else "")
    body += shapes.text(x + 38, top + 22, name, 14, fill=shapes.GOLD if player.moves else shapes.CREAM, bold=True)
    body += shapes.text(x + width - 12, top + 22, held, 13, anchor="end")
    facts = f"laid {player.laid} · total {player.total} · {player.opened}"
    body += shapes.text(x + 12, top + 41, facts, 12, fill=shapes.DIM)
    body += cards if faces else _empty(x + 12, top + 50)
    return f'<g class="player" data-seat="{player.seat}">{body}</g>', bottom + 12


def _spread(
    faces: Sequence[Face], x: float, y: float, width: float, scale: float, step: float, least: float
) -> tuple[str, float, float]:
    """Return cards in a row that wraps at ``width``, and where they end to the right and below.

    From card to card it is ``step``, or less where that makes them fit, but not below ``least``.
    """
    card_width, card_height = scale * CARD_WIDTH, scale * CARD_HEIGHT
    room = width - card_width
    fits = len(faces) if math.isinf(room) else int(room // least) + 1
    lines = max(math.ceil(len(faces) / fits), 1) if faces else 1
    across = min(len(faces), fits)
    step = min(step, room / max(across - 1, 1))
    body = ""
    for i, face in enumerate(faces):
        line, place = divmod(i, fits)
        last = place + 1 == across or i + 1 == len(faces)
        covered = not last and step < 0.9 * card_width
        body += shapes.card(face, x + step * place, y + line * (card_height + 6), scale, covered=covered)
    right = x + step * max(across - 1, 0) + card_width
    return body, right, y + lines * card_height + (lines - 1) * 6


def _empty(x: float, y: float) -> str:
    """Return the place of cards that are not there."""
    style = f'fill="none" stroke="{shapes.DIM}" stroke-dasharray="5 4" stroke-opacity=".6"'
    return shapes.box(x, y, SMALL * CARD_WIDTH, SMALL * CARD_HEIGHT, 5, style)


def _cost(cards: Iterable[Card]) -> int:
    """Return what cards cost that are left in a hand (R15)."""
    return sum(int(HAND_VALUE[card]) for card in cards)


def _count(number: int, thing: str) -> str:
    """Return a number of things in words."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _checked_counts(counts: Any) -> np.ndarray:
    """Return counts by card, int[53]; ``ValueError`` for anything else."""
    array = np.asarray(counts)
    if array.shape != (CARD_KINDS,) or array.dtype.kind not in "iu" or array.min() < 0 or array.max() > 99:
        raise ValueError(f"hand: expected counts by card, int[{CARD_KINDS}], got {array.dtype}{list(array.shape)}")
    return array
