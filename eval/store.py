"""The folder of a run: what is played, the units that are over, one run at a time, nothing lost and nothing doubled.

::

    run.json        what is played; the same arguments go on with it
    parts/          a file a unit that is over: 000123.parquet
    rounds.parquet  all rounds of a run that has ended, in place of its parts
    faults.jsonl    what agents did wrong, one fault a line
    records/        the first games, where records are asked for; report.html and pictures: what eval report makes
    .lock           held while a run writes here
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from eval.arena import UNIT, Played, deal_seeds, unit_deals
from eval.files import write_json, write_text
from eval.parquet import read_rows, write_rows
from eval.pictures import PAIRS, RATINGS
from eval.rounds import join, round_dtype

RUN: Final = "run.json"
PARTS: Final = "parts"
ROUNDS: Final = "rounds.parquet"
FAULTS: Final = "faults.jsonl"
RECORDS: Final = "records"
PAGE: Final = "report.html"
LOCK: Final = ".lock"


@contextlib.contextmanager
def locked(folder: Path, option: str = "--out") -> Iterator[None]:
    """Hold the folder that an option names for this process; ``ValueError`` if another one does.

    The lock ends with the process.
    """
    with (folder / LOCK).open("w") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # Windows has none
            pass
        except BlockingIOError:
            raise ValueError(
                f"{option} {folder}: another process is writing there; wait for it, or name another {option}"
            ) from None
        yield


class Store:
    """The units of one run, by number, each on disk as soon as it is over. The caller holds the lock."""

    def __init__(self, folder: Path, run: dict[str, Any]) -> None:
        """Open a folder for a run, whose description becomes ``run.json``; what is there of it is found again.

        ``ValueError`` if the folder holds another run. ``run`` has "deals", the most there will be, which may grow.
        """
        self.folder, self.deals = folder, int(run["deals"])
        self.players = int(run["players"])
        self._seeds = deal_seeds(int(run["seed"]), self.deals)
        before = read_run(folder)
        if before is not None:
            _same(folder, before, run)
        if before != run:
            write_json(folder / RUN, run)
        self.damaged: list[Path] = []
        """Files that could not be read; their units are played again."""
        self.faults: dict[int, list[dict[str, Any]]] = {}
        """By unit, those that have any."""
        self._rows: dict[int, np.ndarray] = {}
        self._prefix = 0
        self._read_whole()
        for path in sorted((folder / PARTS).glob("*.parquet")):
            self._read_part(path)

    @property
    def units(self) -> set[int]:
        """The numbers of the units that are over."""
        return set(self._rows)

    def prefix(self) -> int:
        """Return how many units are over before the first that is not."""
        while self._prefix in self._rows:
            self._prefix += 1
        return self._prefix

    def add(self, played: Played) -> None:
        """Save a unit that is over."""
        (self.folder / PARTS).mkdir(exist_ok=True)
        about = {"unit": played.unit, "deals": self._count(played.unit), "faults": played.faults}
        write_rows(self._part(played.unit), played.rows, about)
        self._keep(played.unit, played.rows, played.faults)

    def rows(self, units: int) -> np.ndarray:
        """Return the rounds of the first ``units`` units, by deal, seating and round."""
        return join([np.zeros(0, round_dtype(self.players)), *(self._rows[unit] for unit in range(units))])

    def told_faults(self, units: int) -> list[dict[str, Any]]:
        """Return the faults in the first ``units`` units."""
        return [fault for unit in sorted(self.faults) if unit < units for fault in self.faults[unit]]

    def write_faults(self, units: int) -> None:
        """Write those faults to a file of their own, one a line; without any there is no file."""
        path, faults = self.folder / FAULTS, self.told_faults(units)
        if faults:
            write_text(path, "".join(json.dumps(fault) + "\n" for fault in faults))
        else:
            path.unlink(missing_ok=True)

    def finish(self, units: int, about: dict[str, Any]) -> None:
        """Put the first ``units`` units together in one file and remove the parts; ``about`` goes into its metadata."""
        rows = self.rows(units)
        faults = self.told_faults(units)
        deals = min(UNIT * units, self.deals)
        write_rows(self.folder / ROUNDS, rows, {**about, "deals": deals, "faults": faults})
        shutil.rmtree(self.folder / PARTS, ignore_errors=True)

    def _read_whole(self) -> None:
        """Find the units of a run that has ended."""
        path = self.folder / ROUNDS
        if not path.exists():
            return
        held = self._read(path)
        if held is None:
            return
        rows, about = held
        faults: dict[int, list[dict[str, Any]]] = {}
        for fault in about["faults"]:
            faults.setdefault(fault["deal"] // UNIT, []).append(fault)
        numbers = rows["deal"] // UNIT
        starts = np.searchsorted(numbers, np.arange(numbers.max(initial=-1) + 2))
        for unit in range(len(starts) - 1):
            if self._count(unit) == min(UNIT, about["deals"] - UNIT * unit):
                self._keep(unit, rows[starts[unit] : starts[unit + 1]], faults.get(unit, []))

    def _read_part(self, path: Path) -> None:
        """Find a unit again, unless its file is damaged or of a run of fewer deals."""
        held = self._read(path)
        if held is None:
            return
        rows, about = held
        unit = int(path.stem)
        if about["deals"] == self._count(unit):
            self._keep(unit, rows, about["faults"])

    def _read(self, path: Path) -> tuple[np.ndarray, dict[str, Any]] | None:
        """Return what a file of this run holds; None, after noting it, if it is damaged or holds other deals."""
        try:
            rows, about = read_rows(path)
            if path.parent.name == PARTS and about["unit"] != int(path.stem):
                raise ValueError(f"{path}: holds unit {about['unit']}")
            known = rows["deal"] < self.deals
            if (rows["seed"][known] != self._seeds[rows["deal"][known]]).any():
                raise ValueError(f"{path}: holds deals of another seed")
        except (ValueError, KeyError):
            self.damaged.append(path)
            return None
        return rows, about

    def _keep(self, unit: int, rows: np.ndarray, faults: list[dict[str, Any]]) -> None:
        """Hold a unit in memory."""
        self._rows[unit] = rows
        if faults:
            self.faults[unit] = faults

    def _part(self, unit: int) -> Path:
        """Return the file of a unit."""
        return self.folder / PARTS / f"{unit:06}.parquet"

    def _count(self, unit: int) -> int:
        """Return how many deals a unit has."""
        return len(unit_deals(unit, self.deals))


def read_run(folder: Path) -> dict[str, Any] | None:
    """Return what a folder says of its run, or None if it says nothing; ``ValueError`` if it can't be read."""
    try:
        run = json.loads((folder / RUN).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ValueError(f"{folder / RUN}: not JSON: {error}; --overwrite starts anew") from None
    if not isinstance(run, dict) or not {"agents", "seed", "players", "rules", "deals"} <= set(run):
        raise ValueError(f"{folder / RUN}: not the description of a run; --overwrite starts anew")
    return run


def holds_training(folder: Path) -> bool:
    """Tell whether a folder is that of a training run, whose ``run.json`` is another."""
    return any((folder / name).exists() for name in ("curve.csv", "last", "snapshots"))


def clear(folder: Path) -> None:
    """Remove what a run has written in a folder, but for the lock and the result, which the next replaces."""
    shutil.rmtree(folder / PARTS, ignore_errors=True)
    for name in (RUN, ROUNDS, FAULTS, PAGE, RATINGS, PAIRS):
        (folder / name).unlink(missing_ok=True)
    for path in (folder / RECORDS).glob("deal-*.json"):
        path.unlink()


def fingerprint(name: str) -> str | None:
    """Return a hash of the files that an agent is made of, if it is named by a path."""
    path = Path(name.rpartition(":")[0] if ".py:" in name else name)
    files = sorted(p for p in path.rglob("*") if p.suffix in (".json", ".safetensors")) if path.is_dir() else [path]
    files += [path.with_name(path.name + suffix) for suffix in (".safetensors", ".json")]
    digest = hashlib.sha256()
    found = [file for file in files if file.is_file()]
    for file in found:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16] if found else None


