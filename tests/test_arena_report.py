"""The page on a run, the named protocols, and the guide to writing a bot."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from eval import protocol
from eval.__main__ import main
from eval.arena import against_each
from eval.audit import Finding
from eval.parquet import read_rows

ROOT = Path(__file__).parent.parent
QUICK = ["--rules", "max_turns=12,opening_points=10"]
BAD = """
import numpy as np

class Bad:
    def act(self, observations, masks, keys):
        return np.where(keys % np.uint64(40) == 0, 838, masks.argmax(axis=1))
"""


class Page(HTMLParser):
    """What of a page is looked at: ids, addresses, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "action", "data"):
                self.addresses.append(value)

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("out")
    (out / "bots.py").write_text(BAD)
    bad = f"{out / 'bots.py'}:Bad"
    run = ["run", "greedy", bad, "greedy", "--deals", "60", "--seed", "4", "--workers", "1"]
    rules = "max_turns=12,opening_points=10,jokers=0"
    assert main([*run, "--out", str(out / "run"), "--rules", rules]) == 0
    return out / "run"


def test_report(folder, capsys):
    assert main(["report", str(folder), "--no-audit"]) == 0
    for name in ("report.html", "result.png", "ratings.png", "pairs.png"):
        assert str(folder / name) in capsys.readouterr().out or (folder / name).exists()
    text = (folder / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.ids == ["head", "points", "ratings", "pairs", "behaviour", "luck", "faults", "audits", "reading"]
    assert len(page.addresses) == 3 and all(a.startswith("data:image/png;base64,") for a in page.addresses)
    assert not {"script", "link", "iframe"} & set(page.tags) and "http" not in re.sub(r"base64,[^\"]*", "", text)
    result = json.loads((folder / "result.json").read_text())
    for word in ("greedy#2", "60 deals", f"{result['seed']}", "jokers", "own turns until", "forfeited", "--no-audit"):
        assert word in page.text, word
    assert result["commit"] is None or result["commit"] in page.text
    low, high = result["ratings"]["agents"]["greedy"]["rating_ci"]
    assert f"({low:.0f} to {high:.0f})" in page.text


def test_report_runs_the_audits(folder, monkeypatch, capsys):
    asked = []

    def against(name, rules, deals, seed):
        asked.append((name, rules.jokers, rules.players, seed))
        return Finding("against itself", True, "zero")

    def hidden(name, rules, deals, seed):
        return [Finding("hidden cards", name == "greedy", "<b>changed</b>")]

    monkeypatch.setattr("eval.audit.against_itself", against)
    monkeypatch.setattr("eval.audit.hidden_and_company", hidden)
    assert main(["report", str(folder)]) == 1
    bad = json.loads((folder / "result.json").read_text())["names"][1]
    assert asked == [("greedy", 0, 2, 4), (bad, 0, 2, 4)]
    text = (folder / "report.html").read_text()
    assert text.count("passed</span>") == 3 and text.count("FAILED</span>") == 1
    assert "&lt;b&gt;changed" in text and "<b>changed" not in text


def test_real_audits_in_a_report(tmp_path):
    assert main(["run", "greedy", "random", "--deals", "4", "--out", str(tmp_path), *QUICK]) == 0
    assert main(["report", str(tmp_path)]) == 0
    assert (tmp_path / "report.html").read_text().count("passed</span>") == 6


@pytest.mark.parametrize(
    ("held", "word"), [(None, "no result.json"), ("{", "not JSON"), ('{"deals": 1}', "older version")]
)
def test_a_report_of_nothing(held, word, tmp_path, capsys):
    if held is not None:
        (tmp_path / "result.json").write_text(held)
    assert main(["report", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert word in err and err.count("\n") == 1


def test_a_report_of_a_damaged_result_is_one_line(folder, tmp_path, capsys):
    """Whatever figure is missing or of another form: the file is named, and there is no traceback."""
    whole = json.loads((folder / "result.json").read_text())
    for key in whole:
        for damaged in ([], {}, None, "x"):
            (tmp_path / "result.json").write_text(json.dumps({**whole, key: damaged}))
            code = main(["report", str(tmp_path), "--no-audit"])
            err = capsys.readouterr().err
            assert code == 0 or (code == 2 and "result.json" in err and err.count("\n") == 1), (key, damaged, err)
    (tmp_path / "result.json").write_text(json.dumps({key: whole[key] for key in whole if key != "deals"}))
    assert main(["report", str(tmp_path)]) == 2
    assert main(["report", str(tmp_path / "result.json")]) == 2
    assert "name the folder" in capsys.readouterr().err


def test_a_training_run_and_an_evaluation_keep_out_of_each_others_folders(folder, tmp_path, capsys):
    from train.__main__ import main as train

    (tmp_path / "last").mkdir()
    (tmp_path / "run.json").write_text('{"config": {}}')
    for more in ([], ["--overwrite"]):
        assert main(["run", "greedy", "random", "--deals", "2", "--out", str(tmp_path), *more]) == 2
        assert "holds a training run" in capsys.readouterr().err
    assert (tmp_path / "run.json").read_text() == '{"config": {}}'
    assert train(["run", "--preset", "quick", "--out", str(folder)]) == 2
    assert "holds an evaluation" in capsys.readouterr().err
    assert train(["resume", str(folder)]) == 2
    assert "not the folder of a training run" in capsys.readouterr().err


# --- protocols


def test_against_each():
    assert against_each(3, 2).tolist() == [[0, 1], [1, 0], [0, 2], [2, 0]]
    assert against_each(2, 3).tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize("name", ["jolly-2p-v1", "jolly-4p-v1"])
def test_protocol(name, tmp_path, monkeypatch):
    players = protocol.PROTOCOLS[name].players
    monkeypatch.setitem(protocol.PROTOCOLS, name, protocol.Protocol(players, 6))
    monkeypatch.setattr(protocol, "RUNGS", ("random", "greedy", "nobody"))
    (tmp_path / "bots.py").write_text("from jolly_env.agent import RandomAgent as Bot")
    bot = f"{tmp_path / 'bots.py'}:Bot"
    assert main(["run", bot, "--protocol", name, "--records", "1", "--out", str(tmp_path / "out")]) == 0
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["protocol"] == f"{name} without nobody" and result["names"] == [bot, "random", "greedy"]
    assert (result["deals"], result["players"], result["rules"]) == (6, players, {} if players == 2 else {"players": 4})
    assert [(pair["a"], pair["b"]) for pair in result["pairs"]] == [(bot, "random"), (bot, "greedy")]
    assert result["matrix"]["points"][1][2] is None
    rows = read_rows(tmp_path / "out" / "rounds.parquet")[0]
    assert ((rows["agent"] == 0).sum(axis=1) == 1).all() and set(np.bincount(rows["table"])) == {6 * players}
    assert main(["report", str(tmp_path / "out"), "--no-audit"]) == 0


def test_an_agent_is_not_its_own_opponent():
    assert "greedy" not in protocol.Protocol(2, 1).opponents("greedy")
    assert protocol.Protocol(2, 1).opponents("x")[:2] == ["random", "greedy"]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["greedy", "--protocol", "jolly-3p-v1"], "jolly-2p-v1 or jolly-4p-v1"),
        (["greedy", "random", "--protocol", "jolly-2p-v1"], "name one agent"),
        (["greedy", "--protocol", "jolly-2p-v1", "--deals", "100"], "--deals"),
        (["greedy", "--protocol", "jolly-2p-v1", "--rules", "jokers=3"], "--rules"),
        (["greedy", "--protocol", "jolly-4p-v1", "--players", "4"], "--players"),
        (["greedy", "--protocol", "jolly-4p-v1", "--half-width", "2"], "--half-width"),
    ],
)
def test_what_is_not_the_protocol_is_refused(arguments, word, capsys):
    assert main(["run", *arguments]) == 2
    err = capsys.readouterr().err
    assert word in err and err.count("\n") == 1


