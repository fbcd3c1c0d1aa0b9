"""The table's server on the wire: what a seat sees, who may act, what is refused, and what a kill leaves."""

from __future__ import annotations

import json
import random
import re
import socket
import threading
import time
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from jolly_env import record
from tests.table_process import Person, Server, Wire, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("table")) as running:
        yield running


def pair(server: Server, **settings) -> tuple[Person, Person, str]:
    one, two = Person(server, "One"), Person(server, "Two")
    table = one.table("person", "person", **settings)
    assert two.sit(table).status_code == 200
    return one, two, table


def play_out(wires: list[Wire], rng: random.Random, check=lambda view: None) -> dict:
    """Let all persons of a table play at random until the game is finished; return the last view."""
    ends: list[dict] = []
    faults: list[BaseException] = []

    def play(wire: Wire) -> None:
        played = -1
        try:
            while True:
                view = wire.view()
                check(view)
                if view["state"] == "finished":
                    ends.append(view)
                    return
                if view["state"] == "round over" and not view["players"][view["you"]]["ready"]:
                    wire.send(type="continue")
                elif view.get("legal") and view["version"] != played:
                    played = view["version"]
                    wire.send(type="act", actions=[rng.choice(view["legal"])], at=played)
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=play, args=(wire,)) for wire in wires]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not faults, faults
    return ends[0]


def test_a_seat_sees_its_own_hand_and_no_other(server):
    one, two, table = pair(server, target=1)
    wires = [one.at(table), two.at(table), Wire(server, table, None)]
    hidden = []

    def check(view):
        if view["state"] != "playing":
            return
        assert "position" not in view and not view["watch"]
        for player in view["players"]:
            assert (player["hand"] is not None) == (player["seat"] == view["you"])
        if view["you"] is None or view["seat"] != view["you"]:
            assert view["legal"] == []
        hidden.append(view["you"])

    looking = threading.Thread(target=lambda: [check(wires[2].view()) for _ in range(10)])
    looking.start()
    last = play_out(wires[:2], random.Random(3), check)
    looking.join(10)
    assert {0, 1, None} <= set(hidden)
    assert all(player["hand"] is not None for player in last["players"])  # it is over: all hands are open
    assert last["outcome"]["winners"]
    for wire in wires:
        wire.close()


def test_the_wire_holds_no_hidden_card_under_any_name(server):
    """Every number that a seat is sent is the same when the cards that it can't see are others."""
    from jolly_env import Game
    from jolly_env.determinize import determinize
    from table.room import Room, Seat

    game = Game(seed=5)
    rng = random.Random(1)
    for _ in range(40):
        game.step(rng.choice(game.legal_actions().tolist()))
    seats = [Seat("person", "A", "a"), Seat("person", "B", "b")]
    for me in (0, 1):
        room = Room("t", "a", None, None, None, seats, game=game)
        shown = json.dumps(room.view(seats[me].player, room.common({0, 1}, 5, False)))
        other = Game.from_state(determinize(game.observe(me)[0], 7))
        assert other.stock() != game.stock()
        room = Room("t", "a", None, None, None, seats, game=other)
        assert json.dumps(room.view(seats[me].player, room.common({0, 1}, 5, False))) == shown


def test_only_ones_own_seat_and_turn(server):
    one, two, table = pair(server)
    stranger = Person(server, "Stranger")
    first, second = one.at(table), two.at(table)
    looking = stranger.at(table)
    view = first.my_turn()
    act = {"type": "act", "actions": [0], "at": view["version"]}
    looking.send(**act)
    assert looking.refused() == "not-yours"
    second.send(**act)
    assert second.refused() == "not-your-turn"
    first.send(type="act", actions=[838], at=view["version"])
    assert first.refused() == "illegal"
    first.send(**act)
    first.send(**act)  # a double click
    assert first.refused() == "stale"
    assert stranger.sit(table).status_code == 409
    assert stranger.call("POST", f"/api/tables/{table}/leave").status_code == 403
    assert one.call("GET", f"/api/tables/{table}/record").status_code == 409
    assert one.call("GET", f"/api/tables/{table}/frames").status_code == 403
    for path in ("/api/me", "/api/tables"):
        forged = httpx.request(
            "GET" if path == "/api/me" else "POST",
            server.address + path,
            headers={"Authorization": "Bearer " + "x" * 43, "Content-Type": "application/json"},
            content=b'{"seats": ["person", "person"]}' if path != "/api/me" else None,
        )
        assert forged.status_code == 403 and forged.json()["code"] == "not-known"
    forged_wire = Wire(server, table, "x" * 43)
    with pytest.raises(ConnectionClosed) as closed:
        forged_wire.message()
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 4403


