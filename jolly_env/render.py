"""A table as text for a terminal: what a seat may know, or everything.

Suits are ♣♦♥♠, hearts and diamonds red where colours are wanted; a joker in a run is written with the card that it
stands for, ``*7♥``. A meld stands with the seat that laid most of it, and a small number marks the cards of others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jolly_env.cards import JOKER, JOKER_CHAR, RANK_CHARS, RANKS, SUIT_SYMBOLS, Card
from jolly_env.game import Game
from jolly_env.scene import Scene, ShownMeld, ShownPlayer, scene_of_game, scene_of_observation

WIDTH = 100
"""Columns that a line keeps to."""
RED, BOLD, PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[0m"
SMALL = "⁰¹²³"
INDENT = 12


def render_text(observation: Any, colour: bool = True) -> str:
    """Return the table as the seat of an observation knows it, in lines of at most 100 columns.

    ``observation`` is a record of OBSERVATION, an array of one, or its flat vector; ``ValueError`` for anything else.
    """
    return "\n".join(_table(scene_of_observation(observation), colour))


def render_game(game: Game, colour: bool = True) -> str:
    """Return the table with all hands, the next cards of the stock, and the outcome of a round that is over.

    ``ValueError`` for what is no game.
    """
    scene = scene_of_game(game)
    lines = _table(scene, colour)
    if scene.outcome is not None:
        lines.append(scene.outcome)
    else:
        lines += _flow("stock", _cards(scene.stock or [], colour))
    return "\n".join(lines)


def _table(scene: Scene, colour: bool) -> list[str]:
    """Return the lines of a table."""
    lines = [_styled("  ".join(scene.facts), BOLD, colour)]
    lines += _flow("row", _cards(scene.row, colour) or [("-", 1)])
    lines += [line for meld in scene.melds for line in _meld(meld, colour)]
    lines += [line for player in scene.players for line in _player(player, colour)]
    return lines


def _meld(meld: ShownMeld, colour: bool) -> list[str]:
    """Return the lines of a meld."""
    words = []
    for laid, meant, seat in meld.cards:
        word, width = _card(laid, meant, colour)
        mark = "" if seat == meld.owner else SMALL[seat]
        words.append((word + mark, width + len(mark)))
    lines = _flow(f"m{meld.number:<2} by {meld.owner}", words)
    return [*lines[:-1], lines[-1] + ("  new" if meld.fresh else "")]


def _player(player: ShownPlayer, colour: bool) -> list[str]:
    """Return the lines of a player."""
    facts = [
        f"{'>' if player.moves else ' '} player_{player.seat}",
        f"{player.size:2} cards",
        f"laid {player.laid:4}",
        f"total {player.total:5}",
        player.opened,
    ]
    lines = [_styled("  ".join(facts), BOLD if player.moves else "", colour)]
    if player.hand is not None:
        lines += _flow("hand", _cards(player.hand, colour) or [("-", 1)])
    elif player.known:
        lines += _flow("known", _cards(player.known, colour))
    return lines


def _cards(cards: Iterable[Card], colour: bool) -> list[tuple[str, int]]:
    """Return cards as they are shown, each with the columns that it takes."""
    return [_card(card, card, colour) for card in cards]


def _card(laid: Card, meant: Card, colour: bool) -> tuple[str, int]:
    """Return a card as it is shown, and how many columns it takes."""
    if meant == JOKER:
        return JOKER_CHAR, 1
    suit, rank = divmod(meant, RANKS)
    word = (JOKER_CHAR if laid == JOKER else "") + RANK_CHARS[rank] + SUIT_SYMBOLS[suit]
    return _styled(word, RED if suit in (1, 2) else "", colour), len(word)


def _styled(text: str, style: str, colour: bool) -> str:
    """Return a text in a style if colours are wanted."""
    return f"{style}{text}{PLAIN}" if colour and style else text


def _flow(title: str, words: Iterable[tuple[str, int]]) -> list[str]:
    """Return words of known widths in lines of at most WIDTH columns, less room for a remark, under a title."""
    lines, line, used = [], "  " + title.ljust(INDENT - 2), INDENT
    for word, width in words:
        if used + width + 1 > WIDTH - 6:
            lines.append(line.rstrip())
            line, used = " " * INDENT, INDENT
        line += word + " "
        used += width + 1
    return [*lines, line.rstrip()]
