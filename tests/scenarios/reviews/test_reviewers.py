"""Who may decide, and how many people must approve."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hitl_core.errors import InvalidToolCall
from tests.support.bots import Scene, email
from tests.support.clicks import audit_events, forge_click, refusals, send
from tests.support.slack import APPROVALS, OPS, buttons, review_of, text_of
from tests.support.waiting import wait_until

RULE = """
default: review
interrupt_on:
  send_email:
    allowed_decisions: [approve, edit, reject]
    args_schema:
      type: object
      properties: {to: {type: string}, copies: {type: integer, minimum: 1, maximum: 9}}
      required: [to, copies]
"""


def policy(**keys: Any) -> str:
    return RULE + "".join(f"    {key}: {value}\n" for key, value in keys.items())


async def press_refused(scene: Scene, person: Any, card: Any, action: str = "approve") -> str:
    """What this person is told, privately; the card's review is as it was."""
    before = len(await person.notices())
    await person.press(card, action)

    async def has_notice() -> bool:
        return len(await person.notices()) > before

    await wait_until("a sentence", has_notice)
    return await person.last_notice()


async def test_only_the_named_may_decide_and_others_are_told_who(scene: Scene) -> None:
    """T27: given a rule that names Bob and a group; when Alice presses, a member of the channel, then she is
    told who may; Bob's word counts, and her attempt is in the audit."""
    await scene.bot()
    gate = await scene.gate(policy(reviewers="{users: [U0BOB], groups: [S0OPS]}"))
    waiting = scene.ask(gate)
    card = await scene.card("send_email")

    text = await press_refused(scene, scene.alice, card)
    assert "Bob Reyes" in text
    assert "@ops" in text
    await scene.bob.press(card, "approve")

    assert (await waiting).execute
    assert await refusals(scene) == [("U0ALICE", "not_permitted")]


@pytest.mark.every_reply
async def test_who_was_deactivated_is_refused_at_once(scene: Scene) -> None:
    """T28: given Bob, who may decide and was just seen to; when he is deactivated and Slack says so, then his
    next click is refused."""
    await scene.bot()
    gate = await scene.gate(policy(reviewers="{users: [U0BOB, U0ALICE], quorum: 2}"))
    waiting = scene.ask(gate)
    card = await scene.card("send_email")
    await scene.bob.press(card, "approve")
    await scene.card("1 of 2")
    scene.ask(gate, thread_id="second")
    second = await scene.card("thread “second”")

    scene.sandbox.users.deactivate("U0BOB")
    await scene.sandbox.events.wait_delivered()
    # His click was on its way: Slack itself lets nobody press who has left.
    await send(scene, await forge_click(scene, second, "approve", "U0BOB"))

    assert await refusals(scene) == [("U0BOB", "not_permitted")]
    review = (await gate.reviews.load(review_of(second))).review
    assert review.actions[0].votes == ()
    assert not waiting.done()


async def test_a_vote_counts_only_while_its_voter_may_vote(scene: Scene) -> None:
    """T33: given a quorum of two of a group; when the first voter leaves the group before the second votes,
    then one approval is still needed, and nothing runs."""
    await scene.bot()
    gate = await scene.gate(policy(reviewers="{groups: [S0FINANCE], quorum: 2}"))
    waiting = scene.ask(gate)
    card = await scene.card("send_email")
    await scene.alice.press(card, "approve")
    await scene.card("1 of 2")

    scene.sandbox.groups.set_members("S0FINANCE", ["U0BOB", "U0MARIA"])
    await scene.sandbox.events.wait_delivered()
    await scene.bob.press(card, "approve")

    async def only_bob_votes() -> bool:
        action = (await gate.reviews.load(review_of(card))).review.actions[0]
        return [vote.by.id for vote in action.votes] == ["U0BOB"]

    await wait_until("Alice's vote is void", only_bob_votes)
    assert not waiting.done()


