"""The text of Teams' cards, compared with stored files. `HITL_GOLDEN=write pytest …` writes the files again:
read the diff.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.card import build_card
from bot.channels.teams.ids import mark_of, message_mark
from bot.channels.teams.render import card_message
from tests.channels.scenes import POSTED, link_to, name_of
from tests.channels.teams.reading import KEY, check, to_text
from tests.channels.test_golden_cards import DIGESTS, SCENES, compare

GOLDEN = Path(__file__).parent.parent / "golden" / "teams"


@pytest.mark.parametrize("name", SCENES)
def test_promise_8_a_card_reads_as_it_should(name: str) -> None:
    """Given a review in some state, then its card is Teams' to take, can be found again, and reads as it did
    before.
    """
    make, place = SCENES[name]
    card = build_card(make(), place, POSTED)
    drawn = check(card_message(card, name_of, KEY, link_to))
    assert mark_of(drawn) == message_mark(card.review_id, place)
    shown = to_text(drawn)
    compare(GOLDEN / f"{name}.txt", shown)


@pytest.mark.parametrize("name", DIGESTS)
def test_a_digest_reads_as_it_should(name: str) -> None:
    card = DIGESTS[name]()
    drawn = check(card_message(card, name_of, KEY, link_to))
    assert mark_of(drawn) == message_mark(card.review_id, card.place)
    compare(GOLDEN / f"{name}.txt", to_text(drawn))
