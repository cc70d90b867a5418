"""JSON as sent, and pictures of it in the page of the local Slack."""

from __future__ import annotations

import json
import logging
import shutil
import sys
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.async_api import Page, async_playwright

from slack_sandbox.demo.embedded_redis import EmbeddedRedis
from slack_sandbox.page.single_item import single_item_url
from tests.gallery.showing import Scene, Shown, Slack, make, slack

#: In CSS pixels: a window on a laptop, and a phone.
LAPTOP, PHONE = 1060, 390
HEIGHT = 900
#: By the end of the file's name: how wide, and in which colours.
LOOKS = {
    "": (LAPTOP, "light"),
    ".dark": (LAPTOP, "dark"),
    ".phone": (PHONE, "light"),
    ".phone-dark": (PHONE, "dark"),
}
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@asynccontextmanager
async def camera(chromium: Path) -> AsyncGenerator[Page]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        try:
            yield await browser.new_page(locale="en-US", timezone_id="UTC")
        finally:
            await browser.close()


def write(scene: Scene, shown: Shown, folder: Path) -> None:
    kind = "message" if shown.kind == "private" else shown.kind
    _write(folder / f"{scene.name}.{kind}.json", shown.what)
    for number, reply in enumerate(shown.replies, start=1):
        _write(folder / f"{scene.name}.reply-{number}.message.json", reply)


async def take(page: Page, to: Slack, scene: Scene, shown: Shown, folder: Path) -> list[Path]:
    """The pictures of one scene."""
    url = single_item_url(
        to.sandbox,
        shown.what,
        replies=shown.replies,
        errors=shown.errors,
        state=shown.state,
        private=shown.kind == "private",
    )
    await page.clock.set_fixed_time(datetime.fromtimestamp(shown.now, UTC))
    await page.goto(url)
    await page.locator("#alone > *").first.wait_for()
    if shown.asks:
        await page.locator(f'[data-action-id="{shown.asks}"]').first.click()
        await page.locator("dialog.confirm").wait_for()
    taken: list[Path] = []
    for look, (width, theme) in LOOKS.items():
        await page.set_viewport_size({"width": width, "height": HEIGHT})
        await page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
        path = folder / f"{scene.name}{look}.png"
        await (page if shown.asks else page.locator("#alone")).screenshot(path=path)
        taken.append(path)
    return taken


async def draw(scenes: Iterable[Scene], folder: Path) -> None:
    """JSON and pictures of these scenes. A folder that isn't there is made."""
    folder.mkdir(parents=True, exist_ok=True)
    logging.disable(logging.WARNING)  # each scene has a policy of its own, which is no news here
    with TemporaryDirectory() as data, EmbeddedRedis(Path(data) / "redis") as redis:
        async with slack(redis.url) as to, camera(find_chromium()) as page:
            for scene in scenes:
                shown = await make(scene, to)
                write(scene, shown, folder)
                await take(page, to, scene, shown, folder)


def find_chromium() -> Path:
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        sys.exit("There is no Chromium on the PATH (Debian, Ubuntu: apt install chromium).")
    return Path(found)


def _write(path: Path, what: Any) -> None:
    path.write_text(json.dumps(what, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
