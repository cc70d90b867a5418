"""Nothing waits without anybody knowing: what can't be shown is reported on the other cards, in Home, and to
the operators.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.card import build_card
from bot.channels.contract import LookupFailed, NotFound
from bot.channels.policy_places import check_policy
from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.channels.slack.render import card_message
from bot.channels.slack.render.home_blocks import view_blocks
from bot.health import PlaceCheck, place_check
from bot.health.health import Health
from bot.inbox import HomeLoader
from bot.outbox.delivery import Delivery
from bot.people.directory import Directory
from hitl_core import Policy
from hitl_core.errors import Refused
from hitl_core.model import DEFAULT_PLACE, Place, Review, Reviewer
from hitl_core.review import Cancel, claims, commands, delivery_problems, record_problem
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from slack_sandbox.client import read_text
from slack_sandbox.sandbox import BOT_TOKEN, Sandbox
from slack_sandbox.workspace.objects import Channel
from tests.support.bots import Process
from tests.support.builders import START, approve_all, call, person, policy, review_of

TYPO = Place("slack:#suport")
HERE = Place("slack:#agent-approvals")


@pytest.fixture
def health() -> Health:
    return Health(lambda: START)


@pytest.fixture
def reviews() -> Reviews:
    return Reviews(MemoryStore(lambda: START))


@pytest.fixture
def delivery(reviews: Reviews, channel: SlackChannel, health: Health) -> Delivery:
    return Delivery(reviews, Channels(channel), Directory(Channels(channel)), health)


async def two_calls(reviews: Reviews) -> Review:
    """One for the approvers, one for a channel with a typo."""
    rules = policy(here={"notify": HERE}, there={"notify": TYPO})
    review, event = review_of([call("here", "c1"), call("there", "c2")], by=rules)
    await reviews.submit(review, event)
    return review


async def card_text(reviews: Reviews, review_id: str, place: Place, channel: SlackChannel) -> str:
    snapshot = await reviews.load(review_id)
    return read_text(
        card_message.message_blocks(
            build_card(snapshot.review, place, snapshot.posts), channel.name_of
        )
    )


async def test_a_typo_in_a_channel_is_said_on_the_other_card(
    reviews: Reviews, delivery: Delivery, channel: SlackChannel, health: Health
) -> None:
    """Given two calls, of which one waits in a channel that doesn't exist; then the
    other one's card says so, with the reason, and the operators are told what to do."""
    review = await two_calls(reviews)
    await delivery.deliver(review.id, HERE, again=False)
    with pytest.raises(NotFound):
        await delivery.deliver(review.id, TYPO, again=False)

    text = await card_text(reviews, review.id, HERE, channel)
    assert "Action 2 can't be shown in #suport" in text
    assert "there is no channel #suport that the bot can see" in text
    [problem] = health.current_problems()
    assert (problem.kind, problem.subject) == ("place", TYPO)
    assert "hitl reviews" in problem.text


async def test_home_says_it_to_those_who_may_decide(
    reviews: Reviews, delivery: Delivery, channel: SlackChannel
) -> None:
    review = await two_calls(reviews)
    await delivery.deliver(review.id, HERE, again=False)
    with pytest.raises(NotFound):
        await delivery.deliver(review.id, TYPO, again=False)
    who = Reviewer(channel="slack", team="T0ACME", id="U0ALICE", name="Alice")
    home = await HomeLoader(reviews, Channels(channel), Directory(Channels(channel))).load_home(who)
    assert "Action 2 can't be shown in #suport" in read_text(view_blocks(home, channel))


