"""What the commands share: arguments, exit codes, one line for an error, a Ctrl-C that lets work be saved."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from jolly_env.rules import Rules

T = TypeVar("T")

DONE = 0
FAILED = 1
WRONG_INPUT = 2
INTERRUPTED = 130
"""Exit codes of all commands (contract, "Commands"); 1 where what was tested did not pass."""


def main_guard(function: Callable[..., int | None]) -> Callable[..., int]:
    """Wrap the main function of a command: it returns an exit code and shows no traceback for what a user did.

    ``ValueError``, ``OSError``, too little memory and a missing extra are one line on stderr and 2,
    ``KeyboardInterrupt`` is 130, no result is 0. ``JOLLY_DEBUG=1`` in the environment shows the traceback instead.
    Use: ``sys.exit(main())``.
    """

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> int:
        debug = os.environ.get("JOLLY_DEBUG", "") not in ("", "0")
        try:
            code = function(*args, **kwargs)
            sys.stdout.flush()
            return DONE if code is None else code
        except BrokenPipeError:  # `… | head`: nobody reads on, and nothing is wrong
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return DONE
        except KeyboardInterrupt as stop:
            for note in getattr(stop, "__notes__", ()):
                print(note, file=sys.stderr)
            return INTERRUPTED
        except (ValueError, OSError, MemoryError, ModuleNotFoundError, RuntimeError) as error:
            if debug or (isinstance(error, RuntimeError) and not is_out_of_memory(error)):
                raise
            if isinstance(error, OSError) and error.filename is None and not _stdout_takes():
                error.filename = "standard output"
            print(f"error: {describe(error)}", file=sys.stderr)
            return WRONG_INPUT

    return guarded


def _stdout_takes() -> bool:
    """Tell whether what was printed can be written; if not, it goes nowhere, so that the end does not fail, too."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


@contextlib.contextmanager
def importing() -> Iterator[None]:
    """End the program as :func:`main_guard` would, for the imports at the top of a command."""
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except ModuleNotFoundError as error:
        print(f"error: {describe(error)}", file=sys.stderr)
        sys.exit(WRONG_INPUT)


def is_out_of_memory(error: Exception) -> bool:
    """Tell whether an error is one for lack of memory, torch's too, which has no type of its own."""
    return isinstance(error, MemoryError) or "DefaultCPUAllocator" in str(error) or "out of memory" in str(error)


def describe(error: Exception) -> str:
    """Return what an error says, its notes too, as one line that names what and where."""
    if isinstance(error, ModuleNotFoundError):
        text = (
            f"the module {error.name!r} is missing here; after make setup, first: . .venv/bin/activate; "
            "else: python -m pip install -e '.[train,eval]'"
        )
    elif isinstance(error, OSError) and error.strerror:
        text = f"{os.fsdecode(error.filename)}: {error.strerror}" if error.filename is not None else error.strerror
    elif is_out_of_memory(error):
        text = f"not enough memory: {error}"
    else:
        text = str(error) or type(error).__name__
    return " ".join("; ".join([text, *getattr(error, "__notes__", ())]).split())


def parse(
    commands: Mapping[str, Callable[..., Any]],
    prog: str,
    description: str,
    argv: Sequence[str] | None = None,
) -> Any:
    """Return what the command named on the command line makes of its arguments: ``{"run": Run}`` gives a ``Run``.

    The values of ``commands`` are dataclasses, say, whose fields are the options and whose docstrings the help;
    tyro reads both. Wrong arguments raise ``ValueError`` of one line; ``--help`` ends the program.
    """
    import tyro

    argv = sys.argv[1:] if argv is None else argv
    if "--out=" in argv or ("--out", "") in itertools.pairwise(argv):
        raise ValueError("--out: expected a folder, got an empty text")  # which would else be the current folder
    with _one_error():
        return tyro.extras.subcommand_cli_from_dict(dict(commands), prog=prog, description=description, args=argv)


def with_address(argv: Sequence[str]) -> list[str]:
    """Return a command line in which ``--ray`` has an address: "local" where none is given."""
    given = list(argv)
    for place, word in enumerate(given):
        if word == "--ray" and (place + 1 == len(given) or given[place + 1].startswith("-")):
            return [*given[: place + 1], "local", *given[place + 1 :]]
    return given


