"""Rows of rounds as Parquet files, with what they come from in the schema's metadata.

A column of the seats becomes one column a seat, ``score_0``, ``score_1`` and so on. A checksum of the rows is kept
beside them, so that a damaged file is noticed.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from eval.files import writing
from eval.rounds import ROUND_FIELDS, SEAT_FIELDS, round_dtype

OWN: Final = ("players", "checksum")
"""Entries of the metadata that belong to the file; the others are the caller's."""


def write_rows(path: Path, rows: np.ndarray, about: dict[str, Any]) -> None:
    """Write rows, and each entry of ``about`` as JSON in the metadata, whole or not at all."""
    entries = {**about, "players": rows["agent"].shape[1], "checksum": _checksum(rows, about)}
    table = table_of(rows).replace_schema_metadata({key: json.dumps(value) for key, value in entries.items()})
    with writing(path) as beside:
        pq.write_table(table, beside)


def table_of(rows: np.ndarray) -> pa.Table:
    """Return rows as a table, as the file holds it, without metadata."""
    players = rows["agent"].shape[1]
    columns = {name: rows[name] for name, _ in ROUND_FIELDS}
    columns |= {f"{name}_{seat}": rows[name][:, seat] for name, _ in SEAT_FIELDS for seat in range(players)}
    return pa.table({name: np.ascontiguousarray(column) for name, column in columns.items()})


def read_rows(path: Path) -> tuple[np.ndarray, dict[str, Any]]:
    """Return the rows of a file and what it says of them; ``ValueError`` if it is damaged or of another kind."""
    try:
        table = pq.read_table(path)
        entries = {key.decode(): json.loads(value) for key, value in (table.schema.metadata or {}).items()}
        players, checksum = (entries.pop(key) for key in OWN)
        rows = np.zeros(table.num_rows, dtype=round_dtype(players))
        for name, _ in ROUND_FIELDS:
            rows[name] = table[name].to_numpy()
        for name, _ in SEAT_FIELDS:
            for seat in range(players):
                rows[name][:, seat] = table[f"{name}_{seat}"].to_numpy()
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: not a file of rounds, or damaged: {error}") from None
    if checksum != _checksum(rows, entries):
        raise ValueError(f"{path}: damaged: its checksum does not fit")
    return rows, entries


def _checksum(rows: np.ndarray, about: dict[str, Any]) -> str:
    """Return a checksum of rows and of what is said of them."""
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode() + rows.tobytes()).hexdigest()
