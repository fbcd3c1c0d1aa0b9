"""Take the screenshots of docs/table.md, with Debian's chromium.

python docs/pictures/screens.py            docs/pictures/table-*.png
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

FOLDER = Path(__file__).resolve().parent
POSITION = {
    "phase": "play",
    "turn": 24,
    "seat": 0,
    "rules": {"players": 3, "target": 250},
    "hands": ["3c 4c 5c 7h 9h Th 2s 6s Js *", "Ad Kd 8c 7c 2d 3h", "4s 4d Jc Qc 9s 8s 2h"],
    "melds": [
        {"cards": "Kc Kh Ks", "seats": [1, 1, 1]},
        {"cards": "4h 5h *6h", "seats": 2},
        {"cards": "8d 9d Td Jd", "seats": [0, 0, 0, 1]},
        {"cards": "Ac Ad Ah *", "seats": [0, 0, 0, 2]},
    ],
    "opened": [12, 13, 17],
    "row": [["5d", 2], ["Qs", 0], ["6c", 1], ["Th", 2], ["2c", 0]],
}


class Person:
    """Somebody at the server."""

    def __init__(self, address: str, name: str) -> None:
        """Make a person."""
        self.address = address
        self.token = httpx.post(f"{address}/api/players", json={"name": name}).json()["token"]

    def post(self, path: str, body: Any) -> Any:
        """Ask for something."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.post(self.address + path, json=body, headers=headers, timeout=60).raise_for_status().json()


def page_of(browser: Browser, person: Person, path: str, **options: Any) -> Page:
    """Open a page."""
    context = browser.new_context(device_scale_factor=1.5, locale="en-GB", reduced_motion="reduce", **options)
    context.add_init_script(f"localStorage.setItem('jolly.token', {json.dumps(person.token)})")
    page = context.new_page()
    page.goto(f"{person.address}/{path}")
    page.wait_for_timeout(1200)
    return page


def shoot(browser: Browser, address: str) -> None:
    """Take all pictures."""
    ada, bob, eve = (Person(address, name) for name in ("Ada", "Bob", "Eve"))
    table = ada.post("/api/tables", {"seats": ["person"] * 3, "seconds": 120, "position": POSITION})["table"]
    for friend in (bob, eve):
        friend.post(f"/api/tables/{table}/join", {})
    others = [page_of(browser, friend, f"#/table/{table}") for friend in (bob, eve)]
    others[0].locator(".chat-input").fill("Three jokers are out already!")
    others[0].locator(".chat-input").press("Enter")
    desktop = {"viewport": {"width": 1280, "height": 800}}
    phone = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
    for name, options in (("desktop", desktop), ("phone", phone), ("dark", {**desktop, "color_scheme": "dark"})):
        page = page_of(browser, ada, f"#/table/{table}", **options)
        page.screenshot(path=FOLDER / f"table-{name}.png")
        page.context.close()
    lobby = page_of(browser, ada, "", **desktop)
    lobby.screenshot(path=FOLDER / "table-lobby.png")
    study(browser, ada, desktop)


def study(browser: Browser, person: Person, options: dict[str, Any]) -> None:
    """Take the picture of a study with thoughts."""
    table = person.post("/api/tables", {"seats": ["champion", "planner"], "target": None})["table"]
    page = page_of(browser, person, f"#/study/table/{table}", **options)
    page.locator(".moves li").nth(9).wait_for(timeout=60_000)
    page.click("#to-start")
    page.locator(".moves li[data-n='5']").click()
    page.select_option("#think-agent", "champion")
    page.locator(".probability").first.wait_for(timeout=120_000)
    page.wait_for_timeout(1500)
    page.screenshot(path=FOLDER / "table-study.png")


def main() -> None:
    """Serve, shoot, stop."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        sys.exit("error: no chromium; `make browser` installs it")
    with tempfile.TemporaryDirectory() as data:
        command = [sys.executable, "-m", "table", "--port", "0", "--no-browser", "--data", data]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
            assert server.stdout is not None
            address = server.stdout.readline().split()[4].rstrip("/")
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
            try:
                shoot(browser, address)
            finally:
                browser.close()
                server.terminate()


if __name__ == "__main__":
    main()
