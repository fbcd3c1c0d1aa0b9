"""The table's page in a real browser: each line of "as in the manuals", with mouse, drag and keyboard."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from jolly_env import record
from jolly_env.cards import parse_card
from tests.table_process import Person, serving

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("page")]
ROOT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OPENED = {"opened": [2, 1], "melds": [{"cards": "Kc Kd Kh", "seats": 0}, {"cards": "5h 6h *7h 8h", "seats": 1}]}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("table"), "--pace", "0.05") as running:
        yield running


@pytest.fixture(scope="module")
def browser():
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    assert path, f"no browser (tried {', '.join(BROWSERS)}); `make browser` installs Debian's chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, server):
    """Opens pages, each a browser of its own; what goes wrong in one fails the test."""
    contexts, faults = [], []

    def visit(person: Person | None, path: str = "", **options) -> Page:
        options = {"viewport": {"width": 1280, "height": 800}, "locale": "en-GB", "reduced_motion": "reduce", **options}
        context = browser.new_context(**options)
        contexts.append(context)
        if person is not None:
            context.add_init_script(f"localStorage.setItem('jolly.token', {json.dumps(person.token)})")
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: faults.append(line.text) if "Security Policy" in line.text else None)
        page.goto(f"{server.address}/{path}")
        return page

    yield visit
    for context in contexts:
        context.close()
    assert not faults, faults


@pytest.fixture
def sit(server, visit):
    """Sits somebody down in a position; the others are greedy, or persons."""

    def sit(position: dict, others=("greedy",), options=None, **settings) -> Page:
        person = Person(server, "Ada")
        position = {"phase": "play", "turn": 4, "seat": 0, **position}
        rules = {"players": 1 + len(others), **position.get("rules", {})}
        table = person.table("person", *others, position={**position, "rules": rules}, **settings)
        friends = [Person(server, "Bob") for other in others if other == "person"]
        for friend in friends:
            assert friend.sit(table).status_code == 200
        page = visit(person, f"#/table/{table}", **(options or {}))
        page.person, page.table, page.friends = person, table, friends
        expect(page.locator(".hand .card").first).to_be_visible()
        return page

    return sit


def number(card: str) -> int:
    return parse_card(card)


def hand(page: Page) -> list[int]:
    return [int(card.get_attribute("data-card")) for card in page.locator(".hand .fan .card").all()]


def card(page: Page, name: str):
    return page.locator(f".hand .card[data-card='{number(name)}']").first


def middle(locator) -> tuple[float, float]:
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def grip(locator) -> tuple[float, float]:
    """Where a card of a fan is not covered by the next."""
    box = locator.bounding_box()
    return box["x"] + 12, box["y"] + box["height"] / 2


def drag(page: Page, what, to: tuple[float, float], drop: bool = True) -> None:
    page.mouse.move(*grip(what))
    page.mouse.down()
    page.mouse.move(*to, steps=6)
    if drop:
        page.mouse.up()


def test_a_new_game_is_opened_and_played_to_its_end(server, visit):
    """New game: seats, strength, target; then whole rounds with the mouse, Continue, the result, the record."""
    page = visit(None)
    page.locator("dialog input").fill("Ada")
    page.locator("dialog button.main, dialog button[type=submit], dialog button").first.click()
    for name in ("random", "greedy", "planner", "champion"):
        expect(page.locator("#seat-1 option", has_text=name)).to_have_count(1)
    page.select_option("#seat-1", "greedy")
    page.select_option("#target", "100")
    page.click("#create")
    expect(page.locator("body[data-view='table']")).to_be_attached()
    expect(page.locator(".me .turn-mark")).to_be_visible()
    assert "100" in page.locator(".side, aside").first.inner_text()
    rounds = 0
    for step in range(1500):
        state = page.evaluate(
            """() => ({
                over: !!document.querySelector('#result[open]'),
                go: !!document.querySelector('#continue:not(:disabled)'),
                end: !!document.querySelector('#result[open] #record'),
                draw: !!document.querySelector('#stock.can'),
                lay: !!document.querySelector('#lay-down:not(:disabled)'),
                play: !!document.querySelector('.hand .card.playable'),
            })"""
        )
        if state["end"]:
            break
        if state["go"]:
            rounds += 1
            figures = page.locator("#result figure figcaption")
            assert figures.count() > 0 and all(text.isdigit() for text in figures.all_inner_texts())
            page.click("#continue")
        elif state["draw"]:
            page.mouse.click(*middle(page.locator("#stock")))
        elif state["lay"]:
            page.mouse.click(*middle(page.locator("#lay-down")))
        elif state["play"]:
            if step % 7 == 0:
                page.click("#sort-suit")
            if step % 5 == 0:
                page.click("#arrange")
            target = page.locator(".hand .card.playable:not([data-card='52'])").first
            if not page.locator("#lay-down:not(:disabled)").count():
                page.mouse.click(*grip(target))
        page.wait_for_timeout(60)
    expect(page.locator("#result")).to_contain_text(re.compile("won|win|lost|wins", re.I))
    table = page.url.rpartition("/")[2]
    document = page.request.get(f"{server.address}/api/tables/{table}/record").json()
    assert record.check(document).over and document["agents"] == ["Ada", "greedy"]
    with page.expect_download() as download:
        page.click("#record")
    assert json.loads(Path(download.value.path()).read_text()) == document


def test_one_address_begins_a_game_against_an_agent(server, visit):
    """The address that ``python -m table --against NAME`` opens."""
    page = visit(None, "#/play/planner")
    page.locator("dialog input").fill("Ada")
    page.locator("dialog button").first.click()
    expect(page.locator(".hand .fan .card")).to_have_count(13)
    assert "planner" in page.locator(".side").inner_text()


def test_a_mark_tells_whose_turn_it_is(sit, server, visit):
    """An exclamation mark for the own turn, an arrow when it is another's; time left, target, points."""
    page = sit({"hands": ["6d 9d 8c Kc", "2c 3d 9h"]}, others=("person",), seconds=60, target=250)
    second = visit(page.friends[0], f"#/table/{page.table}")
    own = page.locator(".me .turn-mark, .hand-area .turn-mark").first
    expect(own).to_have_text("!")
    expect(second.locator(".player[data-seat='0'] .turn-mark").first).not_to_have_text("!")
    expect(second.locator(".player[data-seat='0'] .turn-mark").first).to_be_visible()
    before = page.locator("#time-left").inner_text()
    page.wait_for_timeout(2200)
    assert page.locator("#time-left").inner_text() != before
    page.mouse.click(*grip(card(page, "Kc")))
    expect(second.locator(".me .turn-mark, .hand-area .turn-mark").first).to_have_text("!")
    expect(page.locator(".player[data-seat='1'] .turn-mark").first).to_be_visible()


