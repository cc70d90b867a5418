"""Who becomes a mention, and who stays text."""

from __future__ import annotations

import pytest

from bot.card import build_card
from bot.channels.slack.render import card_message
from hitl_core.model import DEFAULT_PLACE
from tests.support.builders import call, policy, review_of
from tests.support.slack import words


@pytest.mark.parametrize("requester", ["S0OPS", "SALES", "!channel"])
def test_t14_what_the_agent_calls_its_requester_mentions_nobody(requester: str) -> None:
    """Given a quorum of two, whose card says that the requester can't approve; then a requester that is no
    person's id is text there."""
    rules = policy(pair={"reviewers": {"channel_members": True, "quorum": 2}})
    review, _ = review_of([call("pair", n=1)], by=rules, requester=requester)

    drawn = card_message.message(build_card(review, DEFAULT_PLACE), str)

    said = words(drawn["blocks"]) + drawn["text"]
    assert "can't approve it" in said
    assert not any(alive in said for alive in ("<!", "<@"))
