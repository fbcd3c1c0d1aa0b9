"""The shapes of drawings as SVG text: cards, their backs, marks of seats and lines of text.

Lengths are in pixels of the drawing. Nothing has an id, so that many drawings can stand in one page.
"""

from __future__ import annotations

from typing import Final, NamedTuple
from xml.sax.saxutils import escape

from jolly_env.cards import JOKER, RANKS, Card, format_card

FELT: Final = "#1f6b4b"
INK, RED, VIOLET, IVORY, LAVENDER = "#1d242b", "#c01f2e", "#6d3aa0", "#fffdf8", "#efe4fa"
SHADE, CREAM, GOLD, DIM = "#12402d", "#f3f6ee", "#ffd75e", "#b9d3c4"
SEATS: Final = ("#5cb8ff", "#ffb04a", "#ff86b8", "#e9f06a")
"""Colours of the seats."""
CARD_WIDTH, CARD_HEIGHT = 60, 84
"""Of a card at scale 1."""
FONT: Final = "DejaVu Sans, sans-serif"

SUITS: Final = (
    "M0-9.6a4.5 4.5 0 0 1 3.6 7.2a4.6 4.6 0 1 1-2.5 7.1c.2 2.2 1 3.9 2.4 5.1h-7c1.4-1.2 2.2-2.9 2.4-5.1"
    "a4.6 4.6 0 1 1-2.5-7.1a4.5 4.5 0 0 1 3.6-7.2Z",
    "M0-10C2-6.3 4.7-2.9 7.6 0C4.7 2.9 2 6.3 0 10C-2 6.3-4.7 2.9-7.6 0C-4.7-2.9-2-6.3 0-10Z",
    "M0 9.4C-2.8 5.6-9.4 1.8-9.4-3.7C-9.4-6.9-7.1-9-4.7-9C-2.5-9-.8-7.6 0-5.5"
    "C.8-7.6 2.5-9 4.7-9C7.1-9 9.4-6.9 9.4-3.7C9.4 1.8 2.8 5.6 0 9.4Z",
    "M0-9.6C2.6-5.8 8.9-2.3 8.9 2.6C8.9 5.5 6.9 7.1 4.8 7.1C3.2 7.1 1.7 6.2 1 4.7C1.2 7 2 8.7 3.4 9.8H-3.4"
    "C-2 8.7-1.2 7-1 4.7C-1.7 6.2-3.2 7.1-4.8 7.1C-6.9 7.1-8.9 5.5-8.9 2.6C-8.9-2.3-2.6-5.8 0-9.6Z",
)
"""Clubs, diamonds, hearts, spades around the origin, about 20 wide and high."""
RANKS_DRAWN: Final = (
    "M-5 7L0-7L5 7M-3.3 2.6H3.3",
    "M-4.3-3.4A4.2 4 0 1 1 3.1-.4L-4.6 7H4.8",
    "M-4.2-5A4 3.5 0 1 1-.6-.5A4.2 3.8 0 1 1-4.6 5",
    "M2.4 7V-7L-5 3.2H5.2",
    "M4-7H-3.4L-4-1A4.4 4.3 0 1 1-4.5 5",
    "M2.8-7C-2-5.8-4.4-1.6-4.4 2.6A4.4 4.4 0 1 0 4.4 2.6A4.4 4.4 0 1 0-4.4 2.6",
    "M-4.6-7H4.6L-1.6 7",
    "M-3.6-3.7A3.6 3.3 0 1 1 3.6-3.7A3.6 3.3 0 1 1-3.6-3.7M-4.3 3.3A4.3 3.7 0 1 1 4.3 3.3A4.3 3.7 0 1 1-4.3 3.3",
    "M-2.8 7C2 5.8 4.4 1.6 4.4-2.6A4.4 4.4 0 1 0-4.4-2.6A4.4 4.4 0 1 0 4.4-2.6",
    "M-7.6-4.6L-5-7V7M-.6 0C-.6-9.3 7-9.3 7 0C7 9.3-.6 9.3-.6 0Z",
    "M3.2-7V2.8A3.8 4.2 0 0 1-4.2 4.2",
    "M-5.2 0A5.2 7 0 1 1 5.2 0A5.2 7 0 1 1-5.2 0M1.4 3L5.6 7.6",
    "M-4-7V7M4.8-7L-3.6 1.6M-.7-1.2L5.2 7",
)
"""Ace to king as lines around the origin, 14 high, so that they need no font."""
STAR: Final = "M0-10L2.4-3.3L9.5-3.1L3.9 1.3L5.9 8.1L0 4.1L-5.9 8.1L-3.9 1.3L-9.5-3.1L-2.4-3.3Z"
"""A joker's star, as large."""


class Face(NamedTuple):
    """A card to draw; ``card`` None lies face down.

    ``rank`` and ``suit`` are what a joker stands for, as far as that is known, and ``mark`` the seat that laid it.
    """

    card: Card | None
    rank: int | None = None
    suit: int | None = None
    mark: int | None = None

    @property
    def name(self) -> str:
        """The card in notation, as in ``*7h``; empty for one that lies face down."""
        if self.card is None:
            return ""
        if self.card != JOKER or self.rank is None or self.suit is None:
            return format_card(self.card)
        return format_card(self.card) + format_card(RANKS * self.suit + self.rank)