@pytest.mark.parametrize("who", ["U0GINA", "U0SOLO"])
async def test_guests_decide_only_by_name(scene: Scene, who: str) -> None:
    """T26: given a card in a channel where guests are members; when one presses, then they are refused; named
    in the policy, they decide."""
    await scene.bot()
    there = policy(notify="slack:#guests")
    gate = await scene.gate(there)
    waiting = scene.ask(gate)
    guest = scene.person(who)
    card = await scene.card("send_email", channel="C0GUESTS", viewer=who)
    await press_refused(scene, guest, card)
    assert not waiting.done()

    named = await scene.gate(there + f"    reviewers: {{users: [{who}]}}\n")
    allowed = scene.ask(named, thread_id="second")
    second = await scene.card("thread “second”", channel="C0GUESTS", viewer=who)
    await guest.press(second, "approve")
    assert (await allowed).execute


async def test_a_stranger_of_a_shared_channel_decides_only_by_name(scene: Scene) -> None:
    """T25: given Sam of another workspace in a shared channel; then he is refused as anybody else of
    elsewhere; named, he decides."""
    await scene.bot()
    there = policy(notify="slack:#shared-globex")
    waiting = scene.ask(await scene.gate(there))
    sam = scene.person("U0SAM", team="T0GLOBEX")
    card = await scene.card("send_email", channel="C0SHARED", viewer="U0SAM")
    assert (
        await press_refused(scene, sam, card)
        == "Only people of this workspace or organization may decide."
    )
    assert not waiting.done()

    named = await scene.gate(there + "    reviewers: {users: [U0SAM]}\n")
    allowed = scene.ask(named, thread_id="second")
    second = await scene.card("thread “second”", channel="C0SHARED", viewer="U0SAM")
    await sam.press(second, "approve")
    assert (await allowed).execute


@pytest.mark.parametrize("named", ["T0ELSEWHERE", "E0ACME"])
async def test_a_person_of_several_workspaces_of_one_organization_decides(
    scene: Scene, named: str
) -> None:
    """Given Alice, who is of two workspaces of an Enterprise Grid, and whose clicks name the other one, or
    the organization; then she decides as a member. Bob, who is only of that other one, does not."""
    scene.sandbox.users.change("U0ALICE", grid_teams=("T0ELSEWHERE", "T0ACME"))
    scene.sandbox.users.change("U0BOB", grid_teams=("T0ELSEWHERE",))
    await scene.bot()
    waiting = scene.ask(await scene.gate(policy()))
    card = await scene.card("send_email")
    text = await press_refused(scene, scene.person("U0BOB", named), card)
    assert text == "Only people of this workspace or organization may decide."
    await scene.person("U0ALICE", named).press(card, "approve")
    assert (await waiting).execute


async def test_two_people_approve_the_same_revision(scene: Scene) -> None:
    """Given a quorum of two; when Alice approves twice she counts once; with Bob's approval it runs, and the
    card names both."""
    await scene.bot()
    gate = await scene.gate(policy(reviewers="{channel_members: true, quorum: 2}"))
    waiting = scene.ask(gate)
    card = await scene.card("send_email")
    await scene.alice.press(card, "approve")
    card = await scene.card("1 of 2")
    assert "already" in await press_refused(scene, scene.alice, card)
    assert not waiting.done()
    await scene.bob.press(card, "approve")

    assert (await waiting).execute
    done = text_of(await scene.card("approved by"))
    assert "U0ALICE" in done
    assert "U0BOB" in done


async def test_an_edit_voids_the_approvals_before_it(scene: Scene) -> None:
    """T43: given a quorum of two and Alice's approval; when Bob edits, then her approval is void and his
    doesn't count: Alice and Maria must approve what Bob wrote, and exactly that runs."""
    await scene.bot()
    gate = await scene.gate(policy(reviewers="{channel_members: true, quorum: 2}"))
    waiting = scene.ask(gate)
    card = await scene.card("send_email")
    await scene.alice.press(card, "approve")
    card = await scene.card("1 of 2")
    await scene.bob.press(card, "edit")
    assert (await scene.bob.submit(copies=3))["ok"]

    card = await scene.card("Needs 2 approvals")
    assert "yourself" in await press_refused(scene, scene.bob, card)
    await scene.alice.press(card, "approve")
    card = await scene.card("1 of 2")
    await scene.person("U0MARIA").press(card, "approve")

    outcome = await waiting
    assert [call.args["copies"] for call in outcome.execute] == [3]