def parse_one(options: type[T], prog: str, argv: Sequence[str]) -> T:
    """Return the options of a command that has no others beneath it; the rest as in :func:`parse`."""
    import tyro

    with _one_error():
        return tyro.cli(options, prog=prog, args=argv)


@contextlib.contextmanager
def _one_error() -> Iterator[None]:
    """Turn tyro's error box and exit into a ``ValueError`` of one line."""
    stderr = io.StringIO()
    try:
        with contextlib.redirect_stderr(stderr):
            yield
    except SystemExit as stop:
        if stop.code in (None, 0):
            raise
        raise ValueError(_one_line(stderr.getvalue())) from None


def _one_line(box: str) -> str:
    """Return the message of tyro's error box as one line: what is wrong, and what may have been meant."""
    parts: list[list[str]] = [[]]
    for line in re.sub(r"\x1b\[[0-9;]*m", "", box).splitlines():
        if not line.startswith(("│ ", "  ")):  # the title and the edges; two spaces where stdout is not UTF-8
            continue
        text = line.strip(" │")
        if re.fullmatch(r"[─-]+", text):
            parts.append([])
        elif text:
            parts[-1].append(text)
    told = " ".join(parts[0]).rstrip(".") or "wrong arguments"
    told = re.sub(
        r"no type matching (.*?) could be instantiated from (.*?)\.? Got errors: .*", r"expected \1, got \2", told
    )
    # A check of the dataclass itself, which names its field, comes under a name that is tyro's own.
    told, own = re.subn(r"^Error parsing \S*dummy\S*: ", "", told)
    if own:
        told = re.sub(r"^(\w+)=(.*?): ", lambda found: f"--{found[1].replace('_', '-')} {found[2]}: ", told)
    for part in parts[1:]:
        if part and part[0].startswith("Perhaps you meant"):
            meant = [name.split(",")[0] for line in part for name in re.findall(r"^(--?\w.*)", line)]
            told += "; perhaps you meant " + " or ".join(meant) if meant else ""
        elif part and part[0].startswith("Available subcommands"):
            told += "; " + " ".join(part)
    return told


def parse_rules(text: str, players: int) -> Rules:
    """Return rules from ``opening_points=30,target=none``, from JSON as in ``{"opening_points": 30}``, or ``tiny``.

    ``ValueError`` for what is neither, and for unknown fields and values out of range.
    """
    from jolly_env.rules import TINY, Rules

    fields: dict[str, Any] = {}
    if text.strip() == "tiny":
        fields = TINY.to_json()
    elif text.lstrip().startswith("{"):
        try:
            fields = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"rules: not JSON: {error}") from None
    else:
        parts = re.split(r",(?![^\[]*\])", text)  # at commas, but not those of a list
        for part in filter(None, (part.strip() for part in parts)):
            name, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals:
                raise ValueError(f"rules: {part!r} is not of the form field=value")
            try:
                fields[name.replace("-", "_")] = None if value.lower() == "none" else json.loads(value)
            except json.JSONDecodeError:
                fields[name.replace("-", "_")] = value
    if fields.setdefault("players", players) != players:
        raise ValueError(f"rules: players={fields['players']}, but the table is for {players}; use --players")
    return Rules.from_json(fields)


class Interrupts:
    """Whether Ctrl-C was pressed, for a loop that ends its step, saves and then stops."""

    def __init__(self) -> None:
        self._pressed = False

    def __bool__(self) -> bool:
        """Return whether Ctrl-C was pressed."""
        return self._pressed

    def press(self) -> None:
        """Do what Ctrl-C does: note the first one, and raise ``KeyboardInterrupt`` at a second."""
        if self._pressed:
            raise KeyboardInterrupt
        self._pressed = True


@contextlib.contextmanager
def catch_interrupts() -> Iterator[Interrupts]:
    """Note the first Ctrl-C (or SIGTERM) instead of raising; yields what is true from then on.

    A second one raises ``KeyboardInterrupt`` at once. For the main thread only.
    """
    interrupts = Interrupts()

    def note(_signal: int, _frame: FrameType | None) -> None:
        interrupts.press()

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
