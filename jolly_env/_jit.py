"""The one decorator for kernels: compiled once, cached under a key of the sources, and announced.

numba notices an edited function but not an edited constant in another module, so the cache folder is keyed by
a hash of the sources that hold kernels or their constants, and by ``NUMBA_BOUNDSCHECK``, which a warm cache
would ignore. One can do without the cache: what is damaged there is compiled anew, and what can't be kept is not.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import config
from numba.core.caching import FunctionCache

F = TypeVar("F", bound=Callable[..., Any])

CONSTANTS = ("actions.py", "cards.py", "rules.py", "state.py")
"""Modules without kernels whose constants are compiled into kernels."""
ROOM = 64 * 2**20
"""Bytes that must be free where a new cache is begun; all kernels of one checkout take about ten million."""


@functools.cache
def _sources_hash(folder: Path) -> str:
    """Return a hash of all sources that the kernels of the package at ``folder`` are made of.

    These are the modules with kernels of this package, of that one, and of those beside it that they import from.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    roots, read = {Path(__file__).parent, folder}, set[Path]()
    while roots - read:
        root = min(roots - read)
        read.add(root)
        for path in sorted(root.glob("*.py")):
            source = path.read_bytes()
            if path.name in CONSTANTS or b"\n@kernel\n" in source or b"\n@entry\n" in source:
                digest.update(path.name.encode() + source)
                names = {root.parent / name.decode() for name in re.findall(rb"^from (\w+)[. ]", source, re.MULTILINE)}
                roots |= {package for package in names if (package / "__init__.py").is_file()}
    return digest.hexdigest()[:16]


@functools.cache
def _warn(text: str) -> None:
    """Say something about the cache on stderr, once a process."""
    print(f"jolly_env: {text}", file=sys.stderr, flush=True)


def _refusal(folder: Path) -> OSError | None:
    """Create ``folder`` and return why kernels can't be kept in it, None if they can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        if not any(folder.glob("*.ready")) and shutil.disk_usage(folder).free < ROOM:
            return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as error:
        return error
    return None


@functools.cache
def cache_dir(folder: Path) -> Path | None:
    """Return the cache folder for the kernels of the package at ``folder``; None, and say so, if there is none."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    name = _sources_hash(folder) + ("-checked" if config.BOUNDSCHECK else "")
    for base in (Path(root), Path(tempfile.gettempdir())):
        path = base / "jolly_env" / name
        error = _refusal(path)
        if error is None:
            return path
        _warn(f"compiled kernels can't be kept in {base / 'jolly_env'} ({error.strerror})")
    return None


class _Cache(FunctionCache):  # type: ignore[misc]  # numba has no types
    """numba's cache of a function on disk, but without errors."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled for a signature; None if there is nothing, or nothing whole."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged pickle raises whatever it happens to hold
            _warn(f"a file in {self.cache_path} is damaged; compiling its kernels anew")
        try:
            self.flush()
        except OSError:
            self.disable()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for a signature, if there is room."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _warn(f"compiled kernels can't be kept in {self.cache_path} ({error.strerror})")


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
    compiler = numba.njit(
        nogil=True,
        error_model="numpy",
        no_cfunc_wrapper=True,
        no_cpython_wrapper=no_cpython_wrapper,
    )
    compiled = compiler(function)
    folder = cache_dir(Path(function.__code__.co_filename).parent)
    if folder is not None:
        before = config.CACHE_DIR
        config.CACHE_DIR = str(folder)
        try:
            compiled._cache = _Cache(function)  # what cache=True does, with numba's own class
        finally:
            config.CACHE_DIR = before
    return compiled


_warming: set[tuple[str, Path]] = set()
_held: set[Path] = set()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on the file ``path`` where the platform has one and a file can be made."""
    if path in _held:  # what is compiled under the lock may ask for more to be
        yield
        return
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError, OSError):  # numba's own replace-by-rename has to do then
            import fcntl

            fcntl.flock(stack.enter_context(path.open("w")), fcntl.LOCK_EX)
        _held.add(path)
        try:
            yield
        finally:
            _held.discard(path)


def warm_up(name: str, folder: Path, compile_all: Callable[[], None]) -> None:
    """Run ``compile_all`` once for these sources, in one process at a time, and say so on stderr.

    Later processes find a marker and return at once: their kernels load from the cache on use. numba finds them by the
    paths of their sources, so each checkout has markers of its own.
    """
    if config.DISABLE_JIT or (name, folder) in _warming:
        return
    _warming.add((name, folder))  # what is compiled asks to be warmed up, too
    path = cache_dir(folder)
    if path is None:
        _announced(f"{name}: compiling its kernels for this process alone ...", name, compile_all)
        return
    where = hashlib.sha256(f"{Path(__file__).parent}\n{folder}".encode()).hexdigest()[:12]
    marker = path / f"{name}-{where}.ready"
    if marker.exists():
        return
    with _locked(path / "lock"):
        if marker.exists():
            return
        _announced(f"{name}: compiling its kernels, once, into {path} ...", name, compile_all)
        with contextlib.suppress(OSError):
            marker.touch()


def _announced(text: str, name: str, compile_all: Callable[[], None]) -> None:
    """Compile between two lines on stderr."""
    print(text, file=sys.stderr, flush=True)
    start = time.perf_counter()
    compile_all()
    print(f"{name}: compiled in {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
