"""Cards of Teams as JSON, and pictures of them in the page of the local Teams."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from playwright.async_api import Page

from teams_sandbox.page import single_item_url
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.server import running_sandbox
from tests.channels.scenes import NOW
from tests.gallery.pictures import HEIGHT, LOOKS, camera, find_chromium
from tests.gallery.teams.showing import Scene, Shown


async def draw(scenes: Iterable[Scene], folder: Path) -> None:
    """JSON and pictures of these scenes. A folder that isn't there is made."""
    folder.mkdir(parents=True, exist_ok=True)
    async with running_sandbox(now=lambda: NOW + 1) as sandbox, camera(find_chromium()) as page:
        for scene in scenes:
            shown = scene.make()
            write(scene, shown, folder)
            await take(page, sandbox, scene, shown, folder)


def write(scene: Scene, shown: Shown, folder: Path) -> None:
    _write(folder / f"{scene.name}.card.json", shown.card)
    for number, reply in enumerate(shown.replies, start=1):
        _write(folder / f"{scene.name}.reply-{number}.card.json", reply)


async def take(
    page: Page, sandbox: Sandbox, scene: Scene, shown: Shown, folder: Path
) -> list[Path]:
    """The pictures of one scene."""
    url = single_item_url(sandbox, shown.card, replies=shown.replies, private=shown.private)
    await page.clock.set_fixed_time(datetime.fromtimestamp(shown.now, UTC))
    taken: list[Path] = []
    for look, (width, theme) in LOOKS.items():
        await page.set_viewport_size({"width": width, "height": HEIGHT})
        await page.goto(url.replace("theme=light", f"theme={theme}"))
        await page.locator("#alone .ac-adaptiveCard").first.wait_for()
        if shown.opens:
            await page.get_by_role("button", name=shown.opens, exact=True).first.click()
        path = folder / f"{scene.name}{look}.png"
        await page.locator("#alone").screenshot(path=path)
        taken.append(path)
    return taken


def _write(path: Path, card: object) -> None:
    path.write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
