"""Slack accepts everything that the gallery shows."""

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
from tests.gallery.proofs import ATTACKS, CHANGES
from tests.gallery.report import PAGE, PICTURES, picture_names, render_page
from tests.gallery.scenes import SCENES
from tests.gallery.scores import SCORES
from tests.gallery.teams import report as teams_report


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


def test_each_scene_has_a_score_and_the_page_is_up_to_date() -> None:
    """Given the scenes, then docs/gallery.md and its pictures are those that `make gallery` writes. Whether a
    score is right, only a person can say."""
    assert {scene.name for scene in SCENES} == {*SCORES}
    assert PAGE.read_text(encoding="utf-8") == render_page(), "run: make gallery"
    assert sorted(picture_names()) == sorted(path.name for path in PICTURES.iterdir())
    of_teams = sorted(path.name for path in (PAGE.parent / teams_report.FOLDER).iterdir())
    assert of_teams == sorted(teams_report.picture_names())


def test_each_way_to_fool_a_reviewer_and_each_change_has_a_scene() -> None:
    names = {scene.name for scene in SCENES}
    assert len(ATTACKS) == 9
    assert all(proof.scenes and {*proof.scenes} <= names for proof in (*ATTACKS, *CHANGES))


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


async def test_a_question_is_drawn_above_its_card(
    to: Slack, chromium: Path, tmp_path: Path
) -> None:
    scene = next(scene for scene in SCENES if scene.name == "run-again-asks")
    async with camera(chromium) as page:
        await take(page, to, scene, await make(scene, to), tmp_path)
        assert await page.get_by_text("Run refund_order again?").is_visible()


def _size(png: Path) -> tuple[int, int]:
    data = png.read_bytes()
    assert data.startswith(b"\x89PNG")
    return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