def test_the_own_hand_has_name_and_points_beneath(sit):
    page = sit({"hands": ["Ac 7d * Kc", "2c 3d"]})
    label = page.locator(".hand-label").inner_text()
    assert "Ada" in label and re.search(r"\D92\b", label)  # 25 + 7 + 50 + 10


def test_stock_and_row_lie_at_the_upper_left_side_by_side(sit):
    page = sit({"hands": ["Ac 7d 8c Kc", "2c 3d"], "row": [["Th", 1], ["2d", 0], ["9s", 1]]})
    stock, row = page.locator("#stock").bounding_box(), page.locator("#row .card").all()
    boxes = [one.bounding_box() for one in row]
    assert stock["x"] < boxes[0]["x"] < boxes[1]["x"] < boxes[2]["x"]
    assert stock["x"] < 400 and stock["y"] < 300 and abs(boxes[0]["y"] - boxes[2]["y"]) < 8
    assert [int(one.get_attribute("data-card")) for one in row] == [number("Th"), number("2d"), number("9s")]


def test_a_card_of_the_row_is_taken_with_all_after_it(sit):
    """Hovering shows which, and how many would be in hand."""
    row = [["Th", 1], ["2d", 0], ["9s", 1], ["4c", 0]]
    page = sit({**OPENED, "phase": "draw", "hands": ["Ac 7d 8c Qc", "2c 3d"], "row": row})
    page.locator("#row .card[data-index='1']").hover(position={"x": 8, "y": 30})
    expect(page.locator("#row .card.chosen")).to_have_count(3)
    expect(page.locator(".take-note")).to_contain_text("7")  # four in hand and three taken
    page.locator("#row .card[data-index='1']").click(position={"x": 8, "y": 30})
    expect(page.locator("#row .card")).to_have_count(1)
    assert sorted(hand(page)) == sorted(map(number, ["Ac", "7d", "8c", "Qc", "2d", "9s", "4c"]))


