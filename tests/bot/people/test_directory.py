"""Who may decide, according to Slack's answers."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.people import People
from bot.people.directory import Directory
from bot.people.lookups import sized_mark
from hitl_core.errors import Refused
from hitl_core.model import (
    DeliveryProblem,
    Grant,
    MessageRef,
    Place,
    Reviewer,
    Reviewers,
    Snapshot,
)
from slack_sandbox.sandbox import Sandbox
from tests.support.builders import review_of

OPS = MessageRef(channel="slack", conversation="C0OPS", ts="1.1")
GUESTS = MessageRef(channel="slack", conversation="C0GUESTS", ts="1.1")
SHARED = MessageRef(channel="slack", conversation="C0SHARED", ts="1.1")
POSTS = {
    Place("slack:#team-ops"): OPS,
    Place("slack:#guests"): GUESTS,
    Place("slack:#shared-globex"): SHARED,
}

OF_OPS = Grant((Place("slack:#team-ops"),), Reviewers())
OF_GUESTS = Grant((Place("slack:#guests"),), Reviewers())
OF_SHARED = Grant((Place("slack:#shared-globex"),), Reviewers())
NOBODY_YET = Grant((Place("slack:#not-posted"),), Reviewers())


def grant_for(*users: str, groups: tuple[str, ...] = ()) -> Grant:
    return Grant((Place("slack:#team-ops"),), Reviewers(users=users, groups=groups))


def person(id: str, team: str = "T0ACME", channel: str = "slack") -> Reviewer:
    return Reviewer(channel=channel, team=team, id=id, name=id)


def snapshot() -> Snapshot:
    review, _ = review_of()
    return Snapshot(review=review, posts=POSTS, shown={}, now=0.0)


@pytest.fixture
def directory(channel: SlackChannel) -> Directory:
    return Directory(Channels(channel))


@pytest.mark.parametrize(
    ("who", "grant", "may"),
    [
        (person("U0DANA"), OF_OPS, True),
        (person("U0ALICE"), OF_OPS, False),
        (person("U0APPROVER"), OF_OPS, False),  # a bot that is a member
        (person("U0AGENT"), grant_for("U0AGENT"), False),  # a bot, under any name
        (person("U0GONE"), grant_for("U0GONE"), False),  # left
        (person("U0STRANGER"), grant_for("U0STRANGER"), False),  # nobody knows them
        (person("U0GINA"), OF_GUESTS, False),
        (person("U0SOLO"), OF_GUESTS, False),
        (person("U0GINA"), grant_for("U0GINA"), True),
        (person("U0SAM", "T0GLOBEX"), OF_SHARED, False),
        (person("U0SAM", "T0GLOBEX"), grant_for("U0SAM"), True),
        (person("U0ALICE", "T0GLOBEX"), OF_SHARED, False),  # our id, another team
        (person("U0ALICE", ""), OF_SHARED, False),
        (person("U0CARL"), grant_for(groups=("S0OPS",)), True),
        (person("U0ALICE"), grant_for(groups=("S0OPS",)), False),
        (person("U0BOB"), grant_for(groups=("S0OLD",)), False),  # a disabled group
        (person("U0BOB"), grant_for(groups=("S0NONE",)), False),  # no such group
        (person("U0MARIA"), Grant((Place("slack:U0MARIA"),), Reviewers()), True),
        (person("U0BOB"), Grant((Place("slack:U0MARIA"),), Reviewers()), False),
        (person("U0BOB"), Grant((Place("slack:S0FINANCE"),), Reviewers()), True),
        (person("U0CARL"), Grant((Place("slack:S0FINANCE"),), Reviewers()), False),
        (person("root", "", "cli"), OF_OPS, True),  # the command line says who uses it
    ],
)
async def test_who_may_decide(directory: Directory, who: Reviewer, grant: Grant, may: bool) -> None:
    """T25 to T27."""
    if may:
        await directory.check_can_decide(who, snapshot(), [grant])
    else:
        with pytest.raises(Refused):
            await directory.check_can_decide(who, snapshot(), [grant])


async def test_a_person_of_several_workspaces_may_decide_before_their_name_is_known(
    directory: Directory, sandbox: Sandbox
) -> None:
    """Given Dana, who is of two workspaces of one organization, and a click that names the other one, as her
    name was not known in time; then she may decide, and Carl, who is only of the other one, may not."""
    sandbox.users.change("U0DANA", grid_teams=("T0ELSEWHERE", "T0ACME"))
    sandbox.users.change("U0CARL", grid_teams=("T0ELSEWHERE",))
    await directory.check_can_decide(person("U0DANA", "T0ELSEWHERE"), snapshot(), [OF_OPS])
    with pytest.raises(Refused):
        await directory.check_can_decide(person("U0CARL", "T0ELSEWHERE"), snapshot(), [OF_OPS])


async def test_any_grant_is_enough(directory: Directory) -> None:
    """Given a rule that names Bob, and an escalation to #team-ops; then Bob and Dana may, and Alice may
    not."""
    grants = [grant_for("U0BOB"), OF_OPS]
    for who in ("U0BOB", "U0DANA"):
        await directory.check_can_decide(person(who), snapshot(), grants)
    with pytest.raises(
        Refused, match=r"Only “Bob Reyes” \(U0BOB\) or members of #team-ops may decide this"
    ):
        await directory.check_can_decide(person("U0ALICE"), snapshot(), grants)


async def test_where_the_card_is_not_noted_yet_pressing_again_is_asked_for(
    directory: Directory,
) -> None:
    with pytest.raises(Refused) as refused:
        await directory.check_can_decide(person("U0ALICE"), snapshot(), [NOBODY_YET])
    assert refused.value.code == "unknown_members"


@pytest.mark.parametrize("who", [person("U0SAM", "T0GLOBEX"), person("U0SAM"), person("U0GINA")])
async def test_who_may_never_decide_is_not_told_to_press_again(
    directory: Directory, who: Reviewer
) -> None:
    """Given a card that is not recorded yet; then a guest and a person of another workspace, whom the policy
    doesn't name, are refused as everywhere: they must not find out which reviews exist, and no press of
    theirs will count."""
    with pytest.raises(Refused) as refused:
        await directory.check_can_decide(who, snapshot(), [NOBODY_YET])
    assert refused.value.code == "not_permitted"


async def test_a_person_of_another_workspace_has_no_other_identity_wherever_they_come_from(
    channel: SlackChannel,
) -> None:
    """Given a file that joins Sam of another workspace with Dana, who may decide; then Sam may not: neither
    by a button, which says his workspace, nor in his Home, which does not."""
    people = People([{"slack:U0SAM", "slack:U0DANA"}])
    directory = Directory(Channels(channel), people)
    for team in ("T0GLOBEX", "T0ACME"):
        sam = await directory.load_reviewer("slack", "U0SAM", team, "Sam")
        with pytest.raises(Refused, match="Only people of this workspace"):
            await directory.check_can_decide(sam, snapshot(), [OF_OPS, grant_for("U0DANA")])
        assert [id for _, id in directory.identities(sam)] == ["U0SAM"]


async def test_a_name_that_is_cut_within_a_character_can_be_stored(
    directory: Directory, sandbox: Sandbox
) -> None:
    """Given a name that ends with half of an emoji, which no store takes; then its person can decide."""
    name = "Ann \ud83d"
    sandbox.users.change("U0ALICE", real_name=name)
    for id in ("U0ALICE", "U0NOBODY"):  # who is only known by the click
        who = await directory.load_reviewer("slack", id, "T0ACME", name)
        assert (who.name, "Ann ?" in who.model_dump_json()) == ("Ann ?", True)


async def test_a_card_that_can_not_be_shown_is_not_waited_for(directory: Directory) -> None:
    """Given an action that is shown in #team-ops, and can't be shown at its other place; when Alice presses,
    who may not decide, then she is told who may, and that members of the other place can't now: she was told
    to press again, each time. Where no card is shown at all, it is not known."""
    seen = snapshot()
    why = DeliveryProblem(why="there is no such channel", since=0.0)
    review = seen.review.model_copy(update={"delivery_problems": {Place("slack:#not-posted"): why}})
    for posts, code in ((POSTS, "not_permitted"), ({}, "unknown_members")):
        here = replace(seen, review=review, posts=posts)
        with pytest.raises(Refused) as refused:
            await directory.check_can_decide(person("U0ALICE"), here, [OF_OPS, NOBODY_YET])
        assert refused.value.code == code
        lost = "Members of #not-posted can't until the review's card can be shown there."
        assert (lost in str(refused.value)) == bool(posts)


async def test_what_was_looked_up_is_asked_once_a_minute(
    directory: Directory, sandbox: Sandbox
) -> None:
    before = len(sandbox.api.calls)
    for _ in range(5):
        await directory.check_can_decide(person("U0DANA"), snapshot(), [OF_OPS])
    methods = [call["method"] for call in sandbox.api.calls[before:]]
    assert sorted(methods) == ["conversations.info", "conversations.members", "users.info"]


async def test_members_of_a_large_conversation_have_a_right_only_if_it_was_small_before(
    directory: Directory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a card that was posted for other people; then it gives the members of a conversation that is too
    large nothing; but one that grew since its members got their right takes it from nobody."""
    monkeypatch.setattr("bot.people.lookups.MAX_MEMBERS", 1)
    with pytest.raises(Refused):
        await directory.check_can_decide(person("U0DANA"), snapshot(), [OF_OPS])
    marks = frozenset({sized_mark(Place("slack:#team-ops"))})
    marked = replace(snapshot(), marks=marks)
    await directory.check_can_decide(person("U0DANA"), marked, [OF_OPS])


