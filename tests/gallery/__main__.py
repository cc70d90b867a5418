"""`python -m tests.gallery [NAME ...]`: draws all scenes, or those named, into build/gallery/slack."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory

from hitl_core.embedded_redis import EmbeddedRedis
from tests.gallery import index
from tests.gallery.pictures import camera, gallery
from tests.gallery.scenes import SCENES
from tests.gallery.showing import slack

FOLDER = Path(__file__).parents[2] / "build" / "gallery" / "slack"


async def draw(names: Collection[str], folder: Path, chromium: Path) -> None:
    wanted = [scene for scene in SCENES if not names or scene.name in names]
    with TemporaryDirectory() as data, EmbeddedRedis(Path(data) / "redis") as redis:
        async with slack(redis.url) as to, camera(chromium) as page:
            await gallery(wanted, to, page, folder)
    (folder / "index.html").write_text(index.page(SCENES), encoding="utf-8")
    print(f"{len(wanted)} scenes, {folder / 'index.html'}")


def main() -> None:
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(shutil.which, names)), None)
    if chromium is None:
        sys.exit("There is no Chromium on the PATH (Debian, Ubuntu: apt install chromium).")
    if unknown := {*sys.argv[1:]} - {scene.name for scene in SCENES}:
        sys.exit(f"There is no scene {', '.join(sorted(unknown))}.")
    asyncio.run(draw(sys.argv[1:], FOLDER, Path(chromium)))


if __name__ == "__main__":
    main()