def test_more_than_the_hand_may_hold_is_not_taken(sit):
    row = [["Th", 1], ["2d", 0], ["9s", 1], ["4c", 0]]
    rules = {"hand_size": 4, "hand_limit": 6}
    page = sit({**OPENED, "rules": rules, "phase": "draw", "hands": ["Ac 7d 8c Qc", "2c 3d"], "row": row})
    page.locator("#row .card[data-index='0']").hover(position={"x": 8, "y": 30})
    expect(page.locator("#row .card.too-many")).to_have_count(4)
    page.locator("#row .card[data-index='0']").click(position={"x": 8, "y": 30}, force=True)
    expect(page.locator(".toast").first).to_be_visible()
    assert len(hand(page)) == 4


def test_a_click_discards_and_so_does_a_drag(sit):
    page = sit({"hands": ["6d 9d 8c Kc", "2c 3d 9h"]}, others=("person",))
    page.mouse.click(*grip(card(page, "9d")))
    expect(page.locator(f"#row .card[data-card='{number('9d')}']")).to_be_visible()
    page = sit({"hands": ["6d 9d 8c Kc", "2c 3d 9h"]}, others=("person",))
    drag(page, card(page, "8c"), middle(page.locator("#row")))
    expect(page.locator(f"#row .card[data-card='{number('8c')}']")).to_be_visible()


def test_a_joker_is_discarded_only_by_dragging(sit):
    page = sit({"hands": ["6d 9d * Kc", "2c 3d 9h"]}, others=("person",))
    page.mouse.click(*grip(card(page, "*")))
    expect(page.locator(".toast").first).to_be_visible()
    assert page.locator("#row .card").count() == 0
    drag(page, card(page, "*"), middle(page.locator("#row")))
    expect(page.locator("#row .card[data-card='52']")).to_be_visible()


def test_an_opening_is_staged_taken_back_and_laid_at_forty(sit):
    """A blue line under what forms a meld; the button is grey until 40; what is staged can be taken back."""
    page = sit({"hands": ["2d 3d 4d 9s Tc Jc Qc 5h Ks", "2c 3d 9h"]}, others=("person",))
    lines = page.locator(".group-line")
    expect(lines).to_have_count(2)
    expect(page.locator("#lay-down")).to_be_disabled()  # 9 and 30
    lines.first.click(force=True)
    expect(page.locator("#staged .meld")).to_have_count(1)
    expect(page.locator("#opening-sum")).to_contain_text("40")
    assert re.search(r"\b(9|30)\b", page.locator("#opening-sum").inner_text())
    page.locator("#staged .meld").click()
    expect(page.locator("#staged .meld")).to_have_count(0)
    assert len(hand(page)) == 9
    page = sit({"hands": ["2d 3d 4d 5d 9s Tc Jc Qc 5h Ks", "2c 3d 9h"]}, others=("person",))
    expect(page.locator("#lay-down")).to_be_enabled()  # 14 and 30
    page.click("#lay-down")
    expect(page.locator(".melds .meld")).to_have_count(2)
    assert sorted(hand(page)) == sorted(map(number, ["9s", "5h", "Ks"]))


