"""The bot accepts every button that a card can have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bot.card import build_card
from bot.channels.slack.render import card_message, has_id
from bot.inbox import Press
from tests.channels.scenes import POSTED, name_of
from tests.channels.test_golden_cards import SCENES


@pytest.mark.parametrize("name", SCENES)
def test_cards_review_decided_the_bot_accepts_each_button_of_its_cards(name: str) -> None:
    """Given the card of any scene; then no button and no entry of a menu is refused as "none of ours": "See
    what was decided" was, since it had moved into the menu."""
    make, place = SCENES[name]
    blocks = card_message.message(build_card(make(), place, POSTED), name_of)["blocks"]
    for action_id, value in _values(blocks):
        assert has_id(Press.parse(value), action_id), (action_id, value)


def _values(blocks: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for block in blocks:
        for element in block["elements"] if block["type"] == "actions" else ():
            for one in element.get("options", [element]):
                yield element["action_id"], one["value"]