def card(face: Face, x: float, y: float, scale: float = 1.0, *, covered: bool = False) -> str:
    """Return a card with its upper left corner at (x, y); one that is ``covered`` shows only its left side."""
    body = _outline(face)
    if face.card is None:
        body += _back(covered)
    elif face.card == JOKER:
        body += _joker(face, covered)
    else:
        suit, rank = divmod(face.card, RANKS)
        body += _index(rank, suit)
        body += "" if covered else path(SUITS[suit], 37, 53, 1.35, _colour(suit))
    if face.mark is not None:
        body += seat_mark(face.mark, 11.5, CARD_HEIGHT - 12.5, 8.5)
    place = f"translate({x:.4g} {y:.4g})" + (f" scale({scale:g})" if scale != 1 else "")
    return f'<g class="card" data-card="{face.name}" transform="{place}">{body}</g>'


def seat_mark(seat: int, x: float, y: float, radius: float) -> str:
    """Return the disc of a seat with its number, around (x, y)."""
    number = text(x, y + 0.36 * 1.55 * radius, str(seat), 1.55 * radius, fill=INK, bold=True, anchor="middle")
    return f'<circle cx="{x:.4g}" cy="{y:.4g}" r="{radius:.3g}" fill="{SEATS[seat]}" stroke="{INK}"/>{number}'


def text(
    x: float, y: float, words: str, size: float, *, fill: str = CREAM, bold: bool = False, anchor: str = "start"
) -> str:
    """Return a line of text whose baseline is at ``y``; it begins, has its middle or ends at ``x``."""
    weight = ' font-weight="bold"' if bold else ""
    where = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f'<text x="{x:.4g}" y="{y:.4g}" font-size="{size:.3g}" fill="{fill}"{weight}{where}>{escape(words)}</text>'


def label(x: float, y: float, number: str, words: str, fill: str) -> str:
    """Return a number in bold and, in a colour, words beside it."""
    bold = f'<tspan font-weight="bold" fill="{CREAM}">{escape(number)}</tspan>'
    rest = f'<tspan dx="6">{escape(words)}</tspan>'
    return f'<text x="{x:.4g}" y="{y:.4g}" font-size="11.5" fill="{fill}">{bold}{rest}</text>'


def path(shape: str, x: float, y: float, scale: float, fill: str) -> str:
    """Return a shape around (x, y)."""
    return f'<path d="{shape}" transform="translate({x:.4g} {y:.4g}) scale({scale:g})" fill="{fill}"/>'


def box(x: float, y: float, width: float, height: float, radius: float, style: str) -> str:
    """Return a rounded rectangle; ``style`` are its other attributes."""
    return f'<rect x="{x:.4g}" y="{y:.4g}" width="{width:.4g}" height="{height:.4g}" rx="{radius:g}" {style}/>'


def _outline(face: Face) -> str:
    """Return a card's edge, which is its shadow too, and its paper: two plain shapes, since many are drawn."""
    paper, edge = (LAVENDER, VIOLET) if face.card == JOKER else (IVORY, SHADE)
    around = box(-1.6, -0.6, CARD_WIDTH + 2.4, CARD_HEIGHT + 3, 6.8, f'fill="{edge}"')
    return around + box(0, 0, CARD_WIDTH, CARD_HEIGHT, 6, f'fill="{paper}"')


def _back(covered: bool) -> str:
    """Return what a card shows that lies face down."""
    inner = box(4, 4, CARD_WIDTH - 8, CARD_HEIGHT - 8, 3.5, 'fill="#2b5c93"')
    line = box(8, 8, CARD_WIDTH - 16, CARD_HEIGHT - 16, 2, 'fill="none" stroke="#8fb4de" stroke-width="1.5"')
    return inner + line + ("" if covered else path(SUITS[1], CARD_WIDTH / 2, CARD_HEIGHT / 2, 1.5, "#8fb4de"))


def _joker(face: Face, covered: bool) -> str:
    """Return what a joker shows: its star, and beside it what it stands for."""
    if face.rank is None:
        body = path(STAR, 12.5, 16, 0.95, VIOLET)
    else:
        body = _index(face.rank, face.suit) + path(STAR, 11.5, 49 if face.suit is not None else 31, 0.75, VIOLET)
    return body if covered else body + path(STAR, 37, 51, 1.75, VIOLET)


def _index(rank: int, suit: int | None) -> str:
    """Return rank and suit as they stand in a card's corner; without a suit, the rank of a joker."""
    colour = VIOLET if suit is None else _colour(suit)
    corner = (
        f'<path d="{RANKS_DRAWN[rank]}" transform="translate(12 13.5)" fill="none" stroke="{colour}"'
        ' stroke-width="2.7" stroke-linecap="round" stroke-linejoin="round"/>'
    )
    return corner if suit is None else corner + path(SUITS[suit], 12, 31, 0.66, colour)


def _colour(suit: int) -> str:
    """Return the colour of a suit."""
    return RED if suit in (1, 2) else INK
