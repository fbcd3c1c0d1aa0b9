"""``compare``: the figures of the command, agents given as objects, a result that shows itself and is found again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars
import pytest

from agents import make
from eval.__main__ import main
from eval.compare import Result, compare
from eval.markup import table_html
from eval.store import ROUNDS
from jolly_env import Rules

RULES = Rules(max_turns=12, opening_points=10)
MACHINE = ("seconds", "started", "command", "arguments")
"""What differs from one making of a result to the next."""


class First:
    """Plays the first legal action."""

    def act(self, observations, masks, keys):
        return masks.argmax(axis=1)


class Wrong:
    """Always wants to draw."""

    def act(self, observations, masks, keys):
        return np.zeros(len(masks), dtype=np.int64)


def counted(figures: dict) -> dict:
    """Return figures without what the machine decides."""
    behaviour = {
        name: {key: value for key, value in played.items() if key != "seconds_per_decision"}
        for name, played in figures["behaviour"].items()
    }
    return {key: value for key, value in figures.items() if key not in MACHINE} | {"behaviour": behaviour}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run of the command."""
    folder = tmp_path_factory.mktemp("run") / "a"
    arguments = ["greedy", "random", "careful", "--deals", "60", "--seed", "3", "--workers", "1", "--out", str(folder)]
    assert main(["run", *arguments, "--rules", "max_turns=12,opening_points=10"]) == 0
    return folder


@pytest.fixture(scope="module")
def result() -> Result:
    """Return the result of the same in Python."""
    return compare("greedy", "random", "careful", deals=60, rules=RULES, seed=3, workers=1)


def test_it_has_the_figures_of_the_command(run, result):
    assert counted(result.figures) == counted(json.loads((run / "result.json").read_text()))
    assert result.folder is None and result.figures["command"].startswith("compare('greedy', 'random', 'careful', ")


def test_a_run_of_the_command_is_loaded(run, result):
    loaded = Result.load(str(run))
    assert counted(loaded.figures) == counted(result.figures) and loaded.folder == run
    same = [name for name in result.rounds.column_names if not name.startswith("seconds")]
    assert loaded.rounds.select(same) == result.rounds.select(same)


def test_rounds_can_be_counted_again(result):
    assert len(result.rounds) == result.figures["rounds"] and len(result.seats) == 2 * len(result.rounds)
    means = polars.from_arrow(result.seats).group_by("agent").agg(polars.col("closed", "score").mean())
    for name, closed, score in means.iter_rows():
        assert closed == pytest.approx(result.figures["agents"][name]["closings"])
        assert score == pytest.approx(result.figures["agents"][name]["score"])


def test_an_object_plays_as_its_name_would():
    named = compare("random", "greedy", deals=10, rules=RULES, workers=1)
    given = compare("random", mine=make("greedy"), deals=10, rules=RULES)
    assert given.names == ["random", "mine"]
    assert given.figures["agents"]["mine"] == named.figures["agents"]["greedy"]
    assert "mine=…" in given.figures["command"]
    assert compare(a=First(), b=First(), deals=2, rules=RULES).figures["agents"]["a"]["points"] == 0


def test_faults_of_an_object_are_told_and_kept(capsys):
    result = compare("random", mine=Wrong(), deals=2, rules=RULES)
    assert result.figures["faults"]["mine"] == len(result.faults) == 4
    assert "forfeits" in capsys.readouterr().err
    assert "mine forfeited 4 rounds by faults" in result._repr_html_()


def test_the_table_is_sound_and_escapes_names(result):
    table = ElementTree.fromstring(f"<div>{result._repr_html_().replace('<br>', '<br/>')}</div>")
    assert len(table.findall(".//svg")) == 3 + 3
    text = json.dumps(result.figures).replace('"careful"', '"<script>x</script>&"')
    shown = table_html(json.loads(text))
    assert "<script>" not in shown and "&lt;script&gt;x&lt;/script&gt;&amp;" in shown
    assert "random" in str(result) and repr(result) == "Result(greedy, random, careful: 60 deals)"


