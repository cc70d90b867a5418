"""Unknown is not no: without a clear answer from Slack, nothing is opened, removed or hidden."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.channels.contract import LookupFailed, NotFound, RateLimited, Unreachable
from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.channels.slack.render.home_blocks import view_blocks
from bot.health.health import Health
from bot.inbox import HomeLoader
from bot.outbox.delivery import Delivery
from bot.people.directory import Directory
from bot.people.recipients import NoDeciderLeft, TooFewDeciders
from hitl_core.errors import Refused
from hitl_core.model import Action, Grant, MessageRef, Place, Reviewer, Reviewers, Snapshot, Vote
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from slack_sandbox.sandbox import BOT_TOKEN, Sandbox
from tests.support.builders import START, call, policy, review_of

OPS = MessageRef(channel="slack", conversation="C0OPS", ts="1.1")
#: Every method by which the bot looks up who may decide, with the errors that mean "there is no such one".
METHODS = {
    "users.info": {"user_not_found"},
    "usergroups.users.list": {"no_such_subteam"},
    "conversations.members": set[str](),
}
#: What Slack documents for these methods, common to all and each one's own, and what it does not.
ERRORS = [
    "access_denied",
    "account_inactive",
    "channel_not_found",
    "ekm_access_denied",
    "enterprise_is_restricted",
    "fatal_error",
    "fetch_members_failed",
    "internal_error",
    "invalid_arguments",
    "invalid_auth",
    "invalid_cursor",
    "is_archived",
    "limit_required",
    "missing_scope",
    "no_permission",
    "no_such_subteam",
    "not_allowed_token_type",
    "org_login_required",
    "plan_upgrade_required",
    "ratelimited",
    "request_timeout",
    "service_unavailable",
    "some_new_error",
    "subteam_not_found",
    "team_access_not_granted",
    "team_added_to_org",
    "token_revoked",
    "two_factor_setup_required",
    "unknown_method",
    "user_not_found",
    "user_not_visible",
    "users_not_found",
]
#: Answers that say neither yes nor no, by status and body.
UNREADABLE = [
    *(
        (200, body)
        for body in ("", "hello", "{", "null", "[]", "1", '{"ok": true}', '{"ok": "yes"}')
    ),
    *(
        (200, json.dumps({"ok": True, **wrong}))
        for wrong in (
            {"user": None, "users": None, "members": None},
            {"user": [], "users": {}, "members": "U0DANA"},
            {"user": {}, "users": [1], "members": [None]},
            {"user": {"id": "U0BOB"}, "users": "U0BOB", "members": [{}]},
            {"user": {"deleted": "no", "is_bot": False, "team_id": "T0ACME"}},
            {"user": {"deleted": False, "is_bot": False, "team_id": "T0ACME"}},
            {"user": {"deleted": False, "is_bot": 0, "team_id": "T0ACME"}},
            {"user": {"deleted": False, "is_bot": False}, "members": []} | {"response_metadata": 3},
            # M3: a part of the list
            {"user": {}, "users": ["U0GONE"], "members": [None]}
            | {"response_metadata": {"next_cursor": "x"}},
        )
    ),
    # L5: only `true` is a yes
    *(
        (200, json.dumps({"ok": ok, "user": {}, "users": [], "members": []}))
        for ok in ("true", 1, "no", [1], {"a": 1})
    ),
    # L3: not parseable
    (200, '{"ok": true, "user": ' + "[" * 100_000),
    (200, '{"ok": true, "user": ' + "9" * 6000 + "}"),
    (429, ""),
    (500, "oops"),
    (502, "{"),
    (503, json.dumps({"ok": True, "user": {}, "users": [], "members": []})),
    (404, json.dumps({"ok": False})),
]


def refusal(error: str, **more: Any) -> tuple[int, str]:
    return 200, json.dumps({"ok": False, "error": error, **more})


def person(id: str) -> Reviewer:
    return Reviewer(channel="slack", team="T0ACME", id=id, name=id)


PEOPLE = [
    person(id) for id in ("U0ALICE", "U0BOB", "U0DANA", "U0GINA", "U0GONE", "U0AGENT", "U0SAM")
]
GRANTS = {
    "users": Grant((Place("slack:#team-ops"),), Reviewers(users=("U0BOB", "U0GONE", "U0AGENT"))),
    "groups": Grant((Place("slack:#team-ops"),), Reviewers(groups=("S0FINANCE",))),
    "members": Grant((Place("slack:#team-ops"),), Reviewers()),
    "direct": Grant((Place("slack:U0BOB"),), Reviewers()),
    "group place": Grant((Place("slack:S0OPS"),), Reviewers()),
}


@pytest.fixture
def health() -> Health:
    return Health()


@pytest.fixture
async def channel(sandbox: Sandbox, health: Health) -> SlackChannel:
    client = AsyncWebClient(token=BOT_TOKEN, base_url=sandbox.api_url, retry_handlers=[])
    channel = SlackChannel(client, "#agent-approvals", health)
    await channel.start()
    return channel


@pytest.fixture
def directory(channel: SlackChannel) -> Directory:
    return Directory(Channels(channel))


@pytest.fixture
def reviews() -> Reviews:
    return Reviews(MemoryStore(lambda: START))


@pytest.fixture
def delivery(reviews: Reviews, channel: SlackChannel, directory: Directory) -> Delivery:
    return Delivery(reviews, Channels(channel), directory, Health())


def fail(sandbox: Sandbox, method: str, answer: tuple[int, str]) -> None:
    status, body = answer
    sandbox.faults.configure({"mode": "answer", "method": method, "status": status, "body": body})


async def may(directory: Directory, who: Reviewer, grant: Grant) -> str:
    review, _ = review_of()
    snapshot = Snapshot(review=review, posts={Place("slack:#team-ops"): OPS}, shown={}, now=0.0)
    try:
        await directory.check_can_decide(who, snapshot, [grant])
    except Refused as refused:
        return refused.code
    return "yes"


def answers(method: str) -> list[tuple[int, str]]:
    errors = [error for error in ERRORS if error not in METHODS[method]]
    return [*(refusal(error, needed="users:read") for error in errors), *UNREADABLE]


@pytest.mark.parametrize("method", METHODS)
async def test_whatever_slack_answers_nobody_gets_a_right(
    channel: SlackChannel, sandbox: Sandbox, method: str
) -> None:
    """Given each look-up with each answer that is not a documented no; then nobody
    new may decide, no vote is removed, and nobody counts as gone."""
    snapshot = Snapshot(review=review_of()[0], posts={}, shown={}, now=0.0)
    before = {
        (who.id, name): await may(Directory(Channels(channel)), who, grant)
        for who in PEOPLE
        for name, grant in GRANTS.items()
    }
    for answer in answers(method):
        fail(sandbox, method, answer)
        broken = Directory(Channels(channel))
        for name, grant in GRANTS.items():
            for who in PEOPLE:
                after = await may(broken, who, grant)
                assert after in (before[who.id, name], "unavailable"), (answer, who.id, name)
            with suppress(LookupFailed, RateLimited, Unreachable):
                assert await broken.deciders_left([grant], snapshot) == "enough", (answer, name)
        await check_votes(broken, answer)
        sandbox.faults.configure({"mode": "ok"})


class Unavailable(Exception):
    """The bot said that it doesn't know."""


