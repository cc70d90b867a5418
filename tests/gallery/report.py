"""docs/gallery.md: what each scene shows, its score, and pictures of some scenes on a phone."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.gallery.proofs import ATTACKS, CHANGES, Proof
from tests.gallery.scenes import SCENES
from tests.gallery.scores import SCORES
from tests.gallery.showing import Scene
from tests.gallery.teams import report as teams_report

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "gallery.md"
PICTURES = DOCS / "images" / "gallery"
#: The ends of the names of a phone's pictures: light and dark.
PHONE_LOOKS = (".phone", ".phone-dark")
#: The scenes whose pictures are on the page.
ON_PAGE: tuple[str, ...] = (
    "refund",
    "pending-three",
    "pending-forty",
    "second-attempt",
    "styles",
    "attack-bcc",
    "odd-characters",
    "voice-reason",
    "attack-keys",
    "attack-one-of-eight-asks",
    "answer-values",
    "quorum-edited",
    "decided",
    "in-doubt",
    "edit-errors",
    "review",
)

_INTRO = """# Gallery

What people see, drawn by `make gallery` from the JSON that is sent to Slack, in the page of the local Slack,
390 pixels wide. Slack's own apps draw the same blocks a little differently. `make gallery` also writes this
page and its pictures; [Teams](#in-teams) is at its end. The pictures of all scenes, for a phone and a laptop,
light and dark, are then in `build/gallery/slack`.

## Scores

A score is the judgement of one person of the team, who looked at each picture on a phone's width. It is no
measurement with users, and no test can check it: after a change of a card, look at its picture again and
correct the score in `tests/gallery/scores.py`.

| points | means |
|---|---|
| 5 | clear in ten seconds: who asks, what will run, why (if the agent says it), by when; nothing misleads |
| 4 | the same, with a flaw that costs a moment |
| 3 | somebody in a hurry could miss something that matters |
| 1, 2 | somebody could decide wrongly |
"""


def render_page() -> str:
    points = [SCORES[scene.name].points for scene in SCENES]
    mean = sum(points) / len(points)
    counts = ", ".join(f"{points.count(n)} have {n}" for n in sorted({*points}, reverse=True))
    rows = "\n".join(_row(scene) for scene in SCENES)
    by_name = {scene.name: scene for scene in SCENES}
    pictures = "\n\n".join(_pictures(by_name[name]) for name in ON_PAGE)
    return (
        f"{_INTRO}\n"
        f"{len(points)} scenes, mean {mean:.2f}, lowest {min(points)}: {counts}.\n\n"
        f"| scene | shows | points | why |\n|---|---|---|---|\n{rows}\n\n"
        f"## Ways to fool a reviewer\n\n{_proofs(ATTACKS)}\n\n"
        f"## What a card must do\n\n{_proofs(CHANGES)}\n\n"
        f"## On a phone\n\n{pictures}\n\n{teams_report.render()}"
    )


def picture_names() -> list[str]:
    """The files of the page's pictures."""
    return [f"{name}{look}.png" for name in ON_PAGE for look in PHONE_LOOKS]


def write_page(drawn: Path, drawn_teams: Path) -> None:
    """The page and its pictures, which are in the folders `drawn`."""
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir(parents=True)
    for name in picture_names():
        shutil.copyfile(drawn / name, PICTURES / name)
    teams_report.copy_pictures(drawn_teams, DOCS)
    PAGE.write_text(render_page(), encoding="utf-8")


def _row(scene: Scene) -> str:
    score = SCORES[scene.name]
    return f"| {_link(scene.name)} | {scene.text} | {score.points} | {score.word} |"


def _link(name: str) -> str:
    return f"[{name}](#{name})" if name in ON_PAGE else name


def _proofs(proofs: tuple[Proof, ...]) -> str:
    rows = "\n".join(
        f"| {number} | {proof.what} | {', '.join(map(_link, proof.scenes))} |"
        for number, proof in enumerate(proofs, start=1)
    )
    return f"| | | scenes |\n|---|---|---|\n{rows}"


def _pictures(scene: Scene) -> str:
    light, dark = (f"images/gallery/{scene.name}{look}.png" for look in PHONE_LOOKS)
    return (
        f"### {scene.name}\n\n{scene.text}.\n\n"
        f"| light | dark |\n|---|---|\n| ![{scene.text}]({light}) | ![{scene.text}, dark]({dark}) |"
    )
