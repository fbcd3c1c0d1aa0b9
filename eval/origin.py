"""Where a result comes from: the command, the commit, the versions."""

from __future__ import annotations

import datetime
import importlib.metadata
import platform
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

PACKAGES: Final = (
    "jolly-env",
    "numpy",
    "numba",
    "gymnasium",
    "pettingzoo",
    "torch",
    "stable-baselines3",
    "sb3-contrib",
)


def origin(prog: str, argv: Sequence[str]) -> dict[str, Any]:
    """Return what a result stores about its making: ``command``, ``started``, ``commit``, ``changed``, ``versions``.

    ``commit`` is None outside of a git checkout; ``changed`` tells whether tracked files differ from it.
    """
    folder = Path(__file__).resolve().parent
    commit = _git(folder, "rev-parse", "HEAD")
    return {
        "command": f"{prog} {shlex.join(argv)}".rstrip(),
        "started": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "commit": commit or None,
        "changed": bool(_git(folder, "status", "--porcelain", "--untracked-files=no")) if commit else None,
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """Return the versions of Python and of the installed packages that a result may depend on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _git(folder: Path, *arguments: str) -> str:
    """Return what git prints, nothing if there is no git or no checkout."""
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
