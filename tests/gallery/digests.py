"""One message for many reviews."""

from __future__ import annotations

from bot.card import Card, build_digest
from bot.channels.slack.render import card_message
from hitl_core.model import Place
from tests.channels.scenes import DEFAULT
from tests.gallery.calls import MAILING, QUERYING, REFUNDING, UPDATING, WITH_OPS, ask
from tests.gallery.showing import Scene, Shown, Slack

DIGEST_ID = f"d0-{'93b4c7d2' * 4}"
TEXTS = {
    "digest": "Forty-two reviews of one agent in one message",
    "digest-done": "The same when all are decided",
}


def digest_card(name: str, place: Place = DEFAULT) -> Card:
    calls = (REFUNDING, MAILING, QUERYING, UPDATING)
    reviews = [ask(calls[n % 4], **WITH_OPS) for n in range(10)]
    if name == "digest-done":
        return build_digest(DIGEST_ID, place, "support-agent", [], 0, 42)
    return build_digest(DIGEST_ID, place, "support-agent", reviews, 42, 42)


def _scene(name: str) -> Scene:
    def shown(to: Slack) -> Shown:
        sent = card_message.message(digest_card(name), to.channel.name_of, to.channel.link)
        return Shown("message", sent)

    return Scene(name, TEXTS[name], shown)


SCENES = tuple(map(_scene, TEXTS))
