"""All settings of a training run, flat, each with what it does."""

from __future__ import annotations

import dataclasses
import json
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from jolly_env import document as doc
from jolly_env.rules import Rules

MOST_SEED: Final = 2**32 - 1
"""The largest seed that NumPy's global generator takes."""
MOST_WIDTH: Final = 65536
NETWORKS: Final = ("options", "suits")
"""Names of :data:`agents.network.NETWORKS`, which would have to import torch."""
DEVICES: Final = ("auto", "cpu", "cuda")
TYPES: Final[dict[Any, str]] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a text",
    tuple[int, int]: "two whole numbers",
    tuple[str, ...]: "texts",
}
"""What a setting of each type is called in an error."""


PRESETS: Final[dict[str, dict[str, Any]]] = {
    "quick": {"decisions": 2_000_000, "evaluate_every": 20, "evaluate_deals": 400},
    "laptop": {},
    "gpu": {"decisions": 300_000_000, "games": 2048, "batch_size": 8192, "widths": (192, 384), "threads": 8},
}
"""Settings for ten minutes or two hours on two cores, and for a machine with a GPU (not tried yet)."""


@dataclasses.dataclass(frozen=True)
class Config:
    """Settings of a training run; the defaults are good on two cores. ``ValueError`` for values that can't be."""

    players: int = 2
    """Players at the table."""
    rules: str = ""
    """Rules that differ, as in opening_points=30,max_turns=120."""
    seed: int = 0
    """Seed of the deals, the weights and the choices."""
    decisions: int = 30_000_000
    """Decisions to learn from; a run may be resumed with more."""
    games: int = 256
    """Games played side by side."""
    steps: int = 64
    """Decisions in each game between two updates."""
    epochs: int = 1
    """Passes over the decisions of an update."""
    batch_size: int = 512
    """Decisions of a gradient step."""
    learning_rate: float = 1e-3
    """Learning rate at the start."""
    learning_rate_end: float = 5e-5
    """Learning rate at the end; it falls in a straight line."""
    entropy: float = 0.005
    """Weight of the entropy bonus at the start."""
    entropy_end: float = 0.0005
    """Weight of the entropy bonus at the end; it falls in a straight line."""
    entropy_draw: float = 4.0
    """How many times the entropy bonus counts where a draw is chosen: takes pay only once a hand is played well."""
    gamma: float = 1.0
    """Discount from one decision of a seat to its next."""
    gae_lambda: float = 0.8
    """Decay of the generalised advantage estimates."""
    clip: float = 0.2
    """Range of the policy ratio."""
    value_clip: float = 0.0
    """How far a value may move in an update; 0: anywhere."""
    shaping: float = 0.0
    """Weight, at the start, of a potential: fewest cards left after the turn, 0 at draws; it fades as --hold does."""
    network: str = "options"
    """Network that plays: "options" scores each legal action by what it is, "suits" all 839 by their places."""
    widths: tuple[int, int] = (96, 192)
    """Hidden numbers of the policy, for each suit and for all."""
    value_widths: tuple[int, int] = (64, 128)
    """Hidden numbers of the value estimate, for each suit and for all."""
    privileged: bool = True
    """Let the value estimate see the hidden hands and the next cards while training."""
    teacher: str = "racer"
    """Agent that is imitated at first."""
    imitate: int = 150_000
    """Decisions that the teacher plays and the learner imitates; 0 for a start from nothing."""
    hold: float = 0.1
    """Weight, at the start, of the divergence from what was learned from the teacher."""
    hold_until: float = 0.2
    """Share of what comes after the imitation over which that weight falls to 0 in a straight line."""
    opponent_share: float = 0.2
    """Share of the games in which one seat learns and frozen snapshots play the others."""
    bots: tuple[str, ...] = ()
    """Bots that one seat learns against in a share of the games; none for self-play alone."""
    bot_share: float = 0.3
    """Share of the games that are played against bots; in the rest the learner plays all seats."""
    snapshot_every: int = 20
    """Updates from one snapshot to the next."""
    pool: int = 16
    """Newest snapshots that are played against."""
    evaluate_every: int = 100
    """Updates from one evaluation to the next."""
    evaluate_deals: int = 1000
    """Duplicate deals of an evaluation against each anchor, the same in all of them."""
    anchors: tuple[str, ...] = ("greedy", "planner")
    """Fixed opponents of the evaluations; the best checkpoint is the best against the last of them."""
    average: float = 0.95
    """Decay, from update to update, of the average of the weights, which is evaluated and saved as best."""
    save_every: int = 20
    """Updates from one checkpoint to the next."""
    threads: int = 2
    """Threads that torch may use, and that write what the networks see."""
    device: str = "auto"
    """Where the networks are trained: cpu, cuda, or auto for cuda where there is one."""

    def __post_init__(self) -> None:
        """Check the types and the values."""
        for name, hint in typing.get_type_hints(type(self)).items():
            if not _fits(getattr(self, name), hint):
                raise ValueError(f"{name}={getattr(self, name)!r}: expected {TYPES[hint]}")
        self._check("seed", 0, MOST_SEED)
        self._check("threads", 1, 1024)
        self._check("decisions", 1, 10**15)
        for name in ("games", "steps", "epochs", "evaluate_deals"):
            self._check(name, 1, 10**9)
        self._check("batch_size", 2, 10**9)
        for name in ("snapshot_every", "pool", "evaluate_every", "save_every"):
            self._check(name, 1, 10**15)
        for name in (
            "learning_rate",
            "learning_rate_end",
            "entropy",
            "entropy_end",
            "entropy_draw",
            "clip",
            "value_clip",
            "hold",
            "shaping",
        ):
            self._check(name, 0, 1000)
        self._check("imitate", 0, 10**15)
        if self.device not in DEVICES:
            raise ValueError(f"device={self.device!r}: expected {', '.join(DEVICES)}")
        if self.shaping and self.network != "options":
            raise ValueError(f"shaping={self.shaping}: needs network=options")
        if self.network not in NETWORKS:
            raise ValueError(f"network={self.network!r}: expected {' or '.join(NETWORKS)}")
        for name in ("average", "hold_until", "gamma", "gae_lambda", "opponent_share", "bot_share"):
            self._check(name, 0, 1)
        for name in ("widths", "value_widths"):
            widths = getattr(self, name)
            if not 1 <= min(widths) <= max(widths) <= MOST_WIDTH:
                raise ValueError(
                    f"{name}={widths}: expected two whole numbers from 1 to {MOST_WIDTH}, for each suit and for all"
                )
        if self.bots and self.opponent_share + self.bot_share > 1:
            raise ValueError(
                f"opponent_share={self.opponent_share} and bot_share={self.bot_share}: more than 1 together"
            )
        if not self.anchors or len(set(self.anchors)) < len(self.anchors):
            raise ValueError(f"anchors={self.anchors}: name at least one agent, and each but once")
        if self.batch_size > self.games * self.steps:
            raise ValueError(
                f"batch_size={self.batch_size}: more than the {self.games * self.steps} decisions of an update "
                f"(games={self.games} times steps={self.steps})"
            )
        self.table()

    def _check(self, name: str, low: int, high: int) -> None:
        """Check the range of a value; NaN is refused."""
        value = getattr(self, name)
        if not low <= value <= high:
            raise ValueError(f"{name}={value}: expected {low} to {high}")

    def table(self) -> Rules:
        """Return the rules that are played."""
        from eval.cli import parse_rules

        self._check("players", 2, 4)
        try:
            return parse_rules(self.rules, self.players)
        except ValueError as error:
            raise ValueError(f"rules={self.rules}: {str(error).removeprefix('rules: ')}") from None

    def to_json(self) -> dict[str, Any]:
        """Return all settings."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, path: Path, fields: Any) -> Config:
        """Return the settings that a run folder's ``path`` holds; ``ValueError`` that names it if they can't be."""
        known = [field.name for field in dataclasses.fields(cls)]
        listed = doc.members(fields, f"{path}: config", known)
        try:
            values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in listed.items()}
            return cls(**values)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None


def _fits(value: Any, hint: Any) -> bool:
    """Tell whether a value is of the type of a setting."""
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint in (int, str, bool):
        return type(value) is hint
    kinds = typing.get_args(hint)
    if not isinstance(value, tuple) or (kinds[-1] is not ... and len(value) != len(kinds)):
        return False
    return all(_fits(part, kinds[0]) for part in value)


def with_preset(argv: Sequence[str]) -> list[str]:
    """Return the arguments with those of ``--preset NAME`` in its place, so that later ones count more."""
    argv = [word for given in argv for word in (given.split("=", 1) if given.startswith("--preset=") else [given])]
    if "--preset" not in argv:
        return argv
    at = argv.index("--preset")
    name = argv[at + 1] if at + 1 < len(argv) else ""
    if name not in PRESETS:
        raise ValueError(f"--preset {name}: expected {', '.join(PRESETS)}")
    words: list[str] = []
    for key, value in PRESETS[name].items():
        words += [f"--{key.replace('_', '-')}", *map(str, value if isinstance(value, tuple) else (value,))]
    rest = [*argv[:at], *argv[at + 2 :]]
    return [*rest[:1], *words, *rest[1:]]


def read_json(path: Path) -> Any:
    """Return what a JSON file holds; ``ValueError`` that names it if it is damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not JSON: {error}") from None
