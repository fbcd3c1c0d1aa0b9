"""What the benchmarks share: one core, a description of the machine, medians with their spread, options, results."""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import json
import os
import platform
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from eval.files import write_json

T = TypeVar("T")

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def use_one_core() -> None:
    """Keep this process, and those that it starts, on one core and in one thread, where the platform can."""
    for name in THREAD_VARIABLES:
        os.environ[name] = "1"
    if hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def describe_machine() -> dict[str, Any]:
    """Return the processor, the number of cores and the system."""
    return {"cpu": _cpu_name(), "cores": os.cpu_count(), "system": f"{platform.system()} {platform.machine()}"}


def _cpu_name() -> str:
    """Return the processor's name, as far as the platform tells it."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def versions_of(distributions: Iterable[str]) -> dict[str, str | None]:
    """Return the installed versions of optional distributions; None for one that is not there."""
    found: dict[str, str | None] = {}
    for name in distributions:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def spread(values: Sequence[float] | np.ndarray, digits: int = 4) -> dict[str, float]:
    """Return the median and the quartiles of repeated measurements, rounded to significant digits."""
    low, median, high = np.percentile(values, [25, 50, 75])
    return {"median": significant(median, digits), "low": significant(low, digits), "high": significant(high, digits)}


def significant(value: float, digits: int = 4) -> float:
    """Return a number rounded to so many significant digits."""
    return float(f"{value:.{digits}g}")


@dataclass
class Options:
    """The option of all benchmarks that measure, and a check of their numbers."""

    json: str | None = None
    """Write the result as JSON to this file; to standard output if none is named."""

    def at_least_one(self, *names: str) -> None:
        """Raise ``ValueError`` if any of these options is less than 1."""
        for name in names:
            if getattr(self, name) < 1:
                raise ValueError(f"--{name} {getattr(self, name)}: expected at least 1")


def fill_json_path(argv: Sequence[str]) -> list[str]:
    """Return the arguments with ``-``, the standard output, after a ``--json`` that names no file."""
    filled: list[str] = []
    for i, word in enumerate(argv):
        filled.append(word)
        if word == "--json" and (i + 1 == len(argv) or argv[i + 1].startswith("--")):
            filled.append("-")
    return filled


def parse_options(options: type[T], prog: str, description: str, argv: Sequence[str]) -> T:
    """Return the options that a command line gives; wrong arguments raise ``ValueError`` of one line."""
    import tyro

    stderr = io.StringIO()
    try:
        with contextlib.redirect_stderr(stderr):
            return tyro.cli(options, prog=prog, description=description, args=fill_json_path(argv))
    except SystemExit as stop:
        if stop.code in (None, 0):
            raise
        lines = [line.strip(" │|") for line in stderr.getvalue().splitlines()]
        told = [line for line in lines if line and not set(line) & set("╭╰─")]
        raise ValueError(" ".join(told) or "wrong arguments") from None


def say(text: str) -> None:
    """Tell on stderr what is being done."""
    print(text, file=sys.stderr, flush=True)


def deliver(result: dict[str, Any], path: str | None, show: Callable[[dict[str, Any]], None] | None = None) -> None:
    """Write a result as JSON to the file ``path``, or to standard output for ``-``, as ``--json`` says.

    Unless it goes to standard output it is shown to people first; without ``show`` and a file it does go there.
    """
    if path == "-" or (path is None and show is None):
        print(json.dumps(result, indent=2))
        return
    if show is not None:
        show(result)
    if path is not None:
        write_json(path, result)
        say(f"wrote {path}")
