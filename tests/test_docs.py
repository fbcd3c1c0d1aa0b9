"""The pages: the site builds without a warning, what they show runs, and commands in them exist."""

import importlib
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "notebooks" / "README.md", *sorted(DOCS.rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def blocks(page: Path, language: str) -> list[str]:
    """Return the code of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


RUN = [(page, name) for page, name in zip(PAGES, NAMES, strict=True) if blocks(page, "python")]


@pytest.mark.parametrize("page", [page for page, _ in RUN], ids=[name for _, name in RUN])
def test_examples_run(page: Path, tmp_path: Path):
    """In the order of the page, in one process and one folder, as somebody would who follows it.

    What a page says that they print, in blocks of text, they print.
    """
    code = "\n".join(blocks(page, "python"))
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "rror" not in done.stderr
    for told in blocks(page, "text"):
        assert told in "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"


def test_the_site_builds_without_a_warning(tmp_path: Path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    )
    assert done.returncode == 0, done.stderr  # with --quiet, --strict would count no warnings
    assert "WARNING" not in done.stderr
    for page in DOCS.rglob("*.md"):
        assert (tmp_path / "site" / page.relative_to(DOCS).with_suffix(".html")).is_file(), page
    reference = (tmp_path / "site" / "reference" / "game.html").read_text(encoding="utf-8")
    assert all(name in reference for name in ("opening_points", "put_on_top", "random_actions"))


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_somewhere(page: Path):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), target


def commands(page: Path) -> list[str]:
    """Return the commands of ours that a page shows, lines that go on joined."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    return re.findall(
        r"(?:^|`)(?:\.venv/bin/)?(python -m (?:train|eval|table|benchmarks)[^`\n#|]*)", text, re.MULTILINE
    )


SHOWN = sorted({command.strip() for page in PAGES for command in commands(page)})


def test_there_are_commands():
    assert len(SHOWN) > 40


@pytest.mark.parametrize("command", SHOWN)
def test_a_command_is_one_that_exists(command: str, monkeypatch: pytest.MonkeyPatch):
    """Its options are parsed as they would be; nothing is run."""
    words = shlex.split(command)[2:]
    module, words = words[0], words[1:]
    if module in ("train", "eval"):
        _parse_command(module, words, monkeypatch)
    elif module == "table":
        from eval.cli import parse_one
        from table.__main__ import Options

        parse_one(Options, module, words)
    else:
        _parse_benchmark(module, words)


def _parse_command(module: str, words: list[str], monkeypatch: pytest.MonkeyPatch):
    """Parse the arguments of ``python -m train`` or ``python -m eval``."""
    from eval.cli import parse, with_address
    from train.config import with_preset

    main = importlib.import_module(f"{module}.__main__")
    assert words and words[0] in main.COMMANDS, words
    if len(words) == 1 or "--help" in words:
        return
    words = [word for word in words if word != "…"]
    parse(
        main.COMMANDS,
        module,
        "",
        with_preset(words) if words[0] == "run" and module == "train" else with_address(words),
    )


def _parse_benchmark(module: str, words: list[str]):
    """Parse the arguments of a benchmark."""
    from benchmarks import machine

    found = importlib.import_module(module)
    if hasattr(found, "Options"):
        machine.parse_options(found.Options, module, "", words)


def test_pictures_are_those_that_the_code_draws():
    spec = importlib.util.spec_from_file_location("pages", DOCS / "pictures" / "pages.py")
    assert spec is not None and spec.loader is not None
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    for name, svg in pages.pictures().items():
        kept = (DOCS / "pictures" / name).read_text(encoding="utf-8")
        assert kept == svg + "\n", f"{name}: python docs/pictures/make.py pages draws it"
