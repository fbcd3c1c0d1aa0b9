"""The bots: legal, fair and the same whatever the batch; and the registry that makes them by name."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import agents
from agents.careful import CarefulAgent
from agents.greedy import GreedyAgent
from agents.planner import PlannerAgent
from agents.racer import RacerAgent
from jolly_env import Rules
from jolly_env.actions import DISCARD, DRAW_STOCK, format_action
from jolly_env.agent import Agent, RandomAgent
from jolly_env.batch import Batch
from jolly_env.cards import JOKER, parse_cards
from jolly_env.determinize import determinize
from jolly_env.game import Game
from jolly_env.state import CLOSED, DRAW

RULES = [
    Rules(),
    Rules(players=3),
    Rules(players=4),
    Rules(jokers=0),
    Rules(opening_points=0),
    Rules(opening_points=51, hand_size=7, players=4),
    Rules(opening_points=200, max_turns=60),
    Rules(hand_size=1, hand_limit=2, opening_points=0, max_turns=40),
    Rules(hand_size=19, recycle_keep=0),
    Rules(hand_size=5, jokers=2, pack=(1,) * 52, target=100, max_rounds=3),
]
BOTS: dict[str, Agent] = {
    "random": RandomAgent(),
    "greedy": GreedyAgent(),
    "careful": CarefulAgent(),
    "planner": PlannerAgent(),
    "racer": RacerAgent(),
}


def positions(rules: Rules, games: int, steps: int, agent: Agent) -> Iterator[Batch]:
    """Yield a batch before each of ``steps`` moves of ``agent``, one move in four a random one."""
    batch = Batch(games, rules, seed=5)
    for step in range(steps):
        yield batch
        mover = RandomAgent() if step % 4 == 3 else agent
        batch.step(mover.act(batch.observations, batch.masks, batch.keys))


def scores(first: Agent, second: Agent, deals: int, rules: Rules) -> tuple[np.ndarray, np.ndarray]:
    """Return what ``first`` and each of ``second`` got, float[2 * deals]: each deal is played in two seatings."""
    own, others = [], []
    for seat in (0, 1):
        batch = Batch(deals, rules, seed=np.arange(deals), auto_reset=False)
        rows = np.arange(deals)
        while rows.size:
            chosen = np.empty(rows.size, dtype=np.int64)
            for agent, mine in ((first, batch.seats[rows] == seat), (second, batch.seats[rows] != seat)):
                part = rows[mine]
                chosen[mine] = agent.act(batch.observations[part], batch.masks[part], batch.keys[part])
            batch.step(chosen, rows)
            rows = rows[~(batch.terminated | batch.truncated)[rows]]
        own.append(batch.scores[:, seat])
        others.append((batch.scores.sum(axis=1) - batch.scores[:, seat]) / (rules.players - 1))
    return np.concatenate(own), np.concatenate(others)


def dealt(hand: str, stock: str, second: str = "", third: str = "", rules: Rules | None = None) -> Game:
    """Return a game with these hands, in which the stock begins with ``stock``; other cards come from the low end."""
    rules = rules if rules is not None else Rules()
    counts = rules.counts()
    hands, drawn = [parse_cards(text) for text in (hand, second, third)[: rules.players]], parse_cards(stock)
    for card in [*drawn, *(card for cards in hands for card in cards)]:
        counts[card] -= 1
    rest = [card for card in range(JOKER + 1) for _ in range(counts[card])]
    for cards in hands:
        missing = rules.hand_size - len(cards)
        cards += rest[:missing]
        rest = rest[missing:]
    return Game(rules, deck=[card for cards in hands for card in cards] + drawn + rest)


def turn(game: Game, agent: Agent) -> list[str]:
    """Play the turn of the seat to move and return its actions in notation."""
    seat, played = game.seat, []
    while not game.over and game.seat == seat:
        key = np.array([game.decision_key(seat)], dtype=np.uint64)
        action = int(agent.act(game.observe(seat), game.mask()[None], key)[0])
        played.append(format_action(action, game.state))
        game.step(action)
    return played


@pytest.mark.parametrize(
    "rules", RULES, ids=lambda rules: str({k: v for k, v in rules.to_json().items() if k != "pack"})
)
@pytest.mark.parametrize("agent", BOTS.values(), ids=BOTS)
def test_every_action_is_legal(agent: Agent, rules: Rules) -> None:
    batch = Batch(32, rules, seed=1)
    ended = 0
    while ended < 32:
        actions = agent.act(batch.observations, batch.masks, batch.keys)
        assert batch.masks[np.arange(32), actions].all()
        batch.step(actions)
        ended += int(batch.round_over.sum())


@pytest.mark.parametrize("agent", BOTS.values(), ids=BOTS)
def test_a_choice_does_not_depend_on_the_batch(agent: Agent) -> None:
    for batch in positions(Rules(players=3), 24, 60, agent):
        seen, masks, keys = batch.observations, batch.masks, batch.keys
        whole = agent.act(seen, masks, keys)
        order = np.random.default_rng(0).permutation(24)
        assert (agent.act(seen[order], masks[order], keys[order]) == whole[order]).all()
        parts = [agent.act(seen[part], masks[part], keys[part]) for part in np.split(np.arange(24), [1, 5, 6, 17])]
        assert (np.concatenate(parts) == whole).all()
        assert (agent.act(seen, masks, keys) == whole).all()


@pytest.mark.parametrize("agent", BOTS.values(), ids=BOTS)
def test_hidden_cards_change_no_choice(agent: Agent) -> None:
    changed = 0
    for number, batch in enumerate(positions(Rules(players=3), 8, 60, agent)):
        chosen = agent.act(batch.observations, batch.masks, batch.keys)
        other = Batch.from_states(np.concatenate([determinize(seen, number) for seen in batch.observations]))
        changed += int((other.states["stock"] != batch.states["stock"]).any(axis=1).sum())
        assert (other.masks == batch.masks).all()
        assert (agent.act(other.observations, other.masks, batch.keys) == chosen).all()
    assert changed > 300


def test_other_keys_give_other_random_actions() -> None:
    masks = np.ones((1000, 839), dtype=np.int8)
    keys = np.random.default_rng(1).integers(0, 2**64, size=1000, dtype=np.uint64)
    actions = RandomAgent().act(None, masks, keys)
    assert len(set(actions.tolist())) > 400
    assert (RandomAgent().act(None, masks, keys) == actions).all()


def test_greedy_accepts_flat_observations_and_none_at_all() -> None:
    batch = Batch(4, seed=2)
    flat = batch.observations.view(np.int16).reshape(4, -1)
    agent = GreedyAgent()
    expected = agent.act(batch.observations, batch.masks, batch.keys)
    assert (agent.act(flat, batch.masks, batch.keys) == expected).all()
    assert agent.act(batch.observations[:0], batch.masks[:0], batch.keys[:0]).shape == (0,)


@pytest.mark.parametrize("players", [2, 4])
def test_greedy_beats_random_clearly(players: int) -> None:
    own, others = scores(GreedyAgent(), RandomAgent(), 200, Rules(players=players))
    assert ((own > others) + 0.5 * (own == others)).mean() > 0.97
    assert (own - others).mean() > 150


def test_greedy_against_itself_closes_its_rounds() -> None:
    batch = Batch(200, seed=3)
    endings: list[int] = []
    agent = GreedyAgent()
    while len(endings) < 400:
        batch.step(agent.act(batch.observations, batch.masks, batch.keys))
        endings += batch.endings[batch.round_over].tolist()
    assert np.mean(np.array(endings) == CLOSED) > 0.99


def test_greedy_opens_when_it_can() -> None:
    # Tens and jacks make 60 points; the run 3 4 5 is laid in the same turn.
    game = dealt("Tc Td Th Jc Jd Jh 3s 4s 5s 9c 2h 7d Kc", "6d")
    played = turn(game, GreedyAgent())
    assert sorted(played[1:4]) == ["lay 3s 4s 5s", "lay Jc Jd Jh", "lay Tc Td Th"]
    assert played[0] == "draw" and played[-1].startswith("discard")


def test_greedy_opens_with_a_joker_where_that_reaches_the_points() -> None:
    # The three aces count 75 in a set: with the joker that is an opening, without it nothing is.
    game = dealt("Ac Ad * 2h 3c 4d 6h 7s 8c Td Js 9h Kc", "5s")
    assert "lay Ac Ad *" in turn(game, GreedyAgent())


def test_greedy_does_not_break_a_pair_or_shed_a_joker() -> None:
    # Everything serves something but the lone four and the dearer lone nine.
    game = dealt("Kc Kd 7h 8h * 2s 3s Qh Qs 4d 9c 5h 5c", "Jd", rules=Rules(opening_points=1000))
    assert turn(game, GreedyAgent()) == ["draw", "discard 9c"]


def test_greedy_takes_from_the_row_what_it_can_lay() -> None:
    # Seat 0 opens with tens and jacks and keeps 6 7; seat 1 throws the 8.
    game = dealt("Tc Td Th Jc Jd Jh 6s 7s Ks 2d 4h 9c Kd", "3d Qc", second="8s 8s 8d Qd Qh 3c 3h 2c 2h 5c 5d 7c 9d")
    agent = GreedyAgent()
    turn(game, agent)
    game.step(DRAW_STOCK)
    game.step(DISCARD + parse_cards("8s")[0])
    played = turn(game, agent)
    assert played[:2] == ["take 1", "lay 6s 7s 8s"]


def test_greedy_takes_several_cards_for_the_one_that_it_wants() -> None:
    # The jack of spades goes to the set of jacks; the six above it in the row comes along.
    game = dealt(
        "Tc Td Th Jc Jd Jh As 2s Ks 2d 4h 9c Kd",
        "3d Qc 7c",
        second="Js 8s 8d Qd Qh 3c 3h 2c 2h 5c 5d 7c 9d",
        third="6d 8h 8h 8c Qs 3s 3s 5h 5h 7d 7d 9h 9s",
        rules=Rules(players=3),
    )
    agent = GreedyAgent()
    turn(game, agent)
    for card in parse_cards("Js 6d"):
        game.step(DRAW_STOCK)
        game.step(DISCARD + card)
    assert turn(game, agent)[:2] == ["take 2", "attach Js m1"]


def test_greedy_draws_from_the_stock_before_it_has_opened() -> None:
    batch = Batch(16, seed=4)
    actions = GreedyAgent().act(batch.observations, batch.masks, batch.keys)
    assert (batch.observations["phase"] == DRAW).all() and (actions == DRAW_STOCK).all()


def test_ties_go_by_the_key() -> None:
    game = dealt("9c 9c 9d 9d 2h 2h 2s 2s 5c 5c 5d 5d Ks", "Kh", rules=Rules(opening_points=1000))
    game.step(DRAW_STOCK)
    seen, mask = game.observe(0), game.mask()[None]
    keys = np.random.default_rng(2).integers(0, 2**64, size=50, dtype=np.uint64)
    chosen = {int(GreedyAgent().act(seen, mask, key[None])[0]) for key in keys}
    assert len(chosen) > 1 and min(chosen) >= DISCARD


def test_make_rungs() -> None:
    assert isinstance(agents.make("random"), RandomAgent)
    assert isinstance(agents.make("greedy"), GreedyAgent)
    assert isinstance(agents.make("careful"), CarefulAgent)
    assert isinstance(agents.make("planner"), PlannerAgent)
    assert isinstance(agents.make("racer"), RacerAgent)
    assert isinstance(agents.make("hard"), PlannerAgent)
    assert all(rung in agents.NAMES for rung in agents.LEVELS.values())
    assert all(text and "\n" not in text for text in agents.NAMES.values())
    for name in agents.NAMES:
        assert callable(agents.make(name).act)


def test_numbers_in_place_of_an_agents_own() -> None:
    agent = agents.make("careful:joker=3.5,fit=0")
    assert isinstance(agent, CarefulAgent)
    changed = agent.weights != CarefulAgent().weights
    assert changed.sum() == 2 and set(agent.weights[changed]) == {3.5, 0.0}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("careful:jokr=1", "no weight 'jokr'; did you mean joker"),
        ("careful:joker", "expected NAME=NUMBER"),
        ("careful:joker=much", "expected NAME=NUMBER"),
        ("careful:joker=nan", "expected a finite number"),
        ("greedy:joker=1", "greedy has no option joker"),
        ("random:x=1", "random has no option x"),
        ("search:worlds=0.5", "worlds=0.5: expected a whole number"),
        ("search:milliseconds=-1", "milliseconds=-1"),
    ],
)
def test_options_that_cannot_be(name: str, told: str) -> None:
    assert told in complaint(name)


def complaint(name: object) -> str:
    """Return the one line with which ``make`` refuses a name."""
    with pytest.raises(ValueError) as caught:
        agents.make(name)  # type: ignore[arg-type]
    text = str(caught.value)
    assert "\n" not in text and repr(name) in text
    return text


@pytest.mark.parametrize(("name", "near"), [("greddy", "greedy"), ("Random", "random"), ("randm", "random")])
def test_unknown_names_suggest_the_near_ones(name: str, near: str) -> None:
    assert f"did you mean {near}?" in complaint(name)


@pytest.mark.parametrize("name", ["", "xyzzy", 7, None])
def test_other_names_list_what_there_is(name: object) -> None:
    text = complaint(name)
    assert not isinstance(name, str) or ("random, greedy" in text and "did you mean" not in text)


def test_missing_paths_are_told_from_unknown_names(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    text = complaint(str(tmp_path / "fisrt" / "best"))
    assert "no such run folder or weights" in text and "did you mean first?" in text
    assert "no such run folder" in complaint("nowhere/at/all")
    assert "no such run folder" in complaint("champion.safetensors")
    assert complaint("a\0b/c") and complaint("x" * 300 + "/y")


BOT = """
import numpy as np
from helper import lowest