async def test_without_the_size_of_a_conversation_its_members_have_no_right(
    directory: Directory, sandbox: Sandbox
) -> None:
    sandbox.faults.configure({"mode": "http_500", "method": "conversations.info", "times": 1})
    with pytest.raises(Refused, match="look"):
        await directory.check_can_decide(person("U0DANA"), snapshot(), [OF_OPS])
    await directory.check_can_decide(person("U0DANA"), snapshot(), [OF_OPS])


async def test_a_person_who_was_just_added_may_decide(
    directory: Directory, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given Alice, who was refused; when she is added and Slack's event is lost; then she may decide 3 s
    later."""
    with pytest.raises(Refused):
        await directory.check_can_decide(person("U0ALICE"), snapshot(), [OF_OPS])
    sandbox.workspace.channels["C0OPS"].members.append("U0ALICE")
    with pytest.raises(Refused):
        await directory.check_can_decide(person("U0ALICE"), snapshot(), [OF_OPS])
    monkeypatch.setattr("bot.people.lookups.MIN_AGE", 0.0)
    await directory.check_can_decide(person("U0ALICE"), snapshot(), [OF_OPS])


@pytest.mark.parametrize("mode", ["http_500", "ratelimited", "channel_not_found"])
async def test_without_an_answer_of_slack_nobody_decides_and_the_next_try_counts(
    directory: Directory, sandbox: Sandbox, mode: str
) -> None:
    sandbox.faults.configure({"mode": mode, "method": "conversations.members", "times": 1})
    with pytest.raises(Refused) as refused:
        await directory.check_can_decide(person("U0DANA"), snapshot(), [OF_OPS])
    assert refused.value.code == "unavailable"
    await directory.check_can_decide(person("U0DANA"), snapshot(), [OF_OPS])


@pytest.mark.parametrize(
    ("grants", "anybody"),
    [
        ([OF_OPS], True),
        ([grant_for("U0GONE")], False),
        ([grant_for("U0GONE", "U0BOB")], True),
        ([grant_for("U0AGENT")], False),
        ([grant_for(groups=("S0OLD",))], False),
        ([grant_for(groups=("S0OPS",))], True),
        ([Grant((Place("slack:U0GONE"),), Reviewers())], False),
        ([Grant((Place("slack:S0OLD"),), Reviewers())], False),
        ([grant_for("U0GONE"), OF_OPS], True),
    ],
)
async def test_whether_somebody_is_left(
    directory: Directory, grants: list[Grant], anybody: bool
) -> None:
    left = "enough" if anybody else "nobody"
    unposted = replace(snapshot(), posts={})
    assert await directory.deciders_left(grants, unposted) == left


async def test_the_names_of_all_who_may_are_told(directory: Directory) -> None:
    grants = [grant_for("U0BOB", groups=("S0OPS",)), OF_GUESTS]
    for one, two in itertools.pairwise([grants, grants]):
        assert await directory.format_deciders(one) == await directory.format_deciders(two)
    assert (
        await directory.format_deciders(grants) == "“Bob Reyes” (U0BOB), @ops or members of #guests"
    )


async def test_a_guest_reads_why_members_may_decide_and_they_may_not(directory: Directory) -> None:
    """Given a guest who is in the channel; then the refusal says what guests need. Given a member who is not
    in it, then it says nothing about guests."""
    for who, ends in (("U0GINA", ", and guests only if the policy names them."), ("U0DANA", ".")):
        with pytest.raises(Refused) as refused:
            await directory.check_can_decide(person(who), snapshot(), [OF_GUESTS])
        assert str(refused.value) == f"Only members of #guests may decide this{ends}"
