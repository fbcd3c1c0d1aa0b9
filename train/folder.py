"""The folder of a run: what may be in it before a run begins, and that one training at a time writes in it."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from train.config import Config, read_json

ARGUMENTS, LAST, LOCK = "run.json", "last", "run.lock"


def check_new(folder: Path) -> None:
    """Make sure that a run can begin in ``folder``; ``ValueError`` if something else is there already."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--out {folder}: not a folder")
    if not folder.exists() or all(path.name == LOCK for path in folder.iterdir()):
        return
    if (folder / "result.json").exists():
        raise ValueError(f"--out {folder}: holds an evaluation; name another")
    if (folder / ARGUMENTS).exists() and not has_checkpoint(folder):
        raise ValueError(f"--out {folder}: holds a run that ended before its first checkpoint; delete it first")
    hint = f"; resume it (python -m train resume {folder})" if has_checkpoint(folder) else ""
    raise ValueError(f"--out {folder}: exists and is not empty{hint or '; name another'}")


def has_checkpoint(folder: Path) -> bool:
    """Tell whether a run in ``folder`` can be resumed."""
    return (folder / LAST).is_dir() or (folder / f".{LAST}.old").is_dir()


def read_config(folder: Path) -> Config:
    """Return the settings of the run in ``folder``; ``ValueError`` if there is none that can be resumed."""
    path = folder / ARGUMENTS
    if not path.is_file():
        above = folder.resolve().parent
        hint = f"; did you mean {folder.parent}?" if (above / ARGUMENTS).is_file() else ""
        raise ValueError(f"{folder}: not a run folder: it has no {ARGUMENTS}{hint}")
    saved = read_json(path)
    if isinstance(saved, dict) and "config" not in saved:
        raise ValueError(f"{folder}: not the folder of a training run: {ARGUMENTS} is that of something else")
    config = Config.from_json(path, saved.get("config") if isinstance(saved, dict) else saved)
    if not has_checkpoint(folder):
        raise ValueError(f"{folder}: no checkpoint {LAST!r} to resume from; delete the folder and run anew")
    return config


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a lock on ``folder``, made if need be, where the system has such; a folder left empty is removed again.

    ``ValueError`` if another process holds it. A process that is killed holds it no longer.
    """
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOCK
    try:
        with contextlib.ExitStack() as stack:
            while True:
                file = stack.enter_context(path.open("w"))
                _lock(file.fileno(), folder)
                # Whoever held it before may have removed the file since it was opened here.
                if path.exists() and os.fstat(file.fileno()).st_ino == path.stat().st_ino:
                    break
            stack.callback(path.unlink, missing_ok=True)
            yield
    finally:
        if made:
            with contextlib.suppress(OSError):
                folder.rmdir()


def _lock(number: int, folder: Path) -> None:
    """Lock an open file."""
    try:
        import fcntl

        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValueError(f"{folder}: another training is writing in it; stop that one first") from None
    except (ImportError, OSError):  # a system or a file system without such locks
        return


def clear(folder: Path) -> None:
    """Remove all that a run began to write into ``folder``."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != LOCK:
            path.unlink(missing_ok=True)