def test_many_actions_are_played_together_or_not_at_all(server):
    one, _, table = pair(server)
    wire = one.at(table)
    view = wire.my_turn()
    wire.send(type="act", actions=[0, 838, 0], at=view["version"])
    assert wire.refused() in ("illegal", "bad-actions")
    wire.send(type="act", actions=[0], at=view["version"])  # nothing was played
    hand = wire.view(lambda v: v["phase"] == "play")["players"][0]["hand"]
    assert len(hand) == 14


BAD_MESSAGES = [
    "",
    "no json",
    "[]",
    "{}",
    '{"type": "act"}',
    '{"type": "act", "actions": ["0"], "at": 0}',
    '{"type": "act", "actions": [0], "at": 0, "seat": 1}',
    '{"type": "act", "actions": [1e3], "at": 0}',
    '{"type": "act", "actions": [' + "0," * 70 + '0], "at": 0}',
    '{"type": "nonsense"}',
    '{"type": "chat", "text": 5}',
    "[" * 5000,
]


@pytest.mark.parametrize("text", BAD_MESSAGES)
def test_bad_messages_are_refused_and_the_table_goes_on(server, text):
    one, _, table = pair(server)
    wire = one.at(table)
    version = wire.my_turn()["version"]
    wire.socket.send(text)
    assert wire.refused() == "bad-message"
    wire.send(type="act", actions=[0], at=version)
    assert wire.view(lambda view: view["version"] > version)["phase"] == "play"
    wire.close()


def test_a_huge_message_and_a_flood_end_the_connection_alone(server):
    one, two, table = pair(server)
    huge, other = one.at(table), two.at(table)
    huge.my_turn()
    huge.socket.send("x" * 200_000)
    with pytest.raises(ConnectionClosed) as closed:
        huge.until(lambda message: False)
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1009
    flood = one.at(table)
    with pytest.raises(ConnectionClosed) as closed:
        for _ in range(3000):
            flood.send(type="ping")
        flood.until(lambda message: False)
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 4429
    back = one.at(table)
    back.send(type="act", actions=[0], at=back.my_turn()["version"])
    assert other.view(lambda view: view["phase"] == "play")["seat"] == 0


def test_a_slow_reader_holds_nobody_up(server):
    one, two, table = pair(server, target=None)
    raw = socket.create_connection(("127.0.0.1", server.port))
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    slow = connect(f"ws://127.0.0.1:{server.port}/ws/{table}", sock=raw).__enter__()
    slow.send(json.dumps({"type": "hello", "token": None, "invite": None}))
    wires = [one.at(table), two.at(table)]
    start = time.monotonic()
    last = play_out(wires, random.Random(1))
    assert last["state"] == "finished"
    assert time.monotonic() - start < 60


def test_another_page_and_another_host_are_turned_away(server):
    body = {"name": "X"}
    address = server.address + "/api/players"
    assert httpx.post(address, json=body, headers={"Origin": "http://evil.example"}).status_code == 403
    assert httpx.post(address, json=body, headers={"Origin": server.address}).status_code == 200
    assert httpx.get(server.address + "/", headers={"Host": "evil.example"}).status_code == 403
    assert httpx.post(address, content=b'{"name":"X"}', headers={"Content-Type": "text/plain"}).status_code == 400
    assert httpx.post(address, json={"name": "x" * 20_000}).status_code in (400, 413)
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://127.0.0.1:{server.port}/ws/x", origin="http://evil.example").__enter__()  # type: ignore[arg-type]
    assert refused.value.response.status_code == 403
    page = httpx.get(server.address + "/")
    assert "default-src 'self'" in page.headers["content-security-policy"]