async def test_one_rejection_rejects_and_a_reject_quorum_says_otherwise(scene: Scene) -> None:
    """Given two approvals are needed; then one rejection ends it. With `reject_quorum: 2` it takes two."""
    await scene.bot()
    two = await scene.gate(policy(reviewers="{channel_members: true, quorum: 2}"))
    waiting = scene.ask(two)
    card = await scene.card("send_email")
    await scene.alice.press(card, "reject")
    assert (await scene.alice.submit(message="No."))["ok"]
    assert not (await waiting).execute

    both = "{channel_members: true, quorum: 2, reject_quorum: 2}"
    lasting = scene.ask(await scene.gate(policy(reviewers=both)), thread_id="second")
    second = await scene.card("thread “second”")
    for person in (scene.alice, scene.bob):
        await person.press(second, "reject")
        assert (await person.submit(message="No."))["ok"]
    assert not (await lasting).execute


async def test_the_requester_never_approves_their_own_action(scene: Scene) -> None:
    """Given `exclude_requester`; when the requester presses Approve, then they are told that another person
    has to; and a submit that names nobody is refused, since nobody could be excluded."""
    await scene.bot()
    own = "{channel_members: true, exclude_requester: true}"
    gate = await scene.gate(policy(reviewers=own))
    waiting = scene.ask(gate, requester="U0ALICE")
    card = await scene.card("send_email")
    assert "another person" in await press_refused(scene, scene.alice, card)
    await scene.bob.press(card, "approve")
    assert (await waiting).execute

    with pytest.raises(InvalidToolCall, match="requester"):
        await gate.submit([email()], thread_id="t-anonymous")


async def test_many_clicks_of_one_person_are_one_vote(scene: Scene) -> None:
    """T40: given two bots and a quorum of two; when Alice presses 20 times at once, then she has one vote."""
    await scene.bot()
    await scene.bot()
    gate = await scene.gate(policy(reviewers="{channel_members: true, quorum: 2}"))
    waiting = scene.ask(gate)
    card = await scene.card("send_email")
    await asyncio.gather(*(scene.alice.press(card, "approve") for _ in range(20)))
    review = (await gate.reviews.load(review_of(card))).review
    assert len(review.actions[0].votes) == 1
    assert not waiting.done()


async def test_a_name_gives_no_right(scene: Scene) -> None:
    """T32: given Carl, who may not decide; when he takes Bob's name, then he still may not."""
    await scene.bot()
    gate = await scene.gate(policy(reviewers="{users: [U0BOB]}"))
    waiting = scene.ask(gate)
    card = await scene.card("send_email")
    scene.sandbox.users.rename("U0CARL", "Bob Reyes")
    await scene.sandbox.events.wait_delivered()
    await press_refused(scene, scene.carl, card)
    assert not waiting.done()


async def test_a_policy_that_was_loosened_since_counts_for_nothing(scene: Scene) -> None:
    """T46: given a review under a rule that names Bob; when the policy is loosened meanwhile, then Alice is
    still refused: what was frozen counts."""
    await scene.bot()
    strict = await scene.gate(policy(reviewers="{users: [U0BOB]}"))
    waiting = scene.ask(strict, thread_id="t-1")
    card = await scene.card("send_email")
    await scene.gate(policy())
    await press_refused(scene, scene.alice, card)
    assert not waiting.done()
    assert buttons(card, "approve")
    assert card["channel"] == APPROVALS


async def test_the_audit_says_at_which_place_a_person_acted(scene: Scene) -> None:
    """Given a card in a channel; when Alice edits the call in a form and may not approve that herself, and
    Bob and Dana approve; then each entry names the place."""
    await scene.bot()
    gate = await scene.gate(
        policy(notify='"slack:#team-ops"', reviewers="{users: [U0ALICE, U0BOB, U0DANA], quorum: 2}")
    )
    waiting = scene.ask(gate)
    card = await scene.card("send_email", channel=OPS)
    await scene.alice.press(card, "edit")
    assert (await scene.alice.submit(copies=3))["ok"]
    edited = await scene.card("edited by", channel=OPS)
    await press_refused(scene, scene.alice, edited)
    await scene.bob.press(edited, "approve")
    await scene.card("1 of 2", channel=OPS)
    await scene.dana.press(edited, "approve")
    await waiting

    by_people = [each for each in await audit_events(scene) if each.get("by")]
    assert [(each["kind"], each.get("place")) for each in by_people] == [
        (kind, "slack:#team-ops") for kind in ("edited", "refused", "voted", "decided")
    ]