def test_the_engine_sees_only_a_complete_opening(sit):
    """Until the button is pressed, others see nothing of what is staged."""
    page = sit({"hands": ["2d 3d 4d 5d 9s Tc Jc Qc 5h Ks", "2c 3d 9h"]}, others=("person",))
    page.locator(".group-line").first.click(force=True)
    expect(page.locator("#staged .meld")).to_have_count(1)
    wire = Person(page.person.server, "Looking").at(page.table)
    assert wire.view()["melds"] == []
    page.reload()  # what was only staged is in the hand again
    expect(page.locator(".hand .fan .card")).to_have_count(10)


def test_green_arrows_where_a_card_fits_and_at_a_joker_that_it_frees(sit):
    page = sit({**OPENED, "hands": ["Ks 4h 7h 9c 2s", "2c 3d"]}, others=("person",))
    expect(page.locator(".fit-arrow")).to_have_count(0)
    drag(page, card(page, "Ks"), middle(page.locator(".melds .meld").first), drop=False)
    expect(page.locator(".fit-arrow").first).to_be_visible()
    page.mouse.up()
    expect(page.locator(".melds .meld[data-meld='0'] .card")).to_have_count(4)
    drag(page, card(page, "4h"), middle(page.locator(".melds .meld[data-meld='1']")), drop=False)
    arrow = page.locator(".fit-arrow").first
    page.mouse.move(*middle(arrow), steps=3)
    page.mouse.up()
    expect(page.locator(".melds .meld[data-meld='1'] .card")).to_have_count(5)
    drag(page, card(page, "7h"), middle(page.locator(".melds .meld[data-meld='1']")), drop=False)
    swap = page.locator(".fit-arrow").first
    page.mouse.move(*middle(swap), steps=3)
    page.mouse.up()
    expect(card(page, "*")).to_be_visible()  # the joker is in the hand
    assert number("7h") not in hand(page)