def test_a_browser_cannot_name_a_file_as_an_agent(server):
    one = Person(server, "One")
    for name in ("mybots.py:Bad", "/tmp/x", "runs/x/best", "planner:weights=1"):
        made = one.call("POST", "/api/tables", {"seats": ["person", name]})
        assert made.status_code == 400 and made.json()["code"] == "no-agent"


BAD_TABLES = [
    {},
    {"seats": ["person"]},
    {"seats": ["person"] * 5},
    {"seats": ["person", 3]},
    {"seats": ["person"] * 2, "x": 1},
    {"seats": ["person"] * 2, "target": 0},
    {"seats": ["person"] * 2, "seconds": 1},
    {"seats": ["person"] * 2, "position": {"hands": ["Ac Ac Ac", "2c"]}},
]


@pytest.mark.parametrize("body", BAD_TABLES)
def test_tables_that_cannot_be_are_refused_with_a_reason(server, body):
    refused = Person(server, "One").call("POST", "/api/tables", body)
    assert refused.status_code == 400 and len(refused.json()["reason"]) > 5


def test_by_invitation(server):
    one, two = Person(server, "One"), Person(server, "Two")
    made = one.call("POST", "/api/tables", {"seats": ["person", "person"], "invited": True}).json()
    table, invite = made["table"], made["invite"]
    assert two.sit(table).status_code == 403
    wire = two.at(table)
    with pytest.raises(ConnectionClosed):
        wire.until(lambda message: False)
    assert not [row for row in two.call("GET", "/api/tables").json() if row["table"] == table]
    assert two.sit(table, invite).json()["seat"] == 1
    assert two.call("GET", f"/api/tables/{table}").json()["invite"] is None  # it is who made it who invites


def test_chat_is_passed_on_as_it_is_and_not_too_fast(server):
    one, two, table = pair(server)
    first, second = one.at(table), two.at(table)
    first.send(type="chat", text="<b>hello</b>")
    line = second.until(lambda message: message["type"] == "chat")
    assert (line["text"], line["name"], line["seat"]) == ("<b>hello</b>", "One", 0)
    for _ in range(12):
        first.send(type="chat", text="again")
    assert first.refused() == "too-fast"
    first.send(type="chat", text="x" * 500)
    assert first.refused() in ("bad-text", "too-fast")
    late = two.at(table)
    assert late.until(lambda message: message["type"] == "chats")["lines"][0]["text"] == "<b>hello</b>"


@pytest.mark.parametrize("name", ["", " ", "x" * 25, "\u200b\n", None, 5])
def test_names(server, name):
    assert httpx.post(server.address + "/api/players", json={"name": name}).status_code == 400


def test_time_runs_out_and_the_default_is_played(server):
    one, two, table = pair(server, seconds=5)
    first, second = one.at(table), two.at(table)
    view = first.my_turn()
    assert 0 < view["left"] <= 5000 and not view["paused"]
    after = second.view(lambda v: v["seat"] == 1)  # nobody played: it was drawn from the stock and thrown
    assert after["turn"] == 1 and len(after["row"]) == 1
    first.close()


def test_the_clock_waits_for_who_is_away(server):
    one, two, table = pair(server, seconds=5)
    second = two.at(table)
    view = second.view(lambda v: v["state"] == "playing")
    assert view["paused"] and not view["players"][0]["here"]
    with pytest.raises((TimeoutError, AssertionError)):
        second.until(lambda message: message.get("seat") == 1 and message["type"] == "view", wait=7)
    first = one.at(table)
    assert first.my_turn()["left"] > 3000


