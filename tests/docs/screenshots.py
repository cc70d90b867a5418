"""Copies pictures from the gallery into the docs: `python -m tests.docs.screenshots`."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path

from tests.docs.pages import ROOT
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
    names = {picture.partition(".")[0] for picture in PICTURES.values()}
    with tempfile.TemporaryDirectory() as folder:
        await draw([scene for scene in SCENES if scene.name in names], Path(folder))
        for name, picture in PICTURES.items():
            shutil.copyfile(Path(folder) / f"{picture}.png", IMAGES / f"{name}.png")


if __name__ == "__main__":
    asyncio.run(main())
