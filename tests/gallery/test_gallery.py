"""What the gallery shows is what Slack takes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.channels.reading import check, check_view
from tests.gallery.showing import Scene, Slack, make, slack

pytest.importorskip("playwright", reason="no Playwright (pip install playwright)")

from tests.gallery import index
from tests.gallery.pictures import LOOKS, camera, take, write
from tests.gallery.scenes import SCENES


@pytest_asyncio.fixture
async def to(redis_url: str) -> AsyncIterator[Slack]:
    async with slack(redis_url) as found:
        yield found


def test_there_are_many_scenes_each_with_a_name_of_its_own() -> None:
    names = [scene.name for scene in SCENES]
    assert len(names) >= 24
    assert len(set(names)) == len(names)


def test_the_page_shows_every_picture() -> None:
    shown = index.page(SCENES)
    assert all(f'src="{scene.name}{look}.png"' in shown for scene in SCENES for look in LOOKS)


@pytest.mark.parametrize("scene", SCENES, ids=[scene.name for scene in SCENES])
async def test_slack_takes_what_is_sent(scene: Scene, to: Slack) -> None:
    """Given a scene, then the local Slack, our own table of limits and slack_sdk's models take it."""
    shown = await make(scene, to)
    if shown.kind in ("modal", "home"):
        check_view(shown.what)
    else:
        for message in (shown.what, *shown.replies):
            check(message)


async def test_pictures_are_written(to: Slack, chromium: Path, tmp_path: Path) -> None:
    """Given a scene, then its JSON is as sent, and there is a picture for each width and colours."""
    scene = next(scene for scene in SCENES if scene.name == "edit-errors")
    shown = await make(scene, to)
    async with camera(chromium) as page:
        taken = await take(page, to, scene, shown, tmp_path)
        assert await page.get_by_text("at most 200.").is_visible()
        assert await page.get_by_label("amount").input_value() == "500"
    write(scene, shown, tmp_path)

    assert json.loads((tmp_path / "edit-errors.modal.json").read_text()) == shown.what
    sizes = [_size(path) for path in taken]
    assert [width for width, _ in sizes] == [552, 552, 390, 390]
    assert all(height > 300 for _, height in sizes)


async def test_what_one_person_sees_is_drawn_as_such(
    to: Slack, chromium: Path, tmp_path: Path
) -> None:
    scene = next(scene for scene in SCENES if scene.name == "approvals")
    async with camera(chromium) as page:
        await take(page, to, scene, await make(scene, to), tmp_path)
        assert await page.get_by_text("Only visible to you").is_visible()
        assert await page.get_by_text("3 reviews wait for you").is_visible()


def _size(png: Path) -> tuple[int, int]:
    data = png.read_bytes()
    assert data.startswith(b"\x89PNG")
    return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
