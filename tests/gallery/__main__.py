"""`python -m tests.gallery [NAME ...]` draws all scenes, or those named: Slack's into build/gallery/slack and
Teams' into build/gallery/teams. With all of them, docs/gallery.md and its pictures too.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.gallery import index, report
from tests.gallery.pictures import draw
from tests.gallery.scenes import SCENES
from tests.gallery.teams import pictures as teams_pictures
from tests.gallery.teams.scenes import SCENES as TEAMS_SCENES

BUILD = Path(__file__).parents[2] / "build" / "gallery"


def main() -> None:
    names = sys.argv[1:] or [scene.name for scene in SCENES]
    slack = [scene for scene in SCENES if scene.name in names]
    teams = [scene for scene in TEAMS_SCENES if scene.name in names]
    if unknown := {*names} - {scene.name for scene in (*slack, *teams)}:
        sys.exit(f"There is no scene {', '.join(sorted(unknown))}.")
    asyncio.run(draw(slack, BUILD / "slack"))
    asyncio.run(teams_pictures.draw(teams, BUILD / "teams"))
    for name, scenes in (("slack", SCENES), ("teams", TEAMS_SCENES)):
        shown = BUILD / name / "index.html"
        shown.write_text(index.page(scenes), encoding="utf-8")
        print(f"Drawn: {shown}")
    if len(slack) == len(SCENES):
        report.write_page(BUILD / "slack", BUILD / "teams")
        print(f"Written: {report.PAGE}")


if __name__ == "__main__":
    main()