async def ineligible_voters(
    directory: Directory, action: Action, snapshot: Snapshot
) -> frozenset[str]:
    try:
        voters = [vote.by for vote in action.votes]
        return await directory.ineligible_voters(voters, snapshot, action.grants)
    except Refused as refused:
        if refused.code != "unavailable":
            raise
        raise Unavailable from refused


async def check_votes(directory: Directory, answer: tuple[int, str]) -> None:
    """A vote stays while the voter's right is unknown."""
    review, _ = review_of(
        [call("it")], by=policy(it={"reviewers": {"groups": ["S0FINANCE"], "quorum": 3}})
    )
    votes = tuple(
        Vote(type="approve", by=person(id), at=0, revision=1) for id in ("U0ALICE", "U0BOB")
    )
    action = review.actions[0].model_copy(update={"votes": votes})
    snapshot = Snapshot(review=review, posts={}, shown={}, now=0.0)
    with suppress(Unavailable):
        assert await ineligible_voters(directory, action, snapshot) == frozenset(), answer


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


async def test_the_missing_scope_is_named(
    channel: SlackChannel, health: Health, sandbox: Sandbox
) -> None:
    """Given an app without usergroups:read; then the error and the problem name
    it, until it works again."""
    answer = refusal("missing_scope", needed="usergroups:read", provided="chat:write")
    fail(sandbox, "usergroups.users.list", answer)
    with pytest.raises(LookupFailed, match="lacks the scope usergroups:read") as failed:
        await channel.group_members("S0OPS")
    assert (failed.value.method, failed.value.error, failed.value.needed) == (
        "usergroups.users.list",
        "missing_scope",
        "usergroups:read",
    )
    [problem] = health.current_problems()
    assert (problem.kind, problem.subject) == ("lookup", "usergroups.users.list")
    assert "usergroups:read" in problem.text

    sandbox.faults.configure({"mode": "ok"})
    await channel.group_members("S0FINANCE")
    assert health.current_problems() == ()


