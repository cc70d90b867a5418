"""Without a clear answer from Slack, nobody gets a right, and no vote is lost."""

from __future__ import annotations

from contextlib import suppress

import pytest

from bot.channels.contract import LookupFailed, NotFound, RateLimited, Unreachable
from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.people.directory import Directory
from bot.people.recipients import NoDeciderLeft
from hitl_core.errors import Refused
from hitl_core.model import Action, Grant, MessageRef, Place, Reviewer, Reviewers, Snapshot, Vote
from slack_sandbox.sandbox import Sandbox
from tests.bot.people.unknown.answers import METHODS, answers, fail, person
from tests.support.builders import call, policy, review_of

OPS = MessageRef(channel="slack", conversation="C0OPS", ts="1.1")
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


async def may(directory: Directory, who: Reviewer, grant: Grant) -> str:
    review, _ = review_of()
    snapshot = Snapshot(review=review, posts={Place("slack:#team-ops"): OPS}, shown={}, now=0.0)
    try:
        await directory.check_can_decide(who, snapshot, [grant])
    except Refused as refused:
        return refused.code
    return "yes"


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


async def test_a_known_nobody_is_a_no_for_a_place(channel: SlackChannel) -> None:
    assert issubclass(NoDeciderLeft, NotFound)
    assert not issubclass(LookupFailed, NotFound)
    assert await channel.person("U0STRANGER") is None
    assert await channel.group_members("S0NONE") == frozenset()
