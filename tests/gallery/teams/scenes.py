"""All scenes of the gallery of Teams: Slack's, where they are cards."""

from __future__ import annotations

from tests.gallery.scenes import SCENES as SLACK_SCENES
from tests.gallery.teams.showing import Scene, of_card

SCENES: tuple[Scene, ...] = tuple(
    of_card(scene.name, scene.text, scene.card) for scene in SLACK_SCENES if scene.card
)
