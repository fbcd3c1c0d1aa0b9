"""README.md, and figures in docs/: they are those of the results, and the example runs as it stands."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import pages

TEXT = pages.README.read_text(encoding="utf-8")


def test_figures_are_those_of_the_results():
    assert pages.render(TEXT) == TEXT, "python -m benchmarks.readme writes them"


def test_example_plays_a_round():
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) == 1
    assert sum(bool(line.strip()) for line in blocks[0].splitlines()) == 10
    done = subprocess.run([sys.executable, "-c", blocks[0]], cwd=pages.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["player_0", "player_1", "player_2"]
    assert sum(float(line.split()[-1]) for line in lines) == pytest.approx(0, abs=1e-6)


def test_pictures_and_links_exist():
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", TEXT):
        if target != "docs/pictures/curve.png":
            assert (pages.ROOT / target).exists(), target


def test_render_fills_what_is_measured_and_says_what_is_not(tmp_path: Path):
    text = "a\n<!-- figures:engine -->\nold\n<!-- /figures -->\nb\n<!-- figures:train -->\n<!-- /figures -->\n"
    origin = {"machine": {"cpu": "C", "system": "S"}, "started": "2026-01-02T03:04", "commit": "f" * 40}
    result = {"ratio": 0.85, "decisions_per_second": {"ours": 12345.6}, **origin}
    (tmp_path / "train.json").write_text(json.dumps(result))
    new = pages.render(text, tmp_path)
    assert "old" not in new and "Not measured yet" in new
    assert "**0.85**" in new and "12,300" in new
    assert pages.render(new, tmp_path) == new


def test_render_names_a_damaged_result(tmp_path: Path):
    (tmp_path / "engine.json").write_text('{"ratios": {}}')
    with pytest.raises(ValueError, match=r"engine\.json: not a result"):
        pages.render("<!-- figures:engine -->\n<!-- /figures -->", tmp_path)


def test_check_reports_a_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    changed = tmp_path / "README.md"
    changed.write_text("<!-- figures:train -->\nhand-made\n<!-- /figures -->\n")
    monkeypatch.setattr(pages, "PAGES", [changed])
    assert pages.main(["--check"]) == 1
    assert pages.main([]) == 0
    assert pages.main(["--check"]) == 0
