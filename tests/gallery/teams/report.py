"""The part of docs/gallery.md about Teams: some of the same scenes, as Teams shows them."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.gallery.scores import Score
from tests.gallery.teams.scenes import SCENES

#: The pictures, below docs.
FOLDER = "images/gallery-teams"
#: The ends of the names of the pictures: a laptop and a phone.
LOOKS = ("", ".phone", ".phone-dark")
#: The scenes that are on the page, as one person judged them who looked at their pictures.
SCORES: dict[str, Score] = {
    "refund": Score(5, "amount, order and statement at a glance"),
    "pending-three": Score(5, "three calls, each with its buttons"),
    "second-attempt": Score(4, "what changed is dense, below the whole new text"),
    "attack-bcc": Score(5, "what is not shown is named, and Approve reads it first"),
    "odd-characters": Score(5, "one sentence for each odd value, in red"),
    "quorum-edited": Score(5, "old and new amount, who approved, who may not"),
    "decided": Score(5, "what was decided about each call, by whom, and what it reported"),
    "in-doubt": Score(5, "the question is the title, the call is below it"),
    "edit-errors": Score(5, "what is wrong is below its input, and what was entered stays"),
    "review": Score(5, "one tool at a time, and how many wait"),
}

_INTRO = f"""## In Teams

The same reviews, drawn by Microsoft's renderer of Adaptive Cards in the page of the local Teams. Teams itself
has other distances and fonts. All scenes are in `build/gallery/teams`; these {len(SCORES)} have scores."""


def render() -> str:
    texts = {scene.name: scene.text for scene in SCENES}
    rows = "\n".join(
        f"| {name} | {texts[name]} | {score.points} | {score.word} |"
        for name, score in SCORES.items()
    )
    shown = "\n\n".join(_pictures(name, texts[name]) for name in SCORES)
    return f"{_INTRO}\n\n| scene | shows | points | why |\n|---|---|---|---|\n{rows}\n\n{shown}\n"


def picture_names() -> list[str]:
    return [f"{name}{look}.png" for name in SCORES for look in LOOKS]


def copy_pictures(drawn: Path, docs: Path) -> None:
    """From the folder `drawn`."""
    folder = docs / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in picture_names():
        shutil.copyfile(drawn / name, folder / name)


def _pictures(name: str, text: str) -> str:
    laptop, light, dark = (f"{FOLDER}/{name}{look}.png" for look in LOOKS)
    return (
        f"### {name} in Teams\n\n{text}.\n\n![{text}, on a laptop]({laptop})\n\n| light | dark |\n|---|---|\n"
        f"| ![{text}, on a phone]({light}) | ![{text}, on a phone, dark]({dark}) |"
    )
