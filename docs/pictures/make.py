"""Draw the pictures of README.md.

python docs/pictures/make.py table               docs/pictures/table.png, a position that greedy play leads to
python docs/pictures/make.py curve runs/demo     docs/pictures/curve.png, the curve of a training run
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from eval.cli import main_guard, parse
from eval.files import writing
from jolly_env.batch import Batch
from jolly_env.cards import JOKER, RANKS
from jolly_env.state import PLAY, SET

FOLDER = Path(__file__).resolve().parent
SUIT_SIGNS = "♣♦♥♠"
RANK_NAMES = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
COLOURS = {
    "felt": "#e8efe9",
    "back": "#3d6b8f",
    "edge": "#7a857c",
    "black": "#20262b",
    "red": "#b8272c",
    "joker": "#7a3fa0",
}
WIDTH, HEIGHT, STEP = 0.62, 0.9, 0.42
"""Of a card, and from one card of a meld to the next."""


@dataclasses.dataclass(frozen=True)
class Table:
    """Draw a table in the middle of a round."""

    seed: int = 12
    """Seed of the games among which the position is sought."""


@dataclasses.dataclass(frozen=True)
class Curve:
    """Draw the curve of a training run."""

    run: tyro.conf.Positional[Path]
    """Folder of the run."""


def find_position(seed: int) -> Any:
    """Return a state with a good many melds that greedy play leads to: its player has drawn and is to play."""
    import agents

    greedy = agents.make("greedy")
    batch = Batch(64, seed=seed)
    for _ in range(2000):
        states = batch.states
        fits = (states["phase"] == PLAY) & (states["meld_count"] >= 7) & (states["meld_count"] <= 8)
        fits &= (states["row_size"] >= 5) & (states["row_size"] <= 12) & (states["hand_size"][:, :2].min(axis=1) >= 5)
        fits &= (states["meld_jokers"] != 0).sum(axis=1) >= 1
        if fits.any():
            return states[np.flatnonzero(fits)[0]].copy()
        batch.step(greedy.act(batch.observations, batch.masks, batch.keys))
    raise ValueError(f"--seed {seed}: no position to draw; try another")


def draw_card(axes: Any, x: float, y: float, card: int | None) -> None:
    """Draw a card with its lower left corner at (x, y); None is one that lies face down."""
    from matplotlib.patches import FancyBboxPatch

    face = COLOURS["back"] if card is None else "white"
    box = FancyBboxPatch(
        (x, y),
        WIDTH,
        HEIGHT,
        boxstyle="round,pad=0,rounding_size=0.08",
        facecolor=face,
        edgecolor=COLOURS["edge"],
        lw=0.8,
    )
    axes.add_patch(box)
    if card is None:
        return
    if card == JOKER:
        top, sign, colour = "", "★", COLOURS["joker"]
    else:
        top, sign = RANK_NAMES[card % RANKS], SUIT_SIGNS[card // RANKS]
        colour = COLOURS["red"] if card // RANKS in (1, 2) else COLOURS["black"]
    axes.text(x + 0.07, y + HEIGHT - 0.07, top, color=colour, fontsize=10, fontweight="bold", ha="left", va="top")
    axes.text(x + 0.21, y + 0.12, sign, color=colour, fontsize=12, ha="center", va="bottom")


def draw_cards(axes: Any, x: float, y: float, cards: Sequence[int | None]) -> float:
    """Draw overlapping cards from (x, y) to the right; return where they end."""
    for i, card in enumerate(cards):
        draw_card(axes, x + STEP * i, y, card)
    return x + STEP * (len(cards) - 1) + WIDTH


def hand_of(state: Any, seat: int) -> list[int]:
    """Return the cards of a hand in order."""
    return [card for card in range(JOKER + 1) for _ in range(state["hands"][seat, card])]


def melds_of(state: Any) -> list[tuple[str, list[int]]]:
    """Return the melds with what they are called."""
    melds = []
    for meld in range(state["meld_count"]):
        cards = [int(card) for card in state["meld_cards"][meld] if card >= 0]
        melds.append(("set" if state["meld_kind"][meld] == SET else "run", cards))
    return melds


def draw_table(state: Any, path: Path) -> None:
    """Draw a position as the seat to move sees it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 5.6))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 12.8), ylim=(0, 7.47))
    axes.set_axis_off()
    figure.set_facecolor(COLOURS["felt"])
    seat = int(state["seat"])
    other = 1 - seat

    def label(x: float, y: float, text: str) -> None:
        axes.text(x, y, text, color=COLOURS["black"], fontsize=10, ha="left", va="bottom")

    for player, y, name in ((other, 6.0, "the other player"), (seat, 0.3, "to move")):
        cards: list[int | None] = [*hand_of(state, player)]
        draw_cards(axes, 0.4, y, cards if player == seat else [None] * len(cards))
        label(
            0.4,
            y + HEIGHT + 0.08,
            f"player_{player}, {name}: {len(cards)} cards, {state['laid'][player]} points on the table",
        )
    x, y = 0.4, 4.35
    for _, cards_of_meld in melds_of(state):
        length = STEP * (len(cards_of_meld) - 1) + WIDTH
        if x + length > 12.5:
            x, y = 0.4, y - HEIGHT - 0.18
        x = draw_cards(axes, x, y, cards_of_meld) + 0.35
    label(0.4, 5.33, "melds")
    draw_card(axes, 0.4, 1.75, None)
    label(0.4, 1.75 + HEIGHT + 0.08, f"stock: {state['stock_size']}")
    row = [int(card) for card in state["row_cards"][: state["row_size"]]]
    draw_cards(axes, 2.0, 1.75, row)
    label(2.0, 1.75 + HEIGHT + 0.08, f"row: {len(row)} discards, the newest on the right")
    with writing(path) as beside:
        figure.savefig(beside, dpi=110, metadata={"Software": None})


@main_guard
def main(argv: Sequence[str] | None = None) -> None:
    """Draw what is asked for."""
    given = list(sys.argv[1:] if argv is None else argv)
    options: Table | Curve = parse(
        {"table": Table, "curve": Curve}, "make.py", "Draw the pictures of README.md.", given
    )
    if isinstance(options, Table):
        path = FOLDER / "table.png"
        draw_table(find_position(options.seed), path)
    else:
        from train.curve import draw

        path = FOLDER / "curve.png"
        draw(options.run / "curve.csv", path)
    print(f"wrote {path}")


if __name__ == "__main__":
    sys.exit(main())
