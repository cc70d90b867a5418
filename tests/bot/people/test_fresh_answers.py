"""A cached answer never says that nobody is there: before a card goes to others, the chat system is asked
again.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.channels.contract import NotFound, Unreachable
from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.people import Directory, Recipients
from bot.people.lookups import MAX_MEMBERS
from hitl_core.errors import Refused
from hitl_core.model import Grant, MessageRef, Place, Reviewer, Reviewers, Snapshot
from hitl_core.store import MemoryStore
from slack_sandbox.sandbox import Sandbox
from tests.support.builders import START, call, policy, review_of

OPS, GROUP, CARL = Place("slack:#team-ops"), Place("slack:S0OPS"), Place("slack:U0CARL")
POSTED = {OPS: MessageRef(channel="slack", conversation="C0OPS", ts="1.1")}


@pytest.fixture
def directory(channel: SlackChannel, monkeypatch: pytest.MonkeyPatch) -> Directory:
    """Its answers are cached for a minute; a question that needs a fresh answer is always asked."""
    monkeypatch.setattr("bot.people.lookups.MIN_AGE", 0.0)
    return Directory(Channels(channel))


@pytest.fixture
async def recipients(channel: SlackChannel, directory: Directory) -> Recipients:
    return Recipients(Channels(channel), directory, MemoryStore(lambda: START))


def snapshot_at(place: Place, **reviewers: object) -> Snapshot:
    rule = {"notify": place, **({"reviewers": reviewers} if reviewers else {})}
    review, _ = review_of([call("pay")], by=policy(pay=rule))
    return Snapshot(review=review, posts={}, shown={}, now=START)


async def _left(directory: Directory, grant: Grant, quorum: int = 1) -> str:
    snapshot = replace(snapshot_at(OPS), posts=POSTED)
    return await directory.deciders_left([grant], snapshot, quorum)


@pytest.mark.parametrize("quorum", [1, 2])
async def test_who_came_back_a_moment_ago_is_left(
    directory: Directory, sandbox: Sandbox, quorum: int
) -> None:
    """Given reviewers of whom too few were active; when one comes back within the cache's minute, then the
    fallback's people get no right."""
    grant = Grant((OPS,), Reviewers(users=("U0CARL", "U0DANA")))
    for id in ("U0CARL", "U0DANA")[: 3 - quorum]:
        sandbox.workspace.users[id].deleted = True
    assert await _left(directory, grant, quorum) != "enough"
    sandbox.workspace.users["U0CARL"].deleted = False
    assert await _left(directory, grant, quorum) == "enough"


async def test_who_joined_an_empty_group_a_moment_ago_is_left(
    directory: Directory, recipients: Recipients, sandbox: Sandbox
) -> None:
    """Given an empty group; when Carl joins it, then he may decide, and gets a card."""
    group, snapshot = sandbox.workspace.groups["S0OPS"], snapshot_at(GROUP, groups=["S0OPS"])
    grant, group.users[:] = Grant((GROUP,), Reviewers(groups=("S0OPS",))), []
    assert await _left(directory, grant) == "nobody"
    with pytest.raises(NotFound, match="nobody is in"):
        await recipients.copies(snapshot, GROUP)
    group.users.append("U0CARL")
    assert await _left(directory, grant) == "enough"
    assert (await recipients.copies(snapshot, GROUP)).places == [GROUP.for_member("U0CARL")]


async def test_a_guest_who_became_a_member_gets_the_groups_card(
    recipients: Recipients, sandbox: Sandbox
) -> None:
    sandbox.workspace.groups["S0OPS"].users[:] = ["U0CARL"]
    sandbox.workspace.users["U0CARL"].is_restricted = True
    snapshot = snapshot_at(GROUP, groups=["S0OPS"])
    with pytest.raises(NotFound, match="such as guests"):
        await recipients.copies(snapshot, GROUP)
    sandbox.workspace.users["U0CARL"].is_restricted = False
    assert (await recipients.copies(snapshot, GROUP)).places == [GROUP.for_member("U0CARL")]