async def test_one_person_who_can_not_be_looked_up_is_a_problem_of_its_own(
    channel: SlackChannel, health: Health, sandbox: Sandbox
) -> None:
    """Given one person for whom Slack fails; then other look-ups that work don't hide the problem."""
    sandbox.faults.configure(
        {
            "mode": "answer",
            "method": "users.info",
            "times": 1,
            "body": refusal("org_login_required")[1],
        }
    )
    with pytest.raises(LookupFailed):
        await channel.person("U0BOB")
    await channel.person("U0ALICE")
    assert [one.subject for one in health.current_problems()] == ["users.info for U0BOB"]
    await channel.person("U0BOB")
    assert health.current_problems() == ()


async def test_a_list_that_never_ends_is_not_known(channel: SlackChannel, sandbox: Sandbox) -> None:
    """M4: given a Slack that always has one page more; then the number of calls is limited."""
    body = json.dumps({"ok": True, "members": ["U1"], "response_metadata": {"next_cursor": "x"}})
    fail(sandbox, "conversations.members", (200, body))
    before = len(sandbox.api.calls)
    with pytest.raises(LookupFailed, match="more than 100 pages"):
        await channel.conversation_members("C0OPS")
    assert len(sandbox.api.calls) - before == 100


async def test_a_list_of_which_a_later_page_fails_is_one_problem_that_lasts(
    sandbox: Sandbox,
) -> None:
    """Given a list whose first page can be read each time, and never its end; then it is the same problem at
    each try, so that it is told after a minute.
    """
    now = 0.0
    health = Health(lambda: now)
    client = AsyncWebClient(token=BOT_TOKEN, base_url=sandbox.api_url, retry_handlers=[])
    channel = SlackChannel(client, "#agent-approvals", health)
    body = json.dumps({"ok": True, "members": ["U1"], "response_metadata": {"next_cursor": "x"}})
    fail(sandbox, "conversations.members", (200, body))
    for moment in (1000.0, 1050.0, 1100.0):
        now = moment
        with pytest.raises(LookupFailed):
            await channel.conversation_members("C0OPS")

    [problem] = health.current_problems()
    assert (problem.since, problem.count) == (1000.0, 3)

    sandbox.faults.configure({"mode": "ok"})
    await channel.conversation_members("C0OPS")
    assert health.current_problems() == ()


async def test_a_part_of_a_group_is_not_the_group(
    channel: SlackChannel, health: Health, sandbox: Sandbox
) -> None:
    """Given an answer with somebody who has left and a cursor; then who is in the group is not known."""
    body = json.dumps({"ok": True, "users": ["U0GONE"], "response_metadata": {"next_cursor": "x"}})
    fail(sandbox, "usergroups.users.list", (200, body))
    with pytest.raises(LookupFailed):
        await channel.group_members("S0FINANCE")
    assert [one.kind for one in health.current_problems()] == ["lookup"]


async def test_what_is_not_known_hides_no_review_in_home(
    reviews: Reviews, channel: SlackChannel, sandbox: Sandbox
) -> None:
    """Given a question for Alice's group; when the group can't be looked up; then
    Home still lists it, without buttons, and says nothing of what it is about: neither the question nor the
    tool's name."""
    asks = {
        "allowed_decisions": ["respond"],
        "answer_schema": {"type": "string"},
        "description": "Is hunter2 her password?",
        "reviewers": {"groups": ["S0FINANCE"]},
    }
    review, event = review_of([call("it_asks")], by=policy(it_asks=asks))
    await reviews.submit(review, event)
    fail(sandbox, "usergroups.users.list", refusal("fatal_error"))
    home = await HomeLoader(reviews, Channels(channel), Directory(Channels(channel))).load_home(
        person("U0ALICE")
    )
    [line] = home.others
    assert home.mine == ()
    assert line.card.review_id == review.id
    assert line.is_unknown
    assert line.keys == frozenset()
    shown = str(view_blocks(home, channel))
    assert "It is not known now what waits for you" in shown
    assert "billing: a review" in shown
    assert "hunter2" not in shown
    assert "it_asks" not in shown


