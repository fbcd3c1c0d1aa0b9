"""The audits: honest agents pass, and planted cheats and moody agents are caught."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.__main__ import main
from eval.arena import Floor
from eval.audit import Redealing, against_itself, hidden_and_company
from eval.workers import named_agents
from jolly_env import Rules

SHORT = Rules(max_turns=40)

BOTS = '''
import gc, sys
import numpy as np
from jolly_env.agent import RandomAgent
from jolly_env.batch import Batch

class Cheat(RandomAgent):
    """Reads the others' hands: chooses by their cards."""

    def states(self):
        raise NotImplementedError

    def act(self, observations, masks, keys):
        actions = super().act(observations, masks, keys)
        states = self.states()
        for i, (seen, mask) in enumerate(zip(observations, masks)):
            mine = np.flatnonzero((states["hands"][:, int(seen["seat"])] == seen["hand"]).all(axis=1))
            for state in states[mine[:1]]:
                other = state["hands"][1 - int(seen["seat"])].astype(int)
                legal = np.flatnonzero(mask)
                actions[i] = legal[int(other @ np.arange(53)) % len(legal)]
        return actions

class Collecting(Cheat):
    def states(self):
        return np.concatenate([b.states for b in gc.get_objects() if isinstance(b, Batch)])

class Climbing(Cheat):
    def states(self):
        frame = sys._getframe()
        while frame is not None:
            for value in frame.f_locals.values():
                if isinstance(value, Batch):
                    return value.states
            frame = frame.f_back

class Searching(Cheat):
    """Looks for arrays of states wherever frames hold them."""

    def states(self):
        found, frame = [], sys._getframe()
        while frame is not None:
            for value in frame.f_locals.values():
                for held in (value, *getattr(value, "__dict__", {}).values()):
                    for array in (held, getattr(held, "__dict__", {}).get("states")):
                        if isinstance(array, np.ndarray) and "hands" in (array.dtype.names or ()):
                            found.append(array)
            frame = frame.f_back
        return np.concatenate(found)

class Moody(RandomAgent):
    """Chooses by what stands beside a decision."""

    def act(self, observations, masks, keys):
        return super().act(observations, masks, keys + keys.sum())

class Raising:
    """Never chooses."""

    def act(self, observations, masks, keys):
        raise OSError("no")

class Leaving:
    """Ends the program."""

    def act(self, observations, masks, keys):
        raise SystemExit(3)

class Counting(RandomAgent):
    """Chooses by how often it was asked."""
    calls = 0

    def act(self, observations, masks, keys):
        self.calls += 1
        return super().act(observations, masks, keys * np.uint64(2 * self.calls + 1))
'''


@pytest.fixture(scope="module")
def bots(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("bots") / "bots.py"
    path.write_text(BOTS)
    return path


@pytest.mark.parametrize("name", ["random", "greedy"])
@pytest.mark.parametrize("players", [2, 4])
def test_honest_agents_pass(name, players):
    rules = Rules(players=players, max_turns=60, opening_points=20)
    hidden, company = hidden_and_company(name, rules, 3, 11)
    assert hidden.passed and company.passed, (hidden, company)
    assert against_itself(name, rules, 60, 11).passed


@pytest.mark.parametrize("name", ["Collecting", "Climbing", "Searching"])
def test_cheats_are_caught(name, bots):
    floor = Redealing(named_agents((f"{bots}:{name}", "random")), 2, 3, Rules(max_turns=16))
    (played,) = floor.play([0])
    assert floor.changed > played.rows["decisions"][played.rows["agent"] == 0].sum() / 4


def test_the_cards_dealt_anew_are_others_and_games_go_on_as_before():
    agents = named_agents(("greedy", "random"))
    floor = Redealing(agents, 3, 5, SHORT)
    (played,) = floor.play([0])
    (plain,) = Floor(agents, 3, 5, SHORT).play([0])
    assert played.rows["score"].tolist() == plain.rows["score"].tolist()
    assert floor.asked == plain.rows["decisions"].sum() and floor.differed > 0.9 * floor.asked
    assert floor.changed == 0


@pytest.mark.parametrize(("name", "words"), [("Moody", "alone (0"), ("Counting", "again (0")])
def test_agents_that_depend_on_company_are_caught(name, words, bots):
    company = hidden_and_company(f"{bots}:{name}", SHORT, 2, 3)[1]
    assert not company.passed and words not in company.told


@pytest.mark.parametrize("name", ["Raising", "Leaving"])
def test_an_agent_that_only_forfeits_passes_nothing(name, bots, capsys):
    assert main(["audit", f"{bots}:{name}", "--deals", "40", "--rules", "max_turns=10"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and all(line.startswith("FAILED") for line in lines)


def test_an_agent_that_is_not_its_own_equal_fails(monkeypatch):
    class Worse:
        def __init__(self, agent):
            self.agent = agent

        def act(self, observations, masks, keys):
            return masks.argmax(axis=1)

    monkeypatch.setattr("eval.audit.OtherKeys", Worse)
    finding = against_itself("greedy", Rules(), 200, 1)
    assert not finding.passed and "200 deals: +" in finding.told


def test_the_command(bots, capsys):
    assert main(["audit", "greedy", "--deals", "40", "--seed", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "passed  against itself",
        "passed  hidden cards",
        "passed  company",
    ]
    assert main(["audit", f"{bots}:Climbing", "--deals", "40", "--rules", "max_turns=40"]) == 1
    assert "FAILED  hidden cards" in capsys.readouterr().out
    for wrong in (["audit", "greedie"], ["audit", "greedy", "--deals", "1"], ["audit", "greedy", "--players", "5"]):
        assert main(wrong) == 2
    assert capsys.readouterr().err.count("\n") == 3
