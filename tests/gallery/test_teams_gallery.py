"""Teams accepts everything that the gallery shows."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from teams_sandbox.sandbox import Sandbox
from teams_sandbox.server import running_sandbox
from teams_sandbox.validation import check_card, elements_in
from tests.channels.scenes import NOW

pytest.importorskip("playwright", reason="no Playwright (pip install playwright)")

from tests.gallery.pictures import camera
from tests.gallery.teams.pictures import take, write
from tests.gallery.teams.scenes import SCENES
from tests.gallery.teams.showing import Scene


@pytest_asyncio.fixture
async def teams() -> AsyncIterator[Sandbox]:
    async with running_sandbox(now=lambda: NOW + 1) as sandbox:
        yield sandbox


GUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-")


def find(name: str) -> Scene:
    return next(scene for scene in SCENES if scene.name == name)


def test_there_are_many_scenes_each_with_a_name_of_its_own() -> None:
    names = [scene.name for scene in SCENES]
    assert len(names) >= 60
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("scene", SCENES, ids=[scene.name for scene in SCENES])
def test_teams_takes_what_is_sent(scene: Scene) -> None:
    """Given a scene, then the official schema and our table of Teams' limits take each card, and nobody is
    shown as an id."""
    shown = scene.make()
    for card in (shown.card, *shown.replies):
        check_card(card)
        texts = [str(one.get("text") or one.get("title")) for _, one in elements_in(card)]
        assert [text for text in texts if GUID.search(text)] == []


async def test_pictures_are_written(teams: Sandbox, chromium: Path, tmp_path: Path) -> None:
    """Given a scene, then its JSON is as sent, and there is a picture for each width and colours."""
    scene = find("refund")
    shown = scene.make()
    async with camera(chromium) as page:
        taken = await take(page, teams, scene, shown, tmp_path)
        assert await page.get_by_role("button", name="Approve").is_visible()
        assert await page.evaluate("document.documentElement.dataset.theme") == "dark"
    write(scene, shown, tmp_path)

    assert json.loads((tmp_path / "refund.card.json").read_text()) == shown.card
    assert sorted(path.name for path in taken) == sorted(
        f"refund{look}.png" for look in ("", ".dark", ".phone", ".phone-dark")
    )
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in taken)


async def test_a_question_is_open_in_its_picture(
    teams: Sandbox, chromium: Path, tmp_path: Path
) -> None:
    scene = find("run-again-asks")
    async with camera(chromium) as page:
        await take(page, teams, scene, scene.make(), tmp_path)
        assert await page.get_by_text("Run refund_order again?").is_visible()
