"""The study in a real browser: agents watched back and forth, records, positions, and what an agent thinks."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from jolly_env import Game, record
from tests.table_process import Person
from tests.test_table_page import browser, server, visit  # noqa: F401 - fixtures

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]


def shown(page: Page) -> int:
    """The number of the frame that is shown."""
    return int(page.locator(".moves li[aria-current], .moves li.current").first.get_attribute("data-n"))


def hands(page: Page):
    """The open cards of all players."""
    return page.locator(".felt .player .player-cards .card")


def pause(page: Page) -> None:
    page.click("#to-start")


def test_agents_are_watched_back_and_forth(server, visit):  # noqa: F811
    page = visit(Person(server, "Ada"), "#/study")
    page.select_option("#watch-target", "250")
    page.click("#watch-create")
    expect(page.locator(".moves li").nth(12)).to_be_attached(timeout=30_000)
    pause(page)
    assert shown(page) == 0
    expect(hands(page)).to_have_count(26)  # of both: there is no person at the table
    for _ in range(3):
        page.click("#step-forward")
    assert shown(page) == 3
    page.click("#step-back")
    assert shown(page) == 2
    page.keyboard.press("ArrowRight")
    assert shown(page) == 3
    page.locator(".moves li[data-n='7']").click()
    assert shown(page) == 7
    page.click("#to-end")
    assert shown(page) >= 12
    page.click("#to-start")
    page.select_option("#speed", index=page.locator("#speed option").count() - 1)
    page.click("#play-pause")
    for _ in range(200):
        if shown(page) >= 10:
            break
        page.wait_for_timeout(100)
    assert shown(page) >= 10


def test_a_position_is_copied_and_set_up_again(server, visit):  # noqa: F811
    page = visit(Person(server, "Ada"), "#/study/position", permissions=["clipboard-read", "clipboard-write"])
    position = {"phase": "play", "turn": 4, "hands": ["6d 7d 8d Kc", "2c 9h"], "rules": {"opening_points": 0}}
    page.locator("#position-json").fill(json.dumps(position))
    page.locator("#position-json").blur()
    expect(hands(page)).to_have_count(6)
    expect(page.locator("#position-error")).to_be_hidden()
    page.locator("#position-json").fill(json.dumps({**position, "hands": ["6d 6d 6d", "2c"]}))
    page.locator("#position-json").blur()
    expect(page.locator("#position-error")).to_contain_text("6d")
    page.locator("#position-json").fill(json.dumps(position))
    page.locator("#position-json").blur()
    expect(page.locator("#position-error")).to_be_hidden()
    page.locator("button", has_text="lay 6d 7d 8d").click()  # played on by hand
    expect(page.locator(".felt .melds .meld")).to_have_count(1)
    page.click("#copy-position")
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    game = Game.from_json(copied)
    assert game.state["hand_size"].tolist()[:2] == [1, 2] and game.state["meld_count"] == 1


def test_a_record_is_opened_and_thought_about(server, visit, tmp_path):  # noqa: F811
    game = Game(seed=3)
    while not game.phase.name.endswith("OVER"):
        legal = game.legal_actions()
        game.step(int(legal[0] if legal[0] < 20 else legal[-1]))
    path = tmp_path / "game.json"
    record.save(record.of(game, ["first", "second"]), path)
    page = visit(Person(server, "Ada"), "#/study/record")
    page.set_input_files("#open-record input[type=file]", path)
    expect(page.locator(".moves li").nth(5)).to_be_attached()
    page.locator(".moves li[data-n='1']").click()
    page.select_option("#think-agent", "planner")
    expect(page.locator(".probability").first).to_be_visible(timeout=90_000)
    assert page.locator(".belief-cell").count() >= 52
    expect(page.locator(".thinking")).to_contain_text("100")  # percent: a bot plays one action
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"format": "jolly record"}')
    page.set_input_files("#open-record input[type=file]", wrong)
    expect(page.locator("[role=alert]:visible, .toast:visible").first).to_be_visible()
    position = tmp_path / "position.json"
    position.write_text(json.dumps(Game(seed=1).to_json()))
    page.set_input_files("#open-record input[type=file]", position)
    expect(page.locator("#position-form")).to_be_visible()


def test_a_hint_for_a_person_on_request(server, visit):  # noqa: F811
    ada = Person(server, "Ada")
    table = ada.table("person", "greedy")
    page = visit(ada, f"#/table/{table}")
    page.click("#hint")
    expect(page.locator(".hint-box")).to_contain_text("champion", timeout=90_000)
    expect(page.locator("#stock.hinted")).to_be_visible()
