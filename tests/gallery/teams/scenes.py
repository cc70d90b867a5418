"""All scenes of the gallery of Teams. A scene with the name of a Slack scene shows the same."""

from __future__ import annotations

from tests.gallery.scenes import SCENES as SLACK_SCENES
from tests.gallery.teams import digests, forms, homes
from tests.gallery.teams.showing import Scene, of_card

SCENES: tuple[Scene, ...] = (
    *(of_card(scene.name, scene.text, scene.card) for scene in SLACK_SCENES if scene.card),
    *digests.SCENES,
    *forms.SCENES,
    *homes.SCENES,
)
