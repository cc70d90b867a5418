"""The card of a digest says of all its reviews only what is true of each."""

from __future__ import annotations

from typing import Any

from bot.card import build_digest, card_text, plain_text
from bot.channels.slack.render import place_names
from hitl_core.model import Review
from tests.channels.scenes import DEFAULT, name_of, review_of

DIGEST = f"d0-{'1' * 32}"
TWO: dict[str, Any] = {"users": ["U0ALICE", "U0BOB"], "quorum": 2, "exclude_requester": True}
ONE: dict[str, Any] = {"users": ["U0ALICE", "U0BOB"]}


def review_of_tools(requester: str, *tools: str) -> Review:
    rules = {"pay": {"reviewers": TWO}, "mail": {"reviewers": ONE}}
    calls = [(tool, {"n": 1}) for tool in tools]
    return review_of(*calls, policy={"escalate": [], "interrupt_on": rules}, requester=requester)


def footer(*reviews: Review, waiting: int | None = None) -> str:
    count = waiting or len(reviews)
    card = build_digest(DIGEST, DEFAULT, "billing", reviews, count, count)
    return plain_text(card_text(card, place_names(name_of)).deciders)


def test_what_all_have_in_common_is_in_its_footer() -> None:
    text = footer(review_of_tools("U0MARIA", "pay"), review_of_tools("U0MARIA", "pay"))
    assert "may decide. 2 of them must approve." in text
    assert "“U0MARIA” (named by the agent) asked for it and can't approve it." in text


def test_the_requester_of_one_is_not_that_of_all() -> None:
    """Given reviews of two requesters, or more of them than have a line; then nobody is named."""
    first, second = review_of_tools("U0MARIA", "pay"), review_of_tools("U0JONAS", "pay")
    for text in (footer(first, second), footer(first, first, waiting=12)):
        assert ("2 of them must approve." in text, "asked for it" in text) == (True, False)


def test_the_quorum_of_one_is_not_that_of_all() -> None:
    """Given reviews with actions that need one and two people; then no number is said, and none of an
    action, which would be read as that of a review."""
    for text in (
        footer(
            review_of_tools("U0MARIA", "pay", "mail"), review_of_tools("U0JONAS", "mail", "pay")
        ),
        footer(review_of_tools("U0MARIA", "pay"), review_of_tools("U0MARIA", "mail")),
    ):
        assert "may decide." in text
        assert [one for one in ("must approve", "on number", "asked for it") if one in text] == []
