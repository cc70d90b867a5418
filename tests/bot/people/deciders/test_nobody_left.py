"""If nobody can decide any more, the next escalation step is taken. After the last step, the fallback's
people may decide.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from bot.channels.contract import ChannelError, LookupFailed
from bot.channels.registry import Channels
from bot.health.health import Health
from bot.people import lookups, recipients
from bot.people.directory import Directory
from hitl_core.model import Grant, Place, Reviewer, Reviewers
from hitl_core.policy import Policy
from slack_sandbox.server import Sandbox
from tests.bot.people.deciders.bot import (
    APPROVALS,
    ARCHIVED,
    ASK,
    DANA,
    GONE,
    OPS,
    Bot,
    in_doubt,
    members_of,
    step,
)
from tests.support.builders import call, review_of


async def test_the_steps_to_come_are_taken_before_the_fallback_opens(
    bot: Bot, sandbox: Sandbox
) -> None:
    """Given a rule whose reviewer has left, and a chain that names Dana; then Dana is asked at once, and the
    fallback's people get no right; when she has left as well, they get it."""
    rule = {
        "reviewers": GONE,
        "escalate": [step(OPS, users=["U0DANA"])],
        "fallback": ASK,
    }
    review_id = await bot.submit(pay=rule)
    [action] = await bot.deliver(review_id)
    assert action.places == ("default", OPS)
    assert not members_of(action)
    assert {user for grant in action.grants for user in grant.reviewers.users} == {
        "U0GONE",
        "U0DANA",
    }

    sandbox.users.deactivate("U0DANA")
    [action] = await bot.deliver(review_id)
    assert members_of(action) == {ASK}


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        (
            {"notify": ARCHIVED, "escalate": [step(OPS, users=["U0DANA"])]},
            "members without a channel, and a step that names somebody",
        ),
        (
            {"notify": ARCHIVED, "escalate": [step(OPS)]},
            "members without a channel, and a step with members",
        ),
        ({"notify": [APPROVALS, ARCHIVED]}, "the members of another channel"),
        (
            {"notify": ARCHIVED, "reviewers": {"users": ["U0BOB"], "channel_members": True}},
            "somebody by name",
        ),
        (
            {"reviewers": GONE, "escalate": [step(ARCHIVED), step(OPS, "2h", users=["U0DANA"])]},
            "somebody after a step that leads nowhere",
        ),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
async def test_no_fallback_opens_while_somebody_else_is_left(
    bot: Bot, rule: dict[str, Any], left: str
) -> None:
    review_id = await bot.submit(pay={**rule, "fallback": ASK})
    [action] = await bot.deliver(review_id)
    assert ASK not in members_of(action), left
    snapshot = replace(await bot.reviews.load(review_id), posts={})
    directory = Directory(Channels(bot.channel))
    assert await directory.deciders_left(action.grants, snapshot) == "enough"


async def test_a_fallback_that_showed_it_already_opens_after_the_last_step(
    bot: Bot, sandbox: Sandbox
) -> None:
    """Given a channel that is archived, so that the fallback shows the card, while Bob may decide; when Bob
    leaves, then its people may."""
    rule = {"notify": ARCHIVED, "fallback": OPS, "reviewers": {"users": ["U0BOB"]}}
    review_id = await bot.submit(pay=rule)
    [action] = await bot.deliver(review_id)
    assert (action.places, members_of(action)) == ((ARCHIVED, OPS), set())

    sandbox.users.deactivate("U0BOB")
    [action] = await bot.deliver(review_id)
    assert members_of(action) == {OPS}


async def test_only_the_part_that_nobody_may_decide_is_passed_on(bot: Bot) -> None:
    """Given two calls, of which one has nobody left; then its fallback opens, and the other's does not."""
    gone, bobs = await bot.deliver(
        await bot.submit(
            gone={"reviewers": GONE, "fallback": OPS},
            bobs={"reviewers": {"users": ["U0BOB"]}, "fallback": OPS},
        )
    )
    assert (members_of(gone), members_of(bobs)) == ({OPS}, set())
    assert bobs.places == ("default",)


async def _grow_channel(bot: Bot, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookups, "MAX_MEMBERS", 1)


