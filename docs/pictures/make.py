"""Draw the pictures of README.md and of the pages beside it.

python docs/pictures/make.py table               docs/pictures/table.png, a position that greedy play leads to
python docs/pictures/make.py curve runs/demo     docs/pictures/curve.png, the curve of a training run
python docs/pictures/make.py pages               docs/pictures/*.svg, those of the pages
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tyro

from eval.cli import main_guard, parse
from eval.files import write_text, writing
from jolly_env.batch import Batch
from jolly_env.drawing import draw_table
from jolly_env.film import pixels
from jolly_env.game import Game
from jolly_env.rules import Rules
from jolly_env.state import PLAY

FOLDER = Path(__file__).resolve().parent
WIDTH = 1800
"""Of the table, twice as wide as it is drawn, for screens that are fine enough."""


@dataclasses.dataclass(frozen=True)
class Table:
    """Draw a table in the middle of a round."""

    seed: int = 12
    """Seed of the games among which the position is sought."""
    players: int = 4
    """Seats at the table."""


@dataclasses.dataclass(frozen=True)
class Curve:
    """Draw the curve of a training run."""

    run: tyro.conf.Positional[Path]
    """Folder of the run."""


@dataclasses.dataclass(frozen=True)
class Pages:
    """Draw the pictures of the pages: cards of the rules, how actions and observations are numbered."""


def find_position(seed: int, players: int) -> Game:
    """Return a game with a good many melds that greedy play leads to: its player has drawn and is to play."""
    import agents

    greedy = agents.make("greedy")
    batch = Batch(64, Rules(players=players), seed=seed)
    for _ in range(2000):
        states = batch.states
        fits = (states["phase"] == PLAY) & (states["meld_count"] >= 8) & (states["meld_count"] <= 10)
        fits &= (states["row_size"] >= 5) & (states["row_size"] <= 12)
        fits &= states["hand_size"][:, :players].min(axis=1) >= 5
        fits &= (states["meld_jokers"] != 0).sum(axis=1) >= 1
        if fits.any():
            return Game.from_state(states[np.flatnonzero(fits)[:1]])
        batch.step(greedy.act(batch.observations, batch.masks, batch.keys))
    raise ValueError(f"--seed {seed}: no position to draw; try another")


def save_table(game: Game, path: Path) -> None:
    """Draw a position as the seat to move sees it."""
    from PIL import Image

    with writing(path) as beside:
        Image.fromarray(pixels(draw_table(game.observe(game.seat)), WIDTH)).quantize(128).save(beside, optimize=True)


@main_guard
def main(argv: Sequence[str] | None = None) -> None:
    """Draw what is asked for."""
    given = list(sys.argv[1:] if argv is None else argv)
    commands = {"table": Table, "curve": Curve, "pages": Pages}
    options: Table | Curve | Pages = parse(
        commands, "make.py", "Draw the pictures of README.md and of the pages.", given
    )
    if isinstance(options, Pages):
        from pages import pictures

        for name, svg in pictures().items():
            write_text(FOLDER / name, svg + "\n")
        path = FOLDER / "*.svg"
    elif isinstance(options, Table):
        path = FOLDER / "table.png"
        save_table(find_position(options.seed, options.players), path)
    else:
        from train.curve import draw

        path = FOLDER / "curve.png"
        draw(options.run / "curve.csv", path)
    print(f"wrote {path}")


if __name__ == "__main__":
    sys.exit(main())