class Cautious:
    def act(self, observations, masks, keys):
        return lowest(masks)

class NoAct:
    pass

class Needy:
    def __init__(self, strength):
        pass

class Failing:
    def __init__(self):
        raise RuntimeError("out of\\nluck")

number = 3
"""


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    """Return a file of a user's agents; its import stands beside it."""
    (tmp_path / "helper.py").write_text("def lowest(masks):\n    return masks.argmax(axis=1)\n")
    path = tmp_path / "mybots.py"
    path.write_text(BOT)
    return path


def test_make_from_a_file_and_class(bots: Path) -> None:
    agent = agents.make(f"{bots}:Cautious")
    batch = Batch(3, seed=0)
    actions = agent.act(batch.observations, batch.masks, batch.keys)
    assert (actions == batch.masks.argmax(axis=1)).all()
    assert str(bots.parent) not in sys.path
    assert type(agents.make(f"{bots}:Cautious")) is type(agent)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Cautios", "has no class 'Cautios'; it has Cautious, NoAct, Needy, Failing"),
        ("", "has no class ''"),
        ("number", "number in"),
        ("NoAct", "no method act"),
        ("Needy", "without arguments, failed: TypeError"),
        ("Failing", "RuntimeError: out of luck (line 18)"),
    ],
)
def test_what_is_wrong_in_a_users_file(bots: Path, name: str, told: str) -> None:
    assert told in complaint(f"{bots}:{name}")


def test_files_that_cannot_be_loaded(tmp_path: Path, bots: Path) -> None:
    assert "no such file" in complaint(f"{tmp_path}/mybot.py:Cautious")
    assert "name a class of that file" in complaint(str(bots))
    for source, told in (
        ("def f(:\n", "SyntaxError: invalid syntax (line 1)"),
        ("\nimport not_there_at_all\n", "ModuleNotFoundError"),
        ("\n\nraise SystemExit(3)\n", "SystemExit: 3 (line 3)"),
    ):
        path = tmp_path / f"bad{abs(hash(source))}.py"
        path.write_text(source)
        assert told in complaint(f"{path}:Bot")


def test_importing_agents_imports_no_torch() -> None:
    code = "import sys, agents; agents.make('greedy'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=Path(__file__).parent.parent).returncode == 0