def test_the_page_on_protocols_says_what_they_are():
    text = (ROOT / "docs" / "protocols.md").read_text(encoding="utf-8")
    for name, one in protocol.PROTOCOLS.items():
        assert f"`{name}`" in text and f"{one.deals:,}" in text and f"{one.players} players" in text
    assert ", ".join(f"`{rung}`" for rung in protocol.RUNGS) in text


# --- the guide


def test_the_guide_to_bots_works_as_it_stands(tmp_path, monkeypatch, capsys):
    text = (ROOT / "docs" / "bots.md").read_text(encoding="utf-8")
    bot, look = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert 10 <= sum(bool(line.strip()) for line in bot.splitlines()) <= 22
    monkeypatch.chdir(tmp_path)
    Path("mybots.py").write_text(bot)
    lines = re.findall(r"^python -m eval (run|audit) (mybots.py:Cautious[^#\n]*)", text, re.MULTILINE)
    assert [line[0] for line in lines] == ["run", "audit", "run"]
    assert main([*["run"], *lines[0][1].split(), "--deals", "10", "--out", "out"]) == 0
    result = json.loads(Path("out/result.json").read_text())
    assert result["faults"]["mybots.py:Cautious"] == 0 and result["matrix"]["points"][0][2] > 0  # better than random
    assert main(["audit", *lines[1][1].split(), "--deals", "40"]) == 0
    capsys.readouterr()
    exec(bot + look, {})
    shown = capsys.readouterr().out
    assert re.search(r"returned \d+, which is not legal there - legal were \[", shown) and "player_1" in shown
