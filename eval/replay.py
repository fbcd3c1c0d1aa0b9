"""``python -m eval replay``: step through a record in the terminal, print all of it, or make a film of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from jolly_env.game import Game
from jolly_env.record import load
from jolly_env.record import replay as play_again
from jolly_env.render import render_game

CLEAR: Final = "\x1b[2J\x1b[H"
HELP: Final = "Enter or space: on   b: back   number and Enter: go there   q: quit"


class Position(NamedTuple):
    """A position of a game and how it came about."""

    title: str
    game: Game


def positions(path: Path) -> list[Position]:
    """Return every position of a record; ``ValueError`` says where it is damaged."""
    record = load(path)
    titles: list[tuple[str, str | None]] = []
    for number, played in enumerate(record["rounds"]):
        titles.append((f"round {number} is dealt", None))
        titles += [("", action) for action in played["actions"]]
    shown = []
    mover = 0
    for game, (title, action) in zip(play_again(record, str(path)), titles, strict=True):
        if action is not None:
            title = f"player_{mover} ({record['agents'][mover]}): {action}"
        shown.append(Position(title, game.clone()))
        mover = game.seat
    return shown


def replay(path: Path) -> None:
    """Show a record: a position at a time on a terminal, all of them elsewhere."""
    shown = positions(path)
    if sys.stdin.isatty() and sys.stdout.isatty():
        walk(shown, _keys(), sys.stdout.write)
        return
    for number in range(len(shown)):
        print(_page(shown, number, colour=False) + "\n")


def film(path: Path, out: Path) -> None:
    """Write a film of a record, every position a frame; ``ValueError`` says what is wrong or missing for it."""
    from jolly_env.film import save_film

    try:
        count = save_film(path, out)
    except ModuleNotFoundError as error:
        raise ValueError(str(error)) from None
    print(f"wrote {out}, {count} positions")


def walk(shown: list[Position], keys: Iterable[str], write: Callable[[str], object]) -> int:
    """Show positions by the keys that are pressed, until one is ``q`` or there are no more; return where that was."""
    at, number = 0, ""
    write(CLEAR + _page(shown, at, colour=True) + f"\n\n{HELP}\n")
    for key in keys:
        if key == "q":
            break
        if key.isdigit():
            number += key
            continue
        if key == "b":
            at -= 1
        elif number:
            at = int(number)
        elif key in (" ", "\n", "\r"):
            at += 1
        number = ""
        at = min(max(at, 0), len(shown) - 1)
        write(CLEAR + _page(shown, at, colour=True) + f"\n\n{HELP}\n")
    return at


def _page(shown: list[Position], number: int, *, colour: bool) -> str:
    """Return a position as text."""
    title, game = shown[number]
    return f"{number} of {len(shown) - 1}  {title}\n{render_game(game, colour)}"


def _keys() -> Iterator[str]:
    """Yield keys as they are pressed; where the system has no such thing, the characters of lines."""
    try:
        import termios
        import tty
    except ImportError:  # Windows
        for line in sys.stdin:
            yield from line
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        while key := sys.stdin.read(1):
            yield key
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
