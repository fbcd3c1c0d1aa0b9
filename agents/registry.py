"""Agents by name (contract, "Agents"): a rung, a run folder or weights, or a file and class."""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Final, cast

from jolly_env.agent import Agent

NAMES: Final[dict[str, str]] = {
    "random": "plays every legal action with equal probability",
    "greedy": "opens when it can, lays, attaches and swaps all it can, sheds the dearest idle card",
    "careful": "weighs what may still come, what a discard gives away, and the price of a joker",
    "planner": "compares whole turns by their exact ends, holds back where that promises more",
    "racer": "the planner, which throws what leaves most cards that bring it nearer to closing",
    "search": "tries the planner's few best turns in worlds that agree with what is known",
    "champion": "a network that was trained by self-play and comes with the project",
}
"""The rungs in the order of the ladder, with what each does; docs/results.md tells how strong each is."""
LEVELS: Final[dict[str, str]] = {"easy": "greedy", "medium": "careful", "hard": "planner", "expert": "champion"}
"""Names that a person may choose a strength by."""

TEXTS: Final = ("policy",)
"""Options that are no numbers."""


def _rung(module: str, name: str) -> Callable[..., Agent]:
    """Return what makes an agent of a class; its kernels are imported only then."""

    def made(**options: float | str) -> Agent:
        return cast(Agent, getattr(importlib.import_module(module), name)(**options))

    return made


_MAKERS: Final[dict[str, Callable[..., Agent]]] = {
    "random": _rung("jolly_env.agent", "RandomAgent"),
    "greedy": _rung("agents.greedy", "GreedyAgent"),
    "careful": _rung("agents.careful", "CarefulAgent"),
    "planner": _rung("agents.planner", "PlannerAgent"),
    "racer": _rung("agents.racer", "RacerAgent"),
    "search": _rung("agents.search", "SearchAgent"),
    "champion": _rung("agents.champion", "ChampionAgent"),
}


def make(name: str) -> Agent:
    """Return the agent of this name; ``ValueError`` of one line if there is none or it can't be made.

    ``name`` is a rung (:data:`NAMES`) or a level of strength (:data:`LEVELS`), a rung with numbers in place of its own
    (``careful:joker=20,fit=2``), the path of a run folder or of weights (``runs/x/best``), or the path of a file and
    a class in it (``mybots.py:Cautious``), which is made without arguments.
    """
    if not isinstance(name, str):
        raise ValueError(f"agent {name!r}: expected a name or a path as text")
    rung, _, options = LEVELS.get(name, name).partition(":")
    if rung in _MAKERS:
        return _with_options(name, rung, options)
    file, colon, class_name = name.rpartition(":")
    if colon and file.endswith(".py"):
        return _from_file(name, Path(file), class_name)
    path = Path(name)
    if name.strip() and _there(path):
        if path.suffix == ".py":
            raise ValueError(f"agent {name!r}: name a class of that file, too, as in '{name}:MyAgent'")
        from agents.policy import load

        return load(path)
    if "/" in name or "\\" in name or path.suffix in (".py", ".safetensors"):
        raise ValueError(f"agent {name!r}: no such run folder or weights" + _near_path(path))
    near = difflib.get_close_matches(name.lower(), _MAKERS, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    raise ValueError(
        f"agent {name!r}: no such agent{hint} (expected {', '.join(_MAKERS)}, "
        "a run folder such as runs/x/best, or a file and class such as mybots.py:Cautious)"
    )


def _with_options(name: str, rung: str, text: str) -> Agent:
    """Return a rung with the options that stand behind its name, as in joker=20,fit=2."""
    options: dict[str, float | str] = {}
    for part in text.split(",") if text else ():
        key, sign, value = part.partition("=")
        if key.strip() in TEXTS and value:
            options[key.strip()] = value.strip()
            continue
        try:
            options[key.strip()] = float(value)
        except ValueError:
            sign = ""
        if not sign or not key.strip().isidentifier():
            raise ValueError(f"agent {name!r}: {part!r}: expected NAME=NUMBER, as in careful:joker=20,fit=2")
    try:
        return _MAKERS[rung](**options)
    except TypeError as error:
        if "unexpected keyword" in str(error) or "takes no arguments" in str(error):
            raise ValueError(f"agent {name!r}: {rung} has no option {', '.join(options)}") from None
        raise
    except ValueError as error:
        raise ValueError(f"agent {name!r}: {error}") from None


def _there(path: Path) -> bool:
    """Tell whether a path, or a file of that name with a suffix, exists."""
    try:
        return path.exists() or any(path.with_name(path.name + suffix).exists() for suffix in (".safetensors", ".json"))
    except (OSError, ValueError):  # a name too long for the system, or with a null character
        return False


def _near_path(path: Path) -> str:
    """Return a hint at what exists near a path that doesn't; nothing where that can't be told."""
    try:
        folder = path
        while not folder.is_dir():
            folder = folder.parent
        held = sorted({name for item in folder.iterdir() for name in (item.name, item.stem)})
    except (OSError, ValueError):
        return ""
    if folder == path:
        return ""
    missing = path.relative_to(folder).parts[0]
    near = difflib.get_close_matches(missing, held, n=3, cutoff=0.5)
    return f": '{folder}' holds no '{missing}'" + (f"; did you mean {' or '.join(near)}?" if near else "")


def _from_file(name: str, file: Path, class_name: str) -> Agent:
    """Return an agent of a class in a user's file."""
    if not file.is_file():
        raise ValueError(f"agent {name!r}: no such file '{file}'" + _near_path(file))
    module = _load_module(name, file)
    made = getattr(module, class_name, None)
    if made is None:
        classes = [n for n, v in vars(module).items() if inspect.isclass(v) and v.__module__ == module.__name__]
        held = f"it has {', '.join(classes)}" if classes else "it has no classes"
        raise ValueError(f"agent {name!r}: '{file}' has no class {class_name!r}; {held}")
    if not inspect.isclass(made):
        raise ValueError(f"agent {name!r}: {class_name} in '{file}' is {type(made).__name__}, not a class")
    try:
        agent = made()
    except Exception as error:
        raise ValueError(
            f"agent {name!r}: {class_name}() in '{file}', called without arguments, failed: {_told(error, file)}"
        ) from error
    if not callable(getattr(agent, "act", None)):
        raise ValueError(f"agent {name!r}: class {class_name} in '{file}' has no method act(observations, masks, keys)")
    return cast(Agent, agent)


def _load_module(name: str, file: Path) -> ModuleType:
    """Run a user's file as a module of its own, once a version of it; its imports are found beside it."""
    file = file.resolve()
    version = hashlib.sha256(f"{file} {file.stat().st_mtime_ns}".encode()).hexdigest()[:12]
    spec = importlib.util.spec_from_file_location(f"agent_file_{file.stem}_{version}", file)
    assert spec is not None and spec.loader is not None
    if spec.name in sys.modules:
        return sys.modules[spec.name]
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickle look a class's module up here
    sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[spec.name]
        raise ValueError(f"agent {name!r}: '{file}' could not be loaded: {_told(error, file)}") from error
    finally:
        sys.path.remove(str(file.parent))
    return module


def _told(error: BaseException, file: Path) -> str:
    """Return an error in one line: its kind, its text, and the line of the user's file where it arose."""
    line = error.lineno if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename).resolve() == file.resolve():
            line = trace.tb_lineno
        trace = trace.tb_next
    text = error.msg if isinstance(error, SyntaxError) else " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" + (f" (line {line})" if line else "")