def test_agents_play_alone_and_whoever_looks_on_sees_all(server):
    one = Person(server, "One")
    table = one.table("greedy", "careful", "random", target=1)
    wire = Wire(server, table, None)
    view = wire.view(lambda v: v["state"] == "playing")
    assert view["watch"] and all(player["hand"] for player in view["players"]) and view["position"]["hands"]
    wire.until(lambda message: message.get("state") == "finished", wait=90)
    frames = httpx.get(server.address + f"/api/tables/{table}/frames").json()["frames"]
    assert [frame["n"] for frame in frames] == list(range(len(frames)))
    assert frames[0]["text"] is None and frames[1]["text"] == "draw"
    later = httpx.get(server.address + f"/api/tables/{table}/frames?after=5").json()["frames"]
    assert later == frames[6:]
    document = httpx.get(server.address + f"/api/tables/{table}/record").json()
    assert record.check(document).totals == frames[-1]["view"]["outcome"]["totals"]
    kept = server.data / "records" / f"{table}.json"
    assert record.load(kept) == document
    assert httpx.get(server.address + "/api/players/agent:greedy").json()["games"] >= 1
    shown = httpx.post(server.address + "/api/study/record", json={"record": document, "round": 0}, timeout=60).json()
    assert shown["agents"] == ["greedy", "careful", "random"] and len(shown["frames"]) > 10
    thought = httpx.post(
        server.address + "/api/study/think", json={"position": frames[1]["position"], "agent": "planner"}, timeout=120
    ).json()
    assert thought["probabilities"][0][2] == 1 and thought["value"] is not None
    assert {player["seat"] for player in thought["belief"]["players"]} == {0, 1, 2} - {frames[1]["view"]["seat"]}


def test_a_hint_is_for_ones_own_turn(server):
    one, two, table = pair(server)
    first, second = one.at(table), two.at(table)
    version = first.my_turn()["version"]
    second.send(type="hint", agent="greedy")
    assert second.refused() == "not-your-turn"
    first.send(type="hint", agent="greedy")
    hint = first.until(lambda message: message["type"] == "hint", wait=120)
    assert hint["version"] == version and hint["thought"]["action"] == 0


def test_study(server):
    address = server.address + "/api/study/"
    position = {"phase": "play", "turn": 4, "rules": {"opening_points": 0}, "hands": ["6d 7d 8d Kc", "2c"]}
    frame = httpx.post(address + "position", json={"position": position}).json()
    assert frame["view"]["players"][0]["hand"] and frame["view"]["legal"]
    lay = next(action for action in frame["view"]["legal"] if 20 <= action < 390)
    after = httpx.post(address + "step", json={"position": frame["position"], "action": lay}).json()
    assert after["text"] == "lay 6d 7d 8d" and after["seat"] == 0 and after["view"]["melds"]
    for wrong in ({"hands": ["Xx"]}, [], None, {"hands": ["Ac Ac Ac", ""]}):
        refused = httpx.post(address + "position", json={"position": wrong})
        assert refused.status_code == 400 and refused.json()["code"] == "bad-position"
    refused = httpx.post(address + "step", json={"position": frame["position"], "action": 0})
    assert refused.status_code == 400 and refused.json()["code"] == "illegal"
    refused = httpx.post(address + "record", json={"record": {"format": "x"}})
    assert refused.status_code == 400 and refused.json()["code"] == "bad-record"


def test_a_table_that_begins_with_a_position(server):
    one = Person(server, "One")
    position = {"phase": "play", "turn": 4, "rules": {"opening_points": 0}, "hands": ["6d 7d 8d Kc", "2c"]}
    table = one.table("person", "greedy", position=position)
    assert one.at(table).my_turn()["players"][0]["hand"] == [12, 18, 19, 20]