async def test_home_says_that_more_actions_of_a_review_may_wait(
    reviews: Reviews, channel: SlackChannel, sandbox: Sandbox
) -> None:
    """Given a review with an action for Alice and one for her group; when the group can't be looked up; then
    Home has the first one, and says that this may not be all."""
    rules = {"mine": {"reviewers": {"users": ["U0ALICE"]}}}
    rules |= {"ours": {"reviewers": {"groups": ["S0FINANCE"]}}}
    review, event = review_of([call("mine"), call("ours", "c2")], by=policy(**rules))
    await reviews.submit(review, event)
    fail(sandbox, "usergroups.users.list", refusal("fatal_error"))
    home = await HomeLoader(reviews, Channels(channel), Directory(Channels(channel))).load_home(
        person("U0ALICE")
    )
    [task] = home.mine
    assert task.keys == ("1",)
    assert "Whether more actions of these reviews wait" in str(view_blocks(home, channel))


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


async def test_home_lists_what_could_not_be_posted_yet(
    reviews: Reviews, channel: SlackChannel
) -> None:
    """Given a review for a channel's members whose card is not posted; then Home lists it, and says nothing
    of what it is about."""
    review, event = review_of([call("it")])
    await reviews.submit(review, event)
    home = await HomeLoader(reviews, Channels(channel), Directory(Channels(channel))).load_home(
        person("U0ALICE")
    )
    [line] = home.others
    assert (home.mine, line.card.review_id, line.keys) == ((), review.id, frozenset())
    assert line.is_unknown


async def test_a_known_nobody_is_a_no_for_a_place(channel: SlackChannel) -> None:
    assert issubclass(NoDeciderLeft, NotFound)
    assert not issubclass(LookupFailed, NotFound)
    assert await channel.person("U0STRANGER") is None
    assert await channel.group_members("S0NONE") == frozenset()


@pytest.mark.parametrize(
    ("people", "requester", "text"),
    [
        ({"users": ["U0ALICE"], "exclude_requester": True}, "U0ALICE", True),
        ({"users": ["U0ALICE", "U0BOB"], "quorum": 2}, "U0ALICE", True),
        ({"users": ["U0ALICE", "U0GONE"], "quorum": 2}, "U0SAM", True),
        ({"groups": ["S0FINANCE"], "quorum": 3}, "U0ALICE", True),
        ({"users": ["U0ALICE", "U0BOB"], "quorum": 2}, "U0SAM", False),
        ({"groups": ["S0FINANCE"], "quorum": 3}, "U0SAM", False),
        ({"channel_members": True, "quorum": 3}, "U0ALICE", True),
    ],
)
async def test_a_card_that_nobody_can_approve_is_shown_and_is_a_trouble(
    reviews: Reviews,
    delivery: Delivery,
    people: dict[str, Any],
    requester: str,
    text: bool,
) -> None:
    """Given a rule of which too few are left who may approve, as one of them asked the agent or
    has left, then its card is posted, since they can still reject it; the review says what is wrong, and the
    fallback shows it and gives nobody a right, or who names the requester chose who decides."""
    rule = {"reviewers": people, "fallback": "slack:#team-ops"}
    review, event = review_of([call("it")], by=policy(it=rule), requester=requester)
    await reviews.submit(review, event)
    if not text:
        await delivery.deliver(review.id, Place("default"), again=False)
    else:
        with pytest.raises(TooFewDeciders, match="too few people are left who may approve it"):
            await delivery.deliver(review.id, Place("default"), again=False)
    found = await reviews.load(review.id)
    assert "default" in found.posts
    assert bool(found.review.delivery_problems) == text
    [action] = found.review.actions
    assert [one.open for one in action.escalations] == [False] * text
