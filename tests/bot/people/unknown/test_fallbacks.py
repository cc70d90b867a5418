"""Without a clear answer from Slack, a card is shown at its own place and no fallback opens."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.channels.contract import LookupFailed
from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.health.health import Health
from bot.outbox.delivery import Delivery
from bot.people.directory import Directory
from hitl_core.model import Place
from hitl_core.review.service import Reviews
from slack_sandbox.sandbox import Sandbox
from tests.bot.people.unknown.answers import UNREADABLE, answers, fail, refusal
from tests.support.builders import call, policy, review_of


@pytest.mark.parametrize(
    ("method", "reviewers"),
    [
        ("users.info", {"users": ["U0BOB"]}),
        ("usergroups.users.list", {"groups": ["S0FINANCE"]}),
    ],
)
async def test_no_fallback_where_nobody_knows_who_is_left(
    reviews: Reviews,
    channel: SlackChannel,
    sandbox: Sandbox,
    method: str,
    reviewers: dict[str, Any],
) -> None:
    """Given named reviewers and a fallback; when their look-up gives no documented
    no; then the card is shown where it belongs, the fallback's people get nothing, and it is looked at again.
    """
    for number, answer in enumerate(answers(method)):
        fail(sandbox, method, answer)
        rule = {
            "notify": "slack:#agent-approvals",
            "fallback": "slack:#team-ops",
            "reviewers": reviewers,
        }
        review, event = review_of(
            [call("it", x=number)], by=policy(it=rule), thread_id=f"t{number}"
        )
        await reviews.submit(review, event)
        delivery = Delivery(reviews, Channels(channel), Directory(Channels(channel)), Health())
        with pytest.raises(LookupFailed):
            await delivery.deliver(review.id, Place("slack:#agent-approvals"), again=False)
        [action] = (await reviews.load(review.id)).review.actions
        assert action.places == ("slack:#agent-approvals",), answer
        assert "slack:#agent-approvals" in (await reviews.load(review.id)).posts
        sandbox.faults.configure({"mode": "ok"})


async def test_an_empty_list_of_a_channels_members_opens_no_fallback(
    reviews: Reviews, delivery: Delivery, sandbox: Sandbox
) -> None:
    """Given a list of members that lacks even the bot, which is in the channel; then nobody knows who is
    left, and the fallback's people may not decide."""
    fail(sandbox, "conversations.members", (200, json.dumps({"ok": True, "members": []})))
    place = Place("slack:#agent-approvals")
    rule = {"notify": place, "fallback": "slack:#team-ops"}
    review, event = review_of([call("it")], by=policy(it=rule))
    await reviews.submit(review, event)
    with pytest.raises(LookupFailed, match=r"conversations\.members failed.*: an empty list"):
        await delivery.deliver(review.id, place, again=False)
    [action] = (await reviews.load(review.id)).review.actions
    assert action.places == (place,)


@pytest.mark.parametrize(
    ("method", "error", "reviewers"),
    [
        ("users.info", "user_not_found", {"users": ["U0BOB"]}),
        ("usergroups.users.list", "no_such_subteam", {"groups": ["S0FINANCE"]}),
    ],
)
async def test_a_documented_no_is_a_no(
    reviews: Reviews,
    delivery: Delivery,
    sandbox: Sandbox,
    method: str,
    error: str,
    reviewers: dict[str, Any],
) -> None:
    fail(sandbox, method, refusal(error))
    rule = {
        "notify": "slack:#agent-approvals",
        "fallback": "slack:#team-ops",
        "reviewers": reviewers,
    }
    review, event = review_of([call("it")], by=policy(it=rule))
    await reviews.submit(review, event)
    await delivery.deliver(review.id, Place("slack:#agent-approvals"), again=False)
    [action] = (await reviews.load(review.id)).review.actions
    assert action.places[-1] == "slack:#team-ops"
    assert action.grants[-1].includes_members


@pytest.mark.parametrize(
    "error", ["team_added_to_org", "missing_scope", "some_new_error", "no_permission"]
)
@pytest.mark.parametrize("method", ["chat.postMessage", "conversations.list", "conversations.open"])
async def test_a_place_that_slack_says_nothing_of_is_not_passed_on(
    reviews: Reviews,
    delivery: Delivery,
    sandbox: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    error: str,
) -> None:
    """Given an error that says nothing about the place; then its fallback gets
    nothing, whose people would decide."""
    monkeypatch.setattr("bot.channels.slack.transport.conversations._RETRY_AFTER", -1.0)
    place = {
        "chat.postMessage": Place("slack:#team-ops"),
        "conversations.list": Place("slack:#new-one"),
        "conversations.open": Place("slack:U0BOB"),
    }[method]
    review, event = review_of(
        [call("it")], by=policy(it={"notify": place, "fallback": "slack:#guests"})
    )
    await reviews.submit(review, event)
    fail(sandbox, method, refusal(error))
    with pytest.raises(Exception, match=error):
        await delivery.deliver(review.id, place, again=False)
    [action] = (await reviews.load(review.id)).review.actions
    assert action.places == (place,)


@pytest.mark.parametrize("answer", [(200, "hello"), (500, "oops"), refusal("missing_scope")])
async def test_who_is_named_alone_is_enough_to_post_a_card(
    reviews: Reviews, delivery: Delivery, sandbox: Sandbox, answer: tuple[int, str]
) -> None:
    """Given a card that names a group and a person; when the group can't be
    looked up; then it is posted."""
    fail(sandbox, "usergroups.users.list", answer)
    rule = {"reviewers": {"groups": ["S0FINANCE"], "users": ["U0BOB"]}}
    review, event = review_of([call("it")], by=policy(it=rule))
    await reviews.submit(review, event)
    await delivery.deliver(review.id, Place("default"), again=False)
    assert "default" in (await reviews.load(review.id)).posts


@pytest.mark.parametrize(
    "answer", [*map(refusal, ("missing_scope", "some_new_error")), *UNREADABLE]
)
async def test_a_card_is_shown_though_nobody_knows_how_many_may_see_it(
    reviews: Reviews, channel: SlackChannel, sandbox: Sandbox, answer: tuple[int, str]
) -> None:
    """Given a channel whose members may decide; when its size can't be looked up, then the card is posted and
    says so; when it can again, then nothing says so any more."""
    review, event = review_of([call("it")])
    await reviews.submit(review, event)
    fail(sandbox, "conversations.info", answer)
    delivery = Delivery(reviews, Channels(channel), Directory(Channels(channel)), Health())
    with pytest.raises(
        LookupFailed, match="the number of members of #agent-approvals is not known"
    ):
        await delivery.deliver(review.id, Place("default"), again=False)
    seen = await reviews.load(review.id)
    assert set(seen.posts) == set(seen.review.delivery_problems) == {"default"}

    sandbox.faults.configure({"mode": "ok"})
    await delivery.deliver(review.id, Place("default"), again=True)
    assert (await reviews.load(review.id)).review.delivery_problems == {}