async def _rename(bot: Bot, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox.channels.rename("C0OPS", "team-operations")
    bot.channel.set_channel_name("C0OPS", "team-operations")


async def _take_the_name(bot: Bot, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    await _rename(bot, sandbox, monkeypatch)
    sandbox.channels.rename("C0GUESTS", "team-ops")
    bot.channel.set_channel_name("C0GUESTS", "team-ops")


@pytest.mark.parametrize("change", [_rename, _take_the_name, _grow_channel])
async def test_promise_12_what_happens_to_a_channel_later_gives_nobody_a_right(
    bot: Bot, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, change: Any
) -> None:
    """Given a card in a channel whose members may decide, and a fallback; when the channel is renamed, when
    another one takes its name, or when it grows too large to be asked in; then its members may decide, and
    nobody else gets a right, also not by an escalation step before its time (attack H3)."""
    rule = {"notify": OPS, "fallback": ASK, "escalate": [step(APPROVALS)]}
    review_id = await bot.submit(pay=rule)
    [before] = await bot.deliver(review_id)
    await change(bot, sandbox, monkeypatch)
    with suppress(ChannelError):
        await bot.deliver_at(review_id, OPS)
    snapshot = await bot.reviews.load(review_id)
    [after] = snapshot.review.actions
    assert after.grants == before.grants
    dana = Reviewer(channel="slack", team=bot.channel.team, id="U0DANA", name="Dana")
    await Directory(Channels(bot.channel)).check_can_decide(dana, snapshot, after.grants)


@pytest.mark.parametrize("fallback", [{"fallback": ASK}, {}], ids=["fallback", "no fallback"])
async def test_a_channel_found_too_large_after_its_card_was_shown_has_no_deciders(
    bot: Bot, health: Health, monkeypatch: pytest.MonkeyPatch, fallback: dict[str, Any]
) -> None:
    """Given a card that was shown while Slack didn't say how many may see it; when it says that there are too
    many, then its members may not decide. So the fallback's people may, or else the problem is told: it was
    shown in the fallback, where nobody might decide, and nobody was told."""
    with monkeypatch.context() as patch:
        patch.setattr(bot.channel, "conversation_size", _raise_unknown)
        review_id = await bot.submit(pay={"notify": OPS, **fallback})
        await bot.deliver(review_id)
        assert OPS in (await bot.reviews.load(review_id)).posts
    monkeypatch.setattr(bot.channel, "conversation_size", _return_many_for_ops)
    [action] = await bot.deliver(review_id)
    snapshot = await bot.reviews.load(review_id)
    assert members_of(action) == {OPS, *fallback.values()}
    assert set(snapshot.posts) == members_of(action)
    told = [] if fallback else [OPS]
    assert list(snapshot.review.delivery_problems) == told
    assert [one.key[1] for one in health.current_problems()] == told


async def _raise_unknown(place: Place) -> int:
    raise LookupFailed("the size is not known")


async def _return_many_for_ops(place: Place) -> int:
    return lookups.MAX_MEMBERS + (place in (OPS, "slack:C0OPS"))


async def test_promise_12_a_group_that_grows_gives_nobody_a_right(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a group of which each member has a copy; when it has more members than can get one; then they
    keep their right, which their Home shows, and nobody else gets one."""
    group = Place("slack:S0OPS")
    for known in (True, False):  # with copies, and before the first one
        review_id = await bot.submit(pay={"notify": group, "fallback": ASK})
        if known:
            await bot.deliver(review_id)
        with monkeypatch.context() as patch, suppress(ChannelError):
            patch.setattr(recipients, "MAX_COPIES", 0)
            await bot.deliver_at(review_id, group)
        [action] = (await bot.reviews.load(review_id)).review.actions
        assert members_of(action) == {group}


async def test_a_doubt_goes_to_the_fallback_of_its_rule(bot: Bot) -> None:
    """Given a call in doubt whose place is archived; then it is asked about in its fallback, where only those
    who may decide answer."""
    review_id = await bot.submit(pay={"notify": ARCHIVED, "fallback": OPS, "reviewers": DANA})
    await in_doubt(bot, review_id)

    await bot.deliver(review_id)

    snapshot = await bot.reviews.load(review_id)
    [call] = snapshot.review.calls
    assert snapshot.review.places_of(call) == (ARCHIVED, OPS)
    assert OPS in snapshot.posts
    assert not any(grant.includes_members for grant in snapshot.review.grants_of(call))


async def test_so_does_the_doubt_of_a_call_that_needed_nobody(bot: Bot) -> None:
    """Its place's members may answer. None can, so those of the fallback may."""
    rules = {"default": "allow", "notify": ARCHIVED, "fallback": OPS}
    review, event = review_of([call("pay")], by=Policy.from_mapping(rules))
    await bot.reviews.submit(review, event)
    await in_doubt(bot, review.id)

    await bot.deliver(review.id)

    snapshot = await bot.reviews.load(review.id)
    [asked] = snapshot.review.calls
    assert OPS in snapshot.posts
    assert {one.places for one in snapshot.review.grants_of(asked)} == {(ARCHIVED,), (OPS,)}


async def test_a_doubt_without_a_fallback_is_told(bot: Bot) -> None:
    review_id = await bot.submit(pay={"notify": ARCHIVED, "reviewers": DANA})
    await in_doubt(bot, review_id)
    await bot.deliver(review_id)
    review = (await bot.reviews.load(review_id)).review
    assert list(review.delivery_problems) == [ARCHIVED]
    assert bot.health.current_problems()


async def test_a_doubt_that_nobody_can_answer_opens_the_fallback(
    bot: Bot, sandbox: Sandbox
) -> None:
    """Given a call in doubt whose only reviewer has left; then the members of its fallback may answer."""
    review_id = await bot.submit(pay={"reviewers": DANA, "fallback": OPS})
    await bot.deliver(review_id)
    await in_doubt(bot, review_id)
    sandbox.users.deactivate("U0DANA")

    await bot.deliver(review_id)

    review = (await bot.reviews.load(review_id)).review
    [call] = review.calls
    assert Grant((OPS,), Reviewers()) in review.grants_of(call)
    assert f"place:{OPS}" in review.audiences


@pytest.mark.parametrize("mode", ["ratelimited", "http_500"])
async def test_while_slack_gives_no_answer_about_people_one_question_is_asked(
    bot: Bot, sandbox: Sandbox, mode: str
) -> None:
    """Given a channel with several members, and a Slack that says nothing about any of them; then the card is
    shown after one question, not after a time-out for each member."""
    review_id = await bot.submit(pay={"notify": APPROVALS})
    sandbox.faults.configure({"mode": mode, "method": "users.info"})
    with pytest.raises(LookupFailed, match="not known whether anybody"):
        await bot.deliver_at(review_id, APPROVALS)
    assert (await bot.reviews.load(review_id)).posts
    assert [one["method"] for one in sandbox.api.calls].count("users.info") == 1
