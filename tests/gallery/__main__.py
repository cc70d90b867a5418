"""`python -m tests.gallery [NAME ...]`: draws all scenes, or those named, into build/gallery/slack. With
all of them, docs/gallery.md and its pictures too.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.gallery import index, report
from tests.gallery.pictures import draw
from tests.gallery.scenes import SCENES

FOLDER = Path(__file__).parents[2] / "build" / "gallery" / "slack"


def main() -> None:
    names = sys.argv[1:] or [scene.name for scene in SCENES]
    wanted = [scene for scene in SCENES if scene.name in names]
    if unknown := {*names} - {scene.name for scene in wanted}:
        sys.exit(f"There is no scene {', '.join(sorted(unknown))}.")
    asyncio.run(draw(wanted, FOLDER))
    shown = FOLDER / "index.html"
    shown.write_text(index.page(SCENES), encoding="utf-8")
    print(f"{len(wanted)} scenes drawn: {shown}")
    if len(wanted) == len(SCENES):
        report.write_page(FOLDER)
        print(f"Written: {report.PAGE}")


if __name__ == "__main__":
    main()
