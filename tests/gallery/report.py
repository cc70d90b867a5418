"""docs/gallery.md: the scores of all scenes, and the pictures of some on a phone, light and dark."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.gallery.scores import SCORES
from tests.gallery.showing import Scene

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "gallery"
#: The scenes with pictures in the page.
PICTURED: tuple[str, ...] = ()
#: The phone's pictures, by the end of the file's name.
PHONE_LOOKS = (".phone", ".phone-dark")

_INTRO = """# Gallery

What reviewers see. `make gallery` draws it from the JSON that is sent to Slack, in the page of the local
Slack, 390 pixels wide. Slack's own apps draw the same blocks a little differently.

Each picture was looked at and got 1 to 5 points: 5 if who asks, what will run, why, and by when are clear in
ten seconds, and nothing misleads; 4 with one small flaw, which is named; 3 or less if a person could decide
wrongly.
"""


def render_page(scenes: Iterable[Scene]) -> str:
    scenes = list(scenes)
    points = [SCORES[scene.name].points for scene in scenes]
    mean = sum(points) / len(points)
    rows = "\n".join(_row(scene) for scene in scenes)
    pictures = "\n\n".join(_pictures(scene) for scene in scenes if scene.name in PICTURED)
    return (
        f"{_INTRO}\n{len(scenes)} scenes, mean {mean:.1f}, lowest {min(points)}.\n\n"
        f"| scene | what there is to see | points | why |\n|---|---|---|---|\n{rows}\n\n"
        f"## Pictures\n\n{pictures}\n"
    )


def picture_names() -> list[str]:
    """The files of the page's pictures."""
    return [f"{name}{look}.png" for name in PICTURED for look in PHONE_LOOKS]


def _row(scene: Scene) -> str:
    score = SCORES[scene.name]
    name = f"[{scene.name}](#{scene.name})" if scene.name in PICTURED else scene.name
    return f"| {name} | {scene.text.rstrip('.')} | {score.points} | {score.word} |"


def _pictures(scene: Scene) -> str:
    images = " ".join(
        f'<img src="gallery/{scene.name}{look}.png" width="390"'
        f' alt="{scene.text.rstrip(".")}{", dark" if look.endswith("dark") else ""}">'
        for look in PHONE_LOOKS
    )
    return f"### {scene.name}\n\n{scene.text.rstrip('.')}.\n\n{images}"
