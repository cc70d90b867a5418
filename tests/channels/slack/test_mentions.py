"""Which people become mentions, and which stay text."""

from __future__ import annotations

import pytest

from bot.card import build_card
from bot.channels.slack.render import card_message
from hitl_core.model import DEFAULT_PLACE
from slack_sandbox.client import read_text
from tests.support.builders import call, review_of


@pytest.mark.parametrize("requester", ["S0OPS", "SALES", "!channel"])
def test_what_the_agent_calls_its_requester_mentions_nobody(requester: str) -> None:
    """T14: given a requester that is no person's id; then it is text on the card."""
    review, _ = review_of([call("ask", n=1)], requester=requester)

    drawn = card_message.message(build_card(review, DEFAULT_PLACE), str)

    text = read_text(drawn["blocks"]) + drawn["text"]
    assert requester.strip("!") in text
    assert not any(alive in text for alive in ("<!", "<@"))