def test_kill_and_start_again_same_table_same_turn(tmp_path: Path):
    with serving(tmp_path) as server:
        one, two, table = pair(server)
        other = one.table("person", "person")  # one that waits
        wire = one.at(table)
        rng = random.Random(0)
        wires = {0: wire, 1: two.at(table)}
        before = wire.my_turn()
        for _ in range(9):
            seat = before["seat"]
            view = wires[seat].my_turn() if before["you"] != seat or not before["legal"] else before
            wires[seat].send(type="act", actions=[rng.choice(view["legal"])], at=view["version"])
            before = wires[seat].view(lambda v, after=view["version"]: v["version"] > after)
        mover = wires[before["seat"]]
        mover.send(type="chat", text="before")
        mover.until(lambda message: message["type"] == "chat")
        port = server.port
        server.kill()
        server.start(port)
        again = one.at(table).view(lambda v: v["state"] == "playing")
        same = ("version", "turn", "seat", "phase", "row", "melds", "stock", "round")
        assert {name: again[name] for name in same} == {name: before[name] for name in same}
        back = [one, two][again["seat"]].at(table)
        assert back.until(lambda message: message["type"] == "chats")["lines"][0]["text"] == "before"
        view = back.my_turn()
        back.send(type="act", actions=[view["legal"][0]], at=view["version"])
        back.view(lambda v: v["version"] > view["version"])
        assert one.call("GET", f"/api/tables/{other}").json()["state"] == "waiting"
        assert server.stop() in (0, 130)


def test_a_table_that_all_have_left_is_given_up(server):
    one, two = Person(server, "One"), Person(server, "Two")
    for _ in range(25):  # more than one person may have open
        table = one.table("person", "person")
        assert one.call("POST", f"/api/tables/{table}/leave").status_code == 200
    assert one.call("GET", f"/api/tables/{table}").status_code == 404
    assert not [row for row in one.call("GET", "/api/tables").json() if row["table"] == table]
    made = [one.call("POST", "/api/tables", {"seats": ["greedy"] * 2, "target": 90_000}).status_code for _ in range(6)]
    assert made.count(200) == 4  # one person does not take all tables of agents
    assert two.call("POST", "/api/tables", {"seats": ["greedy"] * 2, "target": 1}).status_code == 200


def test_a_table_that_was_set_up_is_only_for_its_link(server):
    one, two = Person(server, "One"), Person(server, "Two")
    position = {"phase": "play", "turn": 4, "hands": ["6d 7d 8d Kc", "2c"]}
    table = one.table("person", "person", position=position)
    wire = one.at(table)
    assert wire.view()["set_up"]
    assert table not in [row["table"] for row in two.call("GET", "/api/tables").json()]
    assert two.sit(table).json()["set_up"]


def test_odd_requests_are_refused(server):
    assert httpx.get(server.address + "/", headers={"Host": "[::1"}).status_code == 400
    assert httpx.get(server.address + "/", headers={"Origin": "http://[::1"}).status_code == 400
    one = Person(server, "One")
    wire = one.at(one.table("person", "person"))
    wire.view()
    wire.socket.send(b'{"type": "ping"}')
    assert wire.refused() == "bad-message"
    deep = json.loads("[" * 400 + "]" * 400)
    for path, body in (("position", {"position": deep}), ("record", {"record": deep})):
        assert httpx.post(f"{server.address}/api/study/{path}", json=body).status_code == 400


def test_a_damaged_table_is_left_alone(tmp_path: Path):
    import sqlite3

    with serving(tmp_path) as server:
        one = Person(server, "One")
        tables = [one.table("person", "person") for _ in range(3)]
    with sqlite3.connect(tmp_path / "table.sqlite") as file:
        file.execute("insert into events values (?, 1, ?)", (tables[0], '{"kind": "left", "seat": 9}'))
        file.execute("insert into events values (?, 1, ?)", (tables[1], '{"kind": "played", "actions": [0]}'))
    with serving(tmp_path) as server:
        one.server = server
        assert one.call("GET", f"/api/tables/{tables[2]}").json()["state"] == "waiting"


