"""The one decorator for kernels: compiled once, cached under a key of the sources, and announced.

numba notices an edited function but not an edited constant in another module, so the cache folder is keyed by
a hash of the sources that hold kernels or their constants, and by ``NUMBA_BOUNDSCHECK``, which a warm cache
would ignore.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import config

F = TypeVar("F", bound=Callable[..., Any])

CONSTANTS = ("actions.py", "cards.py", "rules.py", "state.py")
"""Modules without kernels whose constants are compiled into kernels."""


@functools.cache
def _sources_hash(folder: Path) -> str:
    """Return a hash of the sources of this package and of ``folder`` that kernels are made of."""
    digest = hashlib.sha256(numba.__version__.encode())
    for root in sorted({Path(__file__).parent, folder}):
        for path in sorted(root.glob("*.py")):
            source = path.read_bytes()
            if path.name in CONSTANTS or b"\n@kernel\n" in source or b"\n@entry\n" in source:
                digest.update(path.name.encode() + source)
    return digest.hexdigest()[:16]


def _writable(folder: Path) -> bool:
    """Create ``folder`` and tell whether files can be written in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@functools.cache
def cache_dir(folder: Path) -> Path:
    """Return the cache folder for the kernels of the package at ``folder``."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    name = _sources_hash(folder) + ("-checked" if config.BOUNDSCHECK else "")
    for base in (Path(root), Path(tempfile.gettempdir())):
        path = base / "jolly_env" / name
        if _writable(path):
            return path
    raise OSError(f"no writable folder for compiled kernels: tried {root} and {tempfile.gettempdir()}")


def kernel(function: F) -> F:
    """Compile ``function`` with numba on first use and cache the result on disk; only kernels may call it."""
    return _compiled(function, no_cpython_wrapper=True)


def entry(function: F) -> F:
    """Compile ``function`` like a kernel, and let Python call it."""
    return _compiled(function, no_cpython_wrapper=False)


def _compiled(function: F, *, no_cpython_wrapper: bool) -> F:
    """Return the compiled function; wrappers that nobody calls would take a third of the time to compile."""
    if config.DISABLE_JIT:
        return function
    before = config.CACHE_DIR
    config.CACHE_DIR = str(cache_dir(Path(function.__code__.co_filename).parent))
    try:
        compiler = numba.njit(
            cache=True,
            nogil=True,
            error_model="numpy",
            no_cfunc_wrapper=True,
            no_cpython_wrapper=no_cpython_wrapper,
        )
        return compiler(function)
    finally:
        config.CACHE_DIR = before


_warming: set[Path] = set()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on the file ``path`` where the platform has one."""
    try:
        import fcntl
    except ImportError:  # Windows: numba's own replace-by-rename has to do
        yield
        return
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def warm_up(name: str, folder: Path, compile_all: Callable[[], None]) -> None:
    """Run ``compile_all`` once for these sources, in one process at a time, and say so on stderr.

    Later processes find the marker ``name`` and return at once: their kernels load from the cache on use.
    """
    path = cache_dir(folder)
    marker = path / f"{name}.ready"
    if config.DISABLE_JIT or marker in _warming or marker.exists():
        return
    _warming.add(marker)  # what is compiled asks to be warmed up, too
    with _locked(path / "lock"):
        if marker.exists():
            return
        print(f"{name}: compiling its kernels, once, into {path} ...", file=sys.stderr, flush=True)
        start = time.perf_counter()
        compile_all()
        marker.touch()
        print(f"{name}: compiled in {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
