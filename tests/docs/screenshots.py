"""The pictures of the pages, from the gallery, and docs/gallery.md: `python -m tests.docs.screenshots`."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path

from tests.docs.pages import ROOT
from tests.gallery import report
from tests.gallery.pictures import draw
from tests.gallery.scenes import SCENES

IMAGES = ROOT / "docs" / "images"
#: Each picture of the pages, and which one of the gallery's it is.
PICTURES = {
    "pending-phone": "pending-three.phone",
    "odd": "odd-characters",
    "quorum": "quorum-edited",
    "edit": "edit-errors",
    "decided": "decided",
    "in-doubt": "in-doubt",
    "home": "home",
}


async def main() -> None:
    names = {picture.partition(".")[0] for picture in PICTURES.values()} | {*report.PICTURED}
    with tempfile.TemporaryDirectory() as folder:
        await draw([scene for scene in SCENES if scene.name in names], Path(folder))
        for name, picture in PICTURES.items():
            shutil.copyfile(Path(folder) / f"{picture}.png", IMAGES / f"{name}.png")
        report.PICTURES.mkdir(exist_ok=True)
        for name in report.picture_names():
            shutil.copyfile(Path(folder) / name, report.PICTURES / name)
    report.PAGE.write_text(report.render_page(SCENES), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