async def test_when_the_place_is_there_it_is_over(
    reviews: Reviews,
    delivery: Delivery,
    channel: SlackChannel,
    health: Health,
    sandbox: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Given a place that couldn't be reached; when somebody makes it and it is tried
    again, then the problem is gone; if it is tried before that, it is still one problem, recorded once."""
    monkeypatch.setattr("bot.channels.slack.transport.conversations._RETRY_AFTER", -1.0)
    review = await two_calls(reviews)
    versions: list[int] = []
    for _ in range(3):
        with pytest.raises(NotFound):
            await delivery.deliver(review.id, TYPO, again=True)
        versions.append((await reviews.load(review.id)).review.version)
    assert len({*versions}) == 1

    made = Channel("C0SUPORT", "suport", ["U0ALICE", "U0APPROVER"])
    sandbox.workspace.channels["C0SUPORT"] = made
    await delivery.deliver(review.id, TYPO, again=True)
    assert (await reviews.load(review.id)).review.delivery_problems == {}
    assert health.current_problems() == ()
    assert "can't be shown" not in await card_text(reviews, review.id, HERE, channel)


async def test_a_place_is_not_solved_while_others_wait_there(
    reviews: Reviews, delivery: Delivery, health: Health
) -> None:
    """Given two reviews that wait at a place that does not exist; when one of them is cancelled, then the
    place is still a problem.
    """
    both = [
        await reviews.submit(
            *review_of([call("ask")], by=policy(ask={"notify": TYPO}), thread_id=id)
        )
        for id in ("t-1", "t-2")
    ]
    for review in both:
        with pytest.raises(NotFound):
            await delivery.deliver(review.id, TYPO, again=False)
    await reviews.apply(Cancel(both[0].id, person("Ada"), "1"))

    await delivery.deliver(both[0].id, TYPO, again=False)

    [problem] = health.current_problems()
    assert (problem.kind, problem.subject) == ("place", TYPO)


async def test_what_is_not_known_is_said_on_the_card_itself(
    reviews: Reviews, delivery: Delivery, channel: SlackChannel, sandbox: Sandbox
) -> None:
    """Given a group that can't be looked up; then its card is shown, and says which
    scope the app lacks."""
    rule = {"notify": HERE, "reviewers": {"groups": ["S0OPS"]}}
    review, event = review_of([call("it")], by=policy(it=rule))
    await reviews.submit(review, event)
    body = json.dumps({"ok": False, "error": "missing_scope", "needed": "usergroups:read"})
    sandbox.faults.configure({"mode": "answer", "method": "usergroups.users.list", "body": body})
    with pytest.raises(LookupFailed):
        await delivery.deliver(review.id, HERE, again=False)
    texts = await card_text(reviews, review.id, HERE, channel)
    assert "Some people or groups could not be looked up" in texts
    assert "the app lacks the scope usergroups:read" in texts

    sandbox.faults.configure({"mode": "ok"})
    await delivery.deliver(review.id, HERE, again=True)
    assert "looked up" not in await card_text(reviews, review.id, HERE, channel)


def test_a_trouble_is_nothing_that_an_agent_or_a_name_can_draw() -> None:
    """Given a reason with markup in it; then the card shows it as text."""
    review, _ = review_of([call("it")], by=policy(it={"notify": HERE}))
    noted = delivery_problems.record_delivery_problem(
        review, HERE, "<!channel> *now*", START
    ).review
    [block] = [
        one
        for one in card_message.message_blocks(build_card(noted, HERE), str)
        if one["block_id"] == "unshown:0"
    ]
    assert [one["type"] for one in block["elements"]] == ["mrkdwn", "plain_text"]
    assert "channel" not in block["elements"][0]["text"]


def test_a_known_reason_replaces_a_failed_look_up() -> None:
    """Given a place of which a look-up failed; when its problem is known, then people read that, also if the
    look-up fails again."""
    review, _ = review_of([call("it")], by=policy(it={"notify": HERE}))
    record = delivery_problems.record_delivery_problem
    unknown = record(review, HERE, "a look-up failed", START, is_unknown=True).review

    known = record(unknown, HERE, "nobody is left", START + 1, is_shown=True).review

    problem = known.delivery_problems[HERE]
    assert (problem.why, problem.is_shown, problem.is_unknown) == ("nobody is left", True, False)
    with pytest.raises(Refused):
        record(known, HERE, "a look-up failed", START + 2, is_unknown=True)


def test_what_is_decided_or_cancelled_has_no_trouble() -> None:
    review, _ = review_of([call("it")], by=policy(it={"notify": HERE}))
    cancelled = commands.cancel(review, person(), None, START).review
    for one in (cancelled,):
        with pytest.raises(Exception, match="Nothing to record"):
            delivery_problems.record_delivery_problem(one, HERE, "gone", START)


async def test_the_places_of_what_waits_are_looked_at(
    reviews: Reviews, channel: SlackChannel, health: Health, sandbox: Sandbox
) -> None:
    """Given a review that would escalate to a channel that doesn't exist, fall back to
    one without the bot, or go to somebody who has left; then that is reported before, and over when it is
    corrected."""
    rules = policy(
        it={
            "notify": HERE,
            "escalate": [{"after": "1h", "to": TYPO}, {"after": "2h", "to": "slack:U0GONE"}],
            "fallback": "slack:C0EMPTY",
        }
    )
    review, event = review_of([call("it")], by=rules)
    await reviews.submit(review, event)
    check = PlaceCheck(reviews, Channels(channel), health)
    await check.check_places()
    assert {one.subject for one in health.current_problems()} == {
        TYPO,
        "slack:U0GONE",
        "slack:C0EMPTY",
    }

    sandbox.workspace.channels["C0EMPTY"].members.append("U0APPROVER")
    await check.check_places()
    assert {one.subject for one in health.current_problems()} == {TYPO, "slack:U0GONE"}


POLICY = """
default: review
interrupt_on:
  one: {notify: "slack:#suport", reviewers: {users: [U0BOB, U0GONE]}}
  two: {notify: "slack:#team-ops", fallback: "slack:C0EMPTY", reviewers: {groups: [S0OPS, S0OLD]}}
  three: {notify: "slack:C0OLD"}
"""


async def test_a_policys_places_and_people_are_looked_up(
    channel: SlackChannel, sandbox: Sandbox
) -> None:
    """Given a policy; then each place, person and group is usable, unusable or
    unknown."""
    found = {
        one.name: one for one in await check_policy(Policy.from_yaml(POLICY), Channels(channel))
    }
    usable = [name for name, one in found.items() if one.usable == "yes"]
    assert sorted(usable) == ["default", "slack:#team-ops", "slack:S0OPS", "slack:U0BOB"]
    assert str(found[DEFAULT_PLACE]) == "ok  the bot's own channel (HITL_CHANNEL)"
    assert {name: one.why for name, one in found.items() if one.usable == "no"} == {
        "slack:#suport": "there is no channel #suport that the bot can see",
        "slack:U0GONE": "this person has left",
        "slack:C0EMPTY": "the bot is not in this channel",
        "slack:S0OLD": "nobody is in this group, or there is no such group",
        "slack:C0OLD": "the channel is archived",
    }
    sandbox.faults.configure({"mode": "http_500", "method": "users.info"})
    again = {
        one.name: one.usable
        for one in await check_policy(Policy.from_yaml(POLICY), Channels(channel))
    }
    assert again[Place("slack:U0BOB")] == "unknown"


async def test_two_names_of_one_channel_are_told(channel: SlackChannel) -> None:
    """Given a policy that names the bot's own channel, and another channel in two ways; then the check says
    that a review with both gets two cards there."""
    places = ["#agent-approvals", "#team-ops", "C0OPS", "U0BOB"]
    rules = {f"tool_{number}": {"notify": f"slack:{one}"} for number, one in enumerate(places)}
    policy = Policy.from_mapping({"default": "review", "interrupt_on": rules})
    found = await check_policy(policy, Channels(channel))
    assert {one.usable for one in found} == {"yes"}
    assert {one.name: str(one) for one in found if one.why} == {
        "slack:#agent-approvals": "ok  slack:#agent-approvals: it is the bot's own channel (HITL_CHANNEL): a"
        " review with both gets two cards there, so name it in one way",
        "slack:C0OPS": "ok  slack:C0OPS: it is slack:#team-ops: a review with both gets two cards there, so"
        " name it in one way",
    }


async def test_policy_check_channels_from_a_terminal(sandbox: Sandbox, tmp_path: Path) -> None:
    """Given a policy with a typo and one without; then the command names it, and ends
    with 1 or 0."""
    file = tmp_path / "policy.yaml"
    env = {"SLACK_BOT_TOKEN": BOT_TOKEN, "SLACK_API_URL": sandbox.api_url, "HITL_CHANNEL": HERE[6:]}
    for text, code in ((POLICY, 1), ("default: review\n", 0)):
        file.write_text(text)
        process = await Process.start(
            "hitl_core", "policy", "check", "--channels", str(file), env=env, log=tmp_path / "log"
        )
        assert await process.wait_end(60) == code, process.output
        assert ("NOT USABLE  slack:#suport: there is no channel" in process.output) is (code == 1)


async def test_the_places_of_all_reviews_are_looked_at_however_many_wait(
    reviews: Reviews, channel: SlackChannel, health: Health, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given more reviews than one check reads, of which the last ones have a place that doesn't exist and an
    agent that can't go on; then the next checks find both, and what is found is not forgotten."""
    monkeypatch.setattr(place_check, "MAX_REVIEWS", 2)
    ids = list[str]()
    for number in range(5):
        rules = policy(it={"notify": TYPO if number == 3 else HERE})
        made = review_of([call("it")], by=rules, thread_id=f"t-{number}", now=START + number)
        ids.append((await reviews.submit(*made)).id)
    last = ids[-1]
    await approve_all(reviews, last)
    await reviews.change(last, "claim", lambda r, now: claims.claim(r, "p1", now, 60))
    await reviews.change(last, "stuck", lambda r, now: record_problem(r, 1, "no thread", now))
    check = PlaceCheck(reviews, Channels(channel), health)
    for _ in range(4):
        await check.check_places()
    assert {one.subject for one in health.current_problems()} == {TYPO, last}
    [stuck] = [one for one in health.current_problems() if one.kind == "agent"]
    assert stuck.count == 2


async def test_an_agent_that_can_not_go_on_is_a_problem_until_its_review_is_done(
    reviews: Reviews, channel: SlackChannel, health: Health
) -> None:
    review, event = review_of([call("look_up")])
    await reviews.submit(review, event)
    await reviews.change(review.id, "claim", lambda r, now: claims.claim(r, "p1", now, 60))
    await reviews.change(review.id, "stuck", lambda r, now: record_problem(r, 1, "no thread", now))
    check = PlaceCheck(reviews, Channels(channel), health)
    await check.check_places()
    [problem] = health.current_problems()
    assert (problem.kind, problem.subject) == ("agent", review.id)

    await reviews.change(review.id, "done", lambda r, now: claims.finish(r, 1, {}, now))
    await check.check_places()
    assert health.current_problems() == ()
