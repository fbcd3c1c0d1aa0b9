"""Files that are either whole or not there: written beside, then renamed."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def writing(path: str | Path) -> Iterator[Path]:
    """Yield the path of a new file beside ``path``, with the same suffix, that takes its place in the end.

    After an error, a full disk for one, ``path`` is as it was and nothing is left beside it.
    """
    path = Path(path)
    beside = path.with_name(f".{path.stem}-{os.getpid()}-{secrets.token_hex(4)}{path.suffix}")
    try:
        with naming(path, beside):
            yield beside
            with beside.open("rb+") as file:
                os.fsync(file.fileno())  # some file systems notice a full disk only now
            beside.replace(path)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()


@contextlib.contextmanager
def naming(path: Path, beside: Path | None = None) -> Iterator[None]:
    """Let an ``OSError`` that names no file, or the file or folder ``beside``, name ``path``."""
    try:
        yield
    except OSError as error:
        named = None if error.filename is None else Path(os.fsdecode(error.filename))
        if named is None or (beside is not None and (named == beside or beside in named.parents)):
            error.filename, error.filename2 = str(path), None
        raise


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    with writing(path) as beside:
        beside.write_bytes(content)


def write_text(path: str | Path, text: str) -> None:
    """Write a file of UTF-8 text whole or not at all."""
    write_bytes(path, text.encode())


def write_json(path: str | Path, value: Any) -> None:
    """Write a value, in which paths become text, as indented JSON, whole or not at all.

    ``ValueError`` if it holds NaN or infinity.
    """
    write_text(path, json.dumps(value, indent=2, allow_nan=False, default=os.fspath) + "\n")