def test_pictures_show_themselves(result):
    for what in ("points", "ratings", "pairs"):
        assert result.plot(what)._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="expected points, ratings, pairs"):
        result.plot("scores")


def test_a_folder_is_gone_on_with(tmp_path):
    first = compare("random", "greedy", deals=50, rules=RULES, out=tmp_path / "a")
    more = compare("random", "greedy", deals=100, rules=RULES, out=str(tmp_path / "a"))
    whole = compare("random", "greedy", deals=100, rules=RULES)
    assert first.folder == more.folder == tmp_path / "a"
    assert counted(more.figures) == counted(whole.figures)
    with pytest.raises(ValueError, match=r"out=.*there is another run already: its seed .* name another out, or give"):
        compare("random", "greedy", deals=100, seed=1, rules=RULES, out=tmp_path / "a")
    again = compare("random", "greedy", deals=10, rules=RULES, out=tmp_path / "a", overwrite=True)
    assert again.figures["deals"] == 10
    with pytest.raises(ValueError, match="who played in it can't be known"):
        compare("random", mine=First(), deals=10, rules=RULES, out=tmp_path / "a")


def test_a_script_needs_no_guard_for_its_processes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from eval import workers\nfrom eval.compare import compare\nfrom jolly_env import Rules\n"
        "print('begun')\nworkers.ALONE = 0.0\n"
        "print(repr(compare('random', 'greedy', deals=120, rules=Rules(max_turns=12), workers=2)))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines() == ["begun", "Result(random, greedy: 120 deals)"], done.stderr


@pytest.mark.parametrize(
    ("agents", "options", "told"),
    [
        (["greedy"], {}, "name at least two"),
        (["greedy", "gredy"], {}, "did you mean greedy"),
        (["greedy", First()], {}, "give an object by keyword, as in mine="),
        (["greedy"], {"mine": First}, "mine=First: expected an object"),
        (["greedy"], {"mine": 3}, "mine=3: no agent"),
        (["greedy"], {"random": First()}, "random=…: there is an agent of that name"),
        (["greedy", "random"], {"deals": 0}, "deals=0: expected a whole number from 1 to 1000000"),
        (["greedy", "random"], {"deals": True}, "deals=True: expected"),
        (["greedy", "random"], {"players": 5}, "players=5: expected a whole number from 2 to 4"),
        (["greedy", "random"], {"rules": {"opening_points": 3}}, "expected Rules, as in"),
        (["greedy", "random"], {"rules": RULES, "players": 3}, "players=3: but the rules are for 2"),
        (["greedy", "random", "careful"], {"players": 4}, "3 do not fill 4 seats"),
        (["greedy", "random"], {"seed": -1}, "seed=-1: expected a whole number of at least 0"),
        (["greedy", "random"], {"workers": 0}, "workers=0: expected"),
        (["greedy"], {"mine": First(), "workers": 2}, "workers=2: .* play in this process"),
    ],
)
def test_wrong_input_is_one_line(agents, options, told):
    with pytest.raises(ValueError, match=told) as caught:
        compare(*agents, **options)
    assert "\n" not in str(caught.value)


def test_a_folder_without_a_run_is_refused(tmp_path, run):
    with pytest.raises(ValueError, match=r"no result\.json in it"):
        Result.load(tmp_path)
    (tmp_path / "result.json").write_bytes((run / "result.json").read_bytes())
    with pytest.raises(ValueError, match=r"no run\.json in it"):
        Result.load(tmp_path)
    (tmp_path / "run.json").write_bytes((run / "run.json").read_bytes())
    (tmp_path / ROUNDS).write_bytes(b"no")
    with pytest.raises(ValueError, match=r"rounds\.parquet: its rounds are damaged"):
        Result.load(tmp_path)
    with pytest.raises(ValueError, match=r"out=.*: not a folder"):
        compare("greedy", "random", out=tmp_path / "result.json")
