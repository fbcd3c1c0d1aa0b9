"""Games of a run as records, and stepping through them."""

from __future__ import annotations

import pytest

from eval.__main__ import main
from eval.arena import plan
from eval.parquet import read_rows
from eval.replay import positions, walk
from jolly_env import record


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    rules = ["--rules", "target=150,opening_points=10,max_turns=40"]
    assert main(["run", "greedy", "random", "--deals", "4", "--records", "5", "--out", str(out), *rules]) == 0
    return out


def test_records_are_the_games_of_the_run(folder):
    rows = read_rows(folder / "rounds.parquet")[0]
    paths = sorted((folder / "records").iterdir())
    assert [path.name for path in paths] == [f"deal-{i // 2:06}-seating-{i % 2}.json" for i in range(5)]
    assert rows["round"].max() > 0
    for number, path in enumerate(paths):
        game = record.check(path)
        mine = rows[(rows["deal"] == number // 2) & (rows["seating"] == number % 2)]
        assert game.over and game.seed == mine["seed"][0]
        logs = [*game.finished, game.log()]
        assert [log["scores"] for log in logs] == mine["score"].tolist()
        assert [len(log["actions"]) for log in logs] == mine["decisions"].sum(axis=1).tolist()
        names = [("greedy", "random")[agent] for agent in plan(2, 2)[number % 2]]
        assert record.load(path)["agents"] == names


def test_records_of_an_agent_that_plays_otherwise_again(tmp_path, capsys):
    bot = tmp_path / "bots.py"
    bot.write_text(
        "import numpy as np\n"
        "class Moody:\n"
        "    def act(self, observations, masks, keys):\n"
        "        rng = np.random.default_rng()\n"
        "        return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])\n"
    )
    arguments = ["run", f"{bot}:Moody", "random", "--deals", "3", "--records", "2", "--out", str(tmp_path / "out")]
    assert main([*arguments, "--workers", "1", "--rules", "max_turns=20"]) == 0
    assert "the records are not of the run" in capsys.readouterr().err


def test_replay_prints_everything_where_there_is_no_terminal(folder, capsys):
    path = folder / "records" / "deal-000000-seating-0.json"
    assert main(["replay", str(path)]) == 0
    shown = capsys.readouterr().out
    document = record.load(path)
    actions = [action for played in document["rounds"] for action in played["actions"]]
    assert shown.count("\n\n") == len(actions) + len(document["rounds"])
    assert "round 0 is dealt" in shown and f"player_0 (greedy): {actions[0]}" in shown
    assert "\x1b" not in shown and "stock" in shown


def test_stepping(folder):
    shown = positions(folder / "records" / "deal-000000-seating-0.json")
    pages = []

    def at(keys: str) -> int:
        pages.clear()
        return walk(shown, keys, pages.append)

    assert at("") == 0 and len(pages) == 1 and "0 of " in pages[0]
    assert at("\n ") == 2 and "player_0" in pages[2]
    assert at("  b") == 1 and at("b") == 0
    assert at("12\n") == 12 and at("12\nb") == 11 and at("12 ") == 12
    assert at("99999\n") == len(shown) - 1 and at(" q  ") == 1
    assert at("x") == 0
    for page, (title, _) in zip((pages[0],), shown, strict=False):
        assert title in page


def test_a_damaged_record_is_one_line(tmp_path, capsys):
    (tmp_path / "a.json").write_text("{}")
    assert main(["replay", str(tmp_path / "a.json")]) == 2
    assert main(["replay", str(tmp_path / "none.json")]) == 2
    assert capsys.readouterr().err.count("\n") == 2