def test_the_hand_is_sorted_by_dragging_also_when_others_play(sit):
    page = sit({"seat": 1, "turn": 5, "hands": ["6d 9d 8c Kc 2s", "2c 3d 9h 4h"]}, others=("person",))
    assert hand(page) == [7, 12, 18, 21, 40]
    box = page.locator(".hand .card").last.bounding_box()
    drag(page, card(page, "8c"), (box["x"] + box["width"] - 4, box["y"] + box["height"] / 2))
    assert hand(page) == [12, 18, 21, 40, 7]
    page.reload()
    expect(page.locator(".hand .fan .card")).to_have_count(5)
    assert hand(page) == [12, 18, 21, 40, 7]
    page.click("#sort-rank")
    assert [one % 13 for one in hand(page)] == sorted([one % 13 for one in hand(page)])
    page.click("#sort-suit")
    assert [one // 13 for one in hand(page)] == sorted([one // 13 for one in hand(page)])


def test_after_a_round_everyones_cards_and_the_sums(sit):
    page = sit({**OPENED, "hands": ["Ks 2s", "2c Ad *"], "rules": {"target": 1000}}, others=("greedy",))
    drag(page, card(page, "Ks"), middle(page.locator(".melds .meld").first))
    expect(page.locator(".melds .meld[data-meld='0'] .card")).to_have_count(4)
    page.mouse.click(*grip(card(page, "2s")))
    result = page.locator("#result")
    expect(result).to_be_visible()
    other = page.locator("#result section[data-seat='1']")
    assert other.locator("figcaption").all_inner_texts() == ["2", "25", "50"]
    expect(other).to_contain_text("77")
    expect(page.locator("#result section[data-seat='0']")).to_contain_text("30")  # the bonus
    page.click("#continue")
    expect(result).to_be_hidden()
    expect(page.locator(".hand .fan .card")).to_have_count(13)


def test_two_browsers_share_a_table_with_chat(server, visit):
    """An open table is listed and joined; an invitation link; player info; chat; leaving and coming back."""
    ada, bob = Person(server, "Ada"), Person(server, "Bob <b>bold</b>")
    first = visit(ada)
    first.select_option("#seat-1", "person")
    first.click("#create")
    expect(first.locator("body[data-view='table']")).to_be_attached()
    second = visit(bob)
    second.locator(".join").first.click()
    expect(second.locator(".hand .fan .card")).to_have_count(13)
    expect(first.locator(".hand .fan .card")).to_have_count(13)
    second.locator(".chat-input").fill("<img src=x onerror=alert(1)> hello")
    second.locator(".chat-input").press("Enter")
    line = first.locator(".chat-line", has_text="hello")
    expect(line).to_contain_text("<img src=x onerror=alert(1)> hello")
    expect(line).to_contain_text("Bob <b>bold</b>")
    assert first.locator(".chat-line img, .chat-line b b").count() == 0
    first.locator(".player[data-seat='1'] button, button.player[data-seat='1']").first.click()
    expect(first.locator("dialog[open]")).to_contain_text("1000")
    first.keyboard.press("Escape")
    second.reload()  # the table waits, and goes on
    expect(second.locator(".hand .fan .card")).to_have_count(13)
    expect(second.locator(".chat-line", has_text="hello")).to_be_visible()


def test_by_invitation(server, visit):
    ada, bob = Person(server, "Ada"), Person(server, "Bob")
    made = ada.call("POST", "/api/tables", {"seats": ["person", "person"], "invited": True}).json()
    visit(ada, f"#/table/{made['table']}")
    refused = visit(bob, f"#/table/{made['table']}")
    expect(refused.locator(".ended, .toast").first).to_be_visible()
    welcome = visit(bob, f"#/table/{made['table']}?invite={made['invite']}")
    welcome.locator("#take-seat").click()
    expect(welcome.locator(".hand .fan .card")).to_have_count(13)


def test_a_turn_by_keyboard_alone(sit):
    page = sit({"phase": "draw", "hands": ["6d 9d 8c Kc", "2c 3d 9h"]}, others=("person",))
    page.keyboard.press("d")
    expect(page.locator(".hand .fan .card")).to_have_count(5)
    page.locator(".hand .card[tabindex='0']").focus()
    before = hand(page)
    page.keyboard.press("Shift+ArrowRight")
    assert hand(page)[1] == before[0]
    page.keyboard.press("Home")
    if hand(page)[0] == 52:
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("#row .card")).to_have_count(1)
    expect(page.locator(".hand .fan .card")).to_have_count(4)