def source_hash() -> str:
    """Return a hash of the sources that decide what is played: the game, the agents that come with it, the arena."""
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for name in ("jolly_env", "agents"):
        for file in sorted((root / name).glob("*.py")):
            digest.update(file.name.encode() + file.read_bytes())
    for name in ("arena", "asking", "luck", "rounds", "tally"):
        digest.update((root / "eval" / f"{name}.py").read_bytes())
    return digest.hexdigest()[:16]


def _same(folder: Path, before: dict[str, Any], run: dict[str, Any]) -> None:
    """Make sure that a run goes on as it began; ``ValueError`` names the first difference."""
    again = f"--out {folder}: there is another run already"
    ends = "name another --out, or add --overwrite"
    told: Sequence[str] = [name for name in run if name != "deals" and before.get(name) != run[name]]
    if told:
        name = told[0]
        if name == "sources":
            raise ValueError(f"{again}: it was played by other sources of jolly_env, agents or eval; {ends}")
        raise ValueError(f"{again}: its {name} {before.get(name)!r} are not {run[name]!r}; {ends}")
    if run["deals"] < before["deals"] or (run.get("half_width") and run["deals"] != before["deals"]):
        raise ValueError(f"{again}: its deals {before['deals']} are not {run['deals']}; {ends}")
