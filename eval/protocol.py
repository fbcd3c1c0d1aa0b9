"""Named protocols, so that figures from elsewhere compare: docs/protocols.md describes them."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from eval.__main__ import Run

RUNGS: Final = ("random", "greedy", "careful", "planner")
"""The opponents of version 1 of the protocols."""


@dataclasses.dataclass(frozen=True)
class Protocol:
    """One agent against each opponent alone, under the default rules; at a bigger table against a field of it."""

    players: int
    deals: int

    def opponents(self, name: str) -> list[str]:
        """Return the opponents that this version has, but for the agent itself."""
        return [rung for rung in present() if rung != name]


PROTOCOLS: Final = {"jolly-2p-v1": Protocol(2, 2000), "jolly-4p-v1": Protocol(4, 1000)}


def present() -> list[str]:
    """Return the opponents that this version has."""
    from agents.registry import NAMES

    return [rung for rung in RUNGS if rung in NAMES]


def told(name: str) -> str:
    """Return what a result says of its protocol: its name, and the opponents that are missing from it."""
    missing = [rung for rung in RUNGS if rung not in present()]
    return name + (f" without {', '.join(missing)}" if missing else "")


def chosen(options: Run) -> Protocol:
    """Return the protocol of the options; ``ValueError`` if there is none of that name, or they ask for another."""
    if options.protocol not in PROTOCOLS:
        raise ValueError(f"--protocol {options.protocol}: expected {' or '.join(PROTOCOLS)}")
    if len(options.agents) != 1:
        raise ValueError(
            f"--protocol {options.protocol}: name one agent, got {len(options.agents)}; it has its opponents"
        )
    given = {
        "--deals": options.deals is not None,
        "--players": options.players is not None,
        "--half-width": options.half_width is not None,
        "--rules": bool(options.rules),
    }
    for option, is_given in given.items():
        if is_given:
            raise ValueError(f"{option}: --protocol {options.protocol} fixes it; leave one of the two out")
    return PROTOCOLS[options.protocol]
