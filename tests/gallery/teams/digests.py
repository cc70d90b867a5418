"""The same digests as in Slack."""

from __future__ import annotations

from bot.channels.teams.render import card_message
from tests.channels.scenes import DEFAULT
from tests.gallery.digests import TEXTS, digest_card
from tests.gallery.teams.acme import KEY, link_to, name_of
from tests.gallery.teams.showing import Scene, Shown


def _scene(name: str) -> Scene:
    def shown() -> Shown:
        return Shown(card_message(digest_card(name, DEFAULT), name_of, KEY, link_to))

    return Scene(name, TEXTS[name], shown)


SCENES = tuple(map(_scene, TEXTS))