def test_everything_to_press_has_a_name(sit):
    page = sit({**OPENED, "hands": ["Ks 4h 7h 9c *", "2c 3d"], "row": "Th 2d"})
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, select, input, a')].filter((node) => node.offsetParent &&
            !(node.getAttribute('aria-label') || node.innerText.trim() || node.labels?.length || node.title)).length"""
    )
    assert nameless == 0
    assert card(page, "Ks").get_attribute("aria-label") == "king of spades"
    assert page.locator("[aria-live]").count() >= 1


@pytest.mark.parametrize("width", [360, 390])
def test_a_phone(sit, width):
    phone = {"viewport": {"width": width, "height": 800}, "has_touch": True, "is_mobile": True}
    page = sit({**OPENED, "hands": ["Ks 4h 7h 9c 2s 3s 4s 5d 6d 7d 8d 9d Tc", "2c 3d"], "row": "Th 2d"}, options=phone)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for locator in (page.locator("#lay-down"), page.locator("#stock"), page.locator(".hand .card").first):
        box = locator.bounding_box()
        assert box["x"] >= -4 and box["x"] + box["width"] <= width + 4 and box["height"] >= 38


def test_dark_and_light(sit):
    position = {"hands": ["6d 9d 8c Kc", "2c 3d"]}
    shades = []
    for scheme in ("light", "dark"):
        page = sit(position, options={"color_scheme": scheme})
        shades.append(page.evaluate("getComputedStyle(document.querySelector('.side, aside')).backgroundColor"))
    assert shades[0] != shades[1]


def test_no_request_leaves_the_server(server, visit):
    asked = []
    page = visit(Person(server, "Ada"))
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    page.wait_for_timeout(500)
    assert asked and all(url.startswith((server.address, "data:")) for url in asked)


LANGUAGES = sorted(path.stem for path in (ROOT / "table" / "page" / "lang").glob("*.json"))


def test_all_languages_say_everything():
    folder = ROOT / "table" / "page" / "lang"
    english = json.loads((folder / "en.json").read_text(encoding="utf-8"))
    assert {"en", "de", "pl", "el", "nl", "pt"} <= set(LANGUAGES)
    for language in LANGUAGES:
        texts = json.loads((folder / f"{language}.json").read_text(encoding="utf-8"))
        assert set(texts) == set(english), language
        for key, text in texts.items():
            assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", english[key])), (language, key)
            assert text.strip() or not english[key].strip(), (language, key)


@pytest.mark.parametrize("language", ["de", "pl", "el", "nl", "pt"])
def test_the_page_in_other_languages(server, visit, language):
    page = visit(Person(server, "Ada"), locale=language)
    expect(page.locator("html")).to_have_attribute("lang", re.compile(f"^{language}"))
    texts = json.loads((ROOT / "table" / "page" / "lang" / f"{language}.json").read_text(encoding="utf-8"))
    shown = page.locator("body").inner_text()
    assert sum(text in shown for text in texts.values() if len(text) > 6) > 5
    assert not re.search(r"\b[a-z]+\.[a-z-]+\b(?<!\.json)", shown.replace("…", "")), "a key is shown in place of a text"


def test_what_the_page_takes_for_a_meld_is_one(server, visit):
    """Melds, their points and the actions that lay them, as the page works them out, against the engine."""
    import random

    from jolly_env import Game
    from jolly_env.actions import base_cards
    from jolly_env.cards import format_cards

    rng = random.Random(4)
    pools = [[13 * suit + rank for rank in range(13)] for suit in range(4)]
    pools += [[13 * suit + rank for suit in range(4)] for rank in range(13)]
    tried = []
    for _ in range(1500):
        pool = rng.choice(pools)
        if rng.random() < 0.6 and len(pool) == 13:  # cards near each other
            start = rng.randrange(13)
            pool = [pool[(start + i) % 13] for i in range(rng.randint(3, 7))]
        cards = rng.sample(pool, min(len(pool), rng.randint(3, 7)))
        cards = [52 if rng.random() < 0.2 else one for one in cards]
        if len(cards) >= 3 and cards.count(52) < len(cards) - 1:
            tried.append(cards)
    page = visit(Person(server, "Ada"))
    found = page.evaluate(
        """async (tried) => { const { meldOf } = await import('/static/melds.js');
            const told = (meld) => meld && [meld.points, meld.actions(0)];
            return tried.map((cards) => told(meldOf(cards))); }""",
        tried,
    )
    assert 200 < sum(bool(one) for one in found) < len(found) - 200
    for cards, meld in zip(tried, found, strict=True):
        spare, other = [one for one in range(52) if one not in cards][:2]
        hands = [format_cards([*cards, spare]), format_cards([other])]
        game = Game.from_json({"phase": "play", "turn": 4, "rules": {"opening_points": 0}, "hands": hands})
        if meld is None:
            if len(cards) == 3:
                lays = [base_cards(action) for action in game.legal_actions().tolist() if 20 <= action < 390]
                assert all(sorted(lay) != sorted(cards) for lay in lays), cards
            continue
        points, actions = meld
        for action in actions:
            assert game.is_legal(action), (cards, actions)
            game.step(action)
        assert game.state["hand_size"][0] == 1 and game.state["laid"][0] == points, cards
