"""``python -m benchmarks.search``: what choosing by playouts adds to a network, by worlds and by how sure it must be.

In positions of the network's play each candidate is played out in many worlds. Some of them choose, much as the
search does, and the others tell what the choice is worth: far less noise than playing the two against each other, but
it takes the sampled worlds and the playouts for true.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import machine
from eval.cli import main_guard
from eval.origin import origin

PROG = "python -m benchmarks.search"
DESCRIPTION = """Tell what choosing by playouts is worth, in points a round and seat, at decisions of a network.

A gain counts where it exceeds so many standard errors in the worlds that choose; the other worlds tell its worth.

Example: python -m benchmarks.search --players 4 --positions 20 --worlds 200"""

CHOOSING = (64, 128)
"""Worlds that choose."""
ERRORS = (0.0, 1.0, 1.5, 2.0, 3.0)
"""Standard errors that a gain must exceed."""
SHARE = 0.03
"""Share of the decisions that are asked about."""
GAMES = 64


@dataclass
class Options(machine.Options):
    """The options of the command."""

    policy: str = "champion"
    """The network: ``champion``, or a run folder."""
    players: int = 2
    """Seats at the table, 2 to 4."""
    positions: int = 240
    """Positions that are asked about."""
    worlds: int = 400
    """Worlds of each."""
    seed: int = 1
    """Seed of the games."""


def ask(options: Options) -> tuple[list[np.ndarray], float]:
    """Return the margins of each position, float64[C, W], and how many such decisions a seat has in a round."""
    from agents.beliefs import sample_worlds
    from agents.search import SearchAgent, turn_key
    from jolly_env.batch import Batch
    from jolly_env.rules import Rules

    search = SearchAgent(worlds=options.worlds, policy=options.policy)
    batch, rng = Batch(GAMES, Rules(players=options.players), seed=options.seed), np.random.default_rng(options.seed)
    found: list[np.ndarray] = []
    open_decisions, decisions, rounds = np.zeros(GAMES, dtype=np.int64), 0, 0
    while len(found) < options.positions:
        actions = np.zeros(GAMES, dtype=np.int64)
        for i in range(GAMES):
            record, mask, key = batch.observations[i : i + 1], batch.masks[i], batch.keys[i]
            turns = search.turns(record, mask, key)
            actions[i] = turns[0, 1]
            if len(turns) == 1:
                continue
            open_decisions[i] += 1
            if rounds >= GAMES and len(found) < options.positions and rng.random() < SHARE:
                worlds = sample_worlds(record[0], turn_key(record), options.worlds)
                margins = np.zeros((len(turns), options.worlds))
                alive = np.ones(len(turns), dtype=np.bool_)
                search.play_out(record, mask, key, turns, worlds, (0, options.worlds), alive, margins)
                found.append(margins)
                if len(found) % 20 == 0:
                    machine.say(f"{len(found)} of {options.positions} positions")
        batch.step(actions)
        over = batch.round_over
        rounds, decisions = rounds + int(over.sum()), decisions + int(open_decisions[over].sum())
        open_decisions[over] = 0
    return found, decisions / (rounds * options.players)


def weigh(found: list[np.ndarray], worlds: int, errors: float, often: float) -> dict[str, float]:
    """Return how often so many worlds choose another turn, and what that gains a round, with its 95% half-width."""
    from agents.search import paired

    gains, changed = np.zeros((len(found), 2)), 0
    for i, margins in enumerate(found):
        for half, (some, others) in enumerate(
            ((margins[:, :worlds], margins[:, worlds:]), (margins[:, -worlds:], margins[:, :-worlds]))
        ):
            mean, error = paired(some, 0)
            chosen = int(np.argmax(np.where(mean > errors * error, mean, 0.0)))
            changed += chosen != 0
            gains[i, half] = (others[chosen] - others[0]).mean()
    of_position = often * gains.mean(axis=1)
    return {
        "worlds": worlds,
        "errors": errors,
        "changed": changed / gains.size,
        "points": float(of_position.mean()),
        "half_width": float(1.96 * of_position.std() / np.sqrt(len(found))),
    }


def show(result: dict[str, Any]) -> None:
    """Print the table."""
    print(f"{result['decisions_a_round']:.1f} decisions a round and seat with more than one candidate")
    print("worlds  errors  changed  points a round and seat")
    for row in result["rows"]:
        numbers = f"{row['worlds']:6}  {row['errors']:6.1f}  {row['changed']:7.1%}"
        print(f"{numbers}  {row['points']:+.1f} +- {row['half_width']:.1f}")


@main_guard
def main(argv: Sequence[str] | None = None) -> None:
    """Run the command."""
    given = list(sys.argv[1:] if argv is None else argv)
    options = machine.parse_options(Options, PROG, DESCRIPTION, given)
    options.at_least_one("positions")
    if options.worlds <= max(CHOOSING):
        raise ValueError(f"--worlds {options.worlds}: expected more than {max(CHOOSING)}")
    found, often = ask(options)
    result = {
        "decisions_a_round": often,
        "rows": [weigh(found, worlds, errors, often) for worlds in CHOOSING for errors in ERRORS],
        "options": {name: getattr(options, name) for name in ("policy", "players", "positions", "worlds", "seed")},
        **origin(PROG, given),
    }
    machine.deliver(result, options.json, show)


if __name__ == "__main__":
    sys.exit(main())