async def test_a_person_who_came_back_gets_their_card(
    directory: Directory, recipients: Recipients, sandbox: Sandbox
) -> None:
    """Given a card for Carl alone, that others may decide too; he was away, and is back."""
    sandbox.workspace.users["U0CARL"].deleted = True
    snapshot = snapshot_at(CARL, users=["U0DANA"])
    with pytest.raises(NotFound, match="has left"):
        await recipients.check(snapshot, CARL)
    sandbox.workspace.users["U0CARL"].deleted = False
    assert await recipients.check(snapshot, CARL) is None


async def test_a_conversation_that_got_smaller_has_deciders(
    recipients: Recipients, sandbox: Sandbox
) -> None:
    """Its size is cached for ten minutes, and people left."""
    members = sandbox.workspace.channels["C0OPS"].members
    many = [f"U{number:08}" for number in range(MAX_MEMBERS + 1)]
    members += many
    snapshot = snapshot_at(OPS)
    with pytest.raises(NotFound, match="must name “reviewers”"):
        await recipients.check(snapshot, OPS)
    members[:] = [one for one in members if one not in many]
    assert await recipients.check(snapshot, OPS) is None


async def test_nobody_is_certain_only_if_the_fresh_answer_says_so(
    directory: Directory, sandbox: Sandbox
) -> None:
    """Given a reviewer who had left; when Slack gives no answer now, then it is unknown whether they are
    back."""
    grant = Grant((OPS,), Reviewers(users=("U0GONE",)))
    assert await _left(directory, grant) == "nobody"
    sandbox.faults.configure({"mode": "http_500", "method": "users.info", "times": 1})
    with pytest.raises(Unreachable):
        await _left(directory, grant)


async def test_one_person_of_whom_slack_says_nothing_delays_nobody_elses_card(
    recipients: Recipients, channel: SlackChannel, sandbox: Sandbox
) -> None:
    """Given a group with members after one for whom Slack fails; then they have their cards, and he gets his
    when Slack answers."""
    sandbox.faults.configure({"mode": "http_500", "method": "users.info", "times": 1})
    snapshot = snapshot_at(GROUP, groups=["S0OPS"])
    copies = await recipients.copies(snapshot, GROUP)
    assert len(copies.places) == 1
    assert copies.unknown is not None
    both = [GROUP.for_member(one) for one in ("U0CARL", "U0DANA")]
    assert await recipients.copies(snapshot, GROUP) == (both, None)


async def test_slackbot_is_no_member_of_a_group(
    directory: Directory, recipients: Recipients, sandbox: Sandbox
) -> None:
    """Slack's own bot looks like a person, and is in no group unless somebody added it."""
    sandbox.workspace.users["USLACKBOT"] = replace(
        sandbox.workspace.users["U0CARL"], id="USLACKBOT", name="slackbot", real_name="Slackbot"
    )
    sandbox.workspace.groups["S0OPS"].users[:] = ["U0DANA", "USLACKBOT"]
    grant = Grant((GROUP,), Reviewers(groups=("S0OPS",)))
    assert await _left(directory, grant, quorum=2) == "too_few"
    copies = await recipients.copies(snapshot_at(GROUP, groups=["S0OPS"]), GROUP)
    assert copies.places == [GROUP.for_member("U0DANA")]


async def test_who_became_a_member_a_moment_ago_may_decide(
    directory: Directory, sandbox: Sandbox
) -> None:
    """Given Carl, who was refused as a guest, and then as a person who had left; when he is neither, then he
    may decide at once, also if Slack told another bot."""
    snapshot, grant = replace(snapshot_at(OPS), posts=POSTED), Grant((OPS,), Reviewers())
    carl = Reviewer(channel="slack", team="T0ACME", id="U0CARL", name="Carl")
    sandbox.workspace.channels["C0OPS"].members.append("U0CARL")
    for flag in ("is_restricted", "deleted"):
        setattr(sandbox.workspace.users["U0CARL"], flag, True)
        directory.lookups("slack").forget_person("U0CARL")
        with pytest.raises(Refused):
            await directory.check_can_decide(carl, snapshot, [grant])
        setattr(sandbox.workspace.users["U0CARL"], flag, False)
        await directory.check_can_decide(carl, snapshot, [grant])
