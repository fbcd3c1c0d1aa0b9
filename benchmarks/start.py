"""How long it takes to start: a warm import of ``jolly_env``, and the first compile of its kernels.

Seconds are of processor time, as for steps; ``wall`` is the clock's, which also counts waiting for other processes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent

IMPORT = "import time; start = time.process_time(); import jolly_env; print(time.process_time() - start)"
COMPILE = "from jolly_env.batch import Batch; Batch(1, seed=0)"


def import_seconds(program: str, repeats: int = 5) -> list[float]:
    """Return how long a program says that its import took, each time in a new process; the first is not counted."""
    return [float(_run(program)) for _ in range(repeats + 1)][1:]


def compile_seconds() -> tuple[float, float]:
    """Return how long a first batch takes a new process whose cache of kernels is empty: processor, wall seconds."""
    with tempfile.TemporaryDirectory() as folder:
        start, before = time.perf_counter(), os.times()
        _run(COMPILE, XDG_CACHE_HOME=folder)
        wall, after = time.perf_counter() - start, os.times()
    processor = sum(after[2:4]) - sum(before[2:4])  # of children; always 0 on Windows
    return processor or wall, wall


def _run(program: str, **environment: str) -> str:
    """Return what a Python program prints; its errors go where ours go."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout
