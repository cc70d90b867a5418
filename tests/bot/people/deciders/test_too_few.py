"""If fewer people are left than must approve, the card says so, and nobody gets a right."""

from __future__ import annotations

from typing import Any

import pytest

from bot.health.health import Health
from slack_sandbox.server import Sandbox
from tests.bot.people.deciders.bot import APPROVALS, ASK, OPS, Bot, members_of, step

TWO = {"users": ["U0ALICE", "U0BOB"], "quorum": 2}


@pytest.mark.parametrize(
    ("rule", "requester"),
    [
        ({"reviewers": {"users": ["U0ALICE"], "exclude_requester": True}}, "U0ALICE"),
        ({"reviewers": TWO}, "U0ALICE"),
        ({"reviewers": {"users": ["U0ALICE", "U0GONE"], "quorum": 2}}, None),
        ({"reviewers": {"groups": ["S0OPS"], "quorum": 3}}, None),
        ({"reviewers": {"groups": ["S0FINANCE"], "quorum": 3}}, "U0ALICE"),
        ({"notify": APPROVALS, "reviewers": {"channel_members": True, "quorum": 3}}, "U0ALICE"),
        ({"notify": APPROVALS, "reviewers": {"channel_members": True, "quorum": 9}}, None),
    ],
    ids=[
        "the requester alone",
        "one of two",
        "one has left",
        "a small group",
        "a group with the requester",
        "a channel with the requester",
        "a small channel",
    ],
)
async def test_what_too_few_may_approve_is_shown_and_told(
    bot: Bot, health: Health, rule: dict[str, Any], requester: str | None
) -> None:
    """Given fewer people than must approve; then the card is shown, where it may be rejected, the fallback
    shows it too and opens to nobody, and the review and the problems say why."""
    review_id = await bot.submit(requester, pay={**rule, "fallback": ASK})
    [action] = await bot.deliver(review_id)
    snapshot = await bot.reviews.load(review_id)
    assert action.places[-1] == ASK
    assert ASK not in members_of(action)
    assert set(snapshot.posts) == set(snapshot.review.delivery_problems) == set(action.places)
    for trouble in snapshot.review.delivery_problems.values():
        assert trouble.why == "too few people are left who may approve pay"
    assert {one.kind for one in health.current_problems()} == {"delivery"}


@pytest.mark.parametrize("reviewers", [TWO, {"groups": ["S0FINANCE"], "quorum": 3}])
async def test_as_many_people_as_must_approve_are_enough(
    bot: Bot, health: Health, reviewers: dict[str, Any]
) -> None:
    """Given a requester who is none of them, then the fallback shows nothing, and there is no problem."""
    review_id = await bot.submit("U0SAM", pay={"reviewers": reviewers, "fallback": ASK})
    [action] = await bot.deliver(review_id)
    assert action.places == ("default",)
    assert not (await bot.reviews.load(review_id)).review.delivery_problems
    assert health.current_problems() == ()


async def test_a_channel_with_nobody_but_the_bot_has_nobody_left(
    bot: Bot, sandbox: Sandbox
) -> None:
    sandbox.workspace.channels["C0OPS"].members[:] = ["U0APPROVER"]
    [action] = await bot.deliver(await bot.submit(pay={"notify": OPS, "fallback": ASK}))
    assert members_of(action) == {OPS, ASK}


async def test_people_of_the_steps_to_come_are_enough(bot: Bot) -> None:
    rule = {"reviewers": TWO, "escalate": [step(OPS, users=["U0DANA"])], "fallback": ASK}
    review_id = await bot.submit("U0ALICE", pay=rule)
    [action] = await bot.deliver(review_id)
    assert action.places == ("default",)
    assert not (await bot.reviews.load(review_id)).review.delivery_problems