def test_an_agent_that_dies_costs_only_itself(tmp_path: Path):
    bots = tmp_path / "bots.py"
    bots.write_text(
        "import os\nclass Dying:\n    def act(self, observations, masks, keys):\n        os._exit(1)\n"
        "class Leaving:\n    def act(self, observations, masks, keys):\n        raise SystemExit(3)\n"
    )
    names = [f"{bots}:{name}" for name in ("Dying", "Leaving")]
    with serving(tmp_path / "data", "--agents", names[0], "--agents", names[1], "--pace", "0") as server:
        one = Person(server, "One")
        for name in names:
            wire = one.at(one.table(name, "person"))
            view = wire.until(lambda m: m["type"] == "view" and m.get("seat") == 1, wait=60)
            assert len(view["row"]) == 1  # the default was played
        table = one.table("random", "greedy", target=None)
        end = Wire(server, table, None).until(lambda m: m.get("state") == "finished", wait=90)
        assert end["outcome"]["ending"]


def test_a_disk_that_is_full_is_told_and_nothing_happens(tmp_path: Path):
    import asyncio

    from table.hall import Hall
    from table.refused import Refused
    from table.store import Store
    from table.thinking import Thinkers

    async def try_it() -> None:
        store = Store(tmp_path / "table.sqlite")
        hall = Hall(store, Thinkers(1), [("greedy", "")], tmp_path, 0)
        person, _ = await hall.welcome("One")
        store._file.execute("pragma max_page_count = 1")  # no room for more
        with pytest.raises(Refused, match="disk may be full"):
            for _ in range(200):
                await hall.welcome("x" * 20)
        with pytest.raises(Refused, match="disk may be full"):
            for _ in range(50):
                await hall.rename(person, "y" * 24)
                await hall.welcome("x" * 20)
        await hall.close()

    asyncio.run(try_it())


def test_a_kill_leaves_no_process_behind(tmp_path: Path):
    def children(pid: int) -> list[int]:
        found = [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        return found + [grand for child in found for grand in children(child)]

    with serving(tmp_path) as server:
        one = Person(server, "One")
        wire = one.at(one.table("person", "greedy"))
        wire.my_turn()
        wire.send(type="hint", agent="greedy")
        wire.until(lambda message: message["type"] == "hint", wait=60)
        assert server.process is not None
        left = children(server.process.pid)
        assert left
        server.kill()
        end = time.monotonic() + 15
        while time.monotonic() < end and any(Path(f"/proc/{pid}").exists() for pid in left):
            time.sleep(0.1)
        assert not [pid for pid in left if Path(f"/proc/{pid}").exists()]


def test_kills_in_the_middle_of_play_lose_nothing_that_was_shown(tmp_path: Path):
    with serving(tmp_path) as server:
        one = Person(server, "One")
        table = one.table("greedy", "random", target=None)
        port, seen = server.port, 0
        for _ in range(3):
            wire = Wire(server, table, None)
            seen = wire.until(lambda m, n=seen: m["type"] == "view" and m["version"] >= n + 8, wait=60)["version"]
            server.kill()
            server.start(port)
            assert Wire(server, table, None).view()["version"] >= seen


def test_a_second_server_on_the_same_folder_is_refused(server):
    import subprocess
    import sys

    command = [sys.executable, "-m", "table", "--port", "0", "--no-browser", "--data", str(server.data)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "another process is writing there" in done.stderr
    done = subprocess.run([*command[:4], str(server.port), *command[5:]], capture_output=True, text=True)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert str(server.port) in done.stderr


def test_an_old_or_damaged_file_is_one_line(tmp_path: Path):
    (tmp_path / "table.sqlite").write_bytes(b"not a database at all" * 100)
    server = Server(tmp_path)
    with pytest.raises(AssertionError) as told:
        server.start()
    assert "table.sqlite" in str(told.value) and "Traceback" not in str(told.value)


def test_the_command_has_help_with_an_example(capsys):
    from table.__main__ import main

    with pytest.raises(SystemExit):
        main(["--help"])
    told = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).split())
    assert "Example: python -m table" in told and "--port" in told and "--no-browser" in told
    assert main(["--port", "70000", "--no-browser"]) == 2
    assert main(["--against", "nobody", "--no-browser"]) == 2
