"""What a person must read before they approve it: the seal of a button says whether its card showed all of
it.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from bot.card import build_card, find_open_action
from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.inbox import Choose, Inbox, InboxCommand, Press
from bot.people import Directory
from hitl_core.model import DEFAULT_PLACE, Review, Reviewer
from hitl_core.review import Decide, DecideAll, Reviews
from hitl_core.store import MemoryStore
from tests.support.builders import call, policy, proposal, review_of

#: More than a card shows, and less than the Review modal does.
LONG = "x" * 5_000
RULE = {"must_read": True, "reviewers": {"users": ["U0ALICE"]}}


class Desk:
    """One review, a bot, and Alice."""

    def __init__(self, channel: SlackChannel) -> None:
        self.store = MemoryStore()
        self.inbox = Inbox(Reviews(self.store), Directory(Channels(channel)))
        self.alice = Reviewer(channel="slack", team=channel.team, id="U0ALICE", name="Alice")
        self._clicks = 0

    async def ask(self, *texts: str, **rule: Any) -> Review:
        calls = [call("mail", f"c{n}", text=text) for n, text in enumerate(texts)]
        review, event = review_of(calls, by=policy(mail={**RULE, **rule}))
        await Reviews(self.store).submit(review, event)
        return review

    async def press(self, value: str) -> str:
        """The code of the reply."""
        self._clicks += 1
        command = Press.parse(value).command(self.alice, f"op-{self._clicks}")
        assert command is not None
        return await self.send(command)

    async def send(self, command: InboxCommand) -> str:
        return (await self.inbox.apply(command)).code


@pytest.fixture
def desk(channel: SlackChannel) -> Desk:
    return Desk(channel)


def approval(review: Review, seal: str, key: str = "1", revision: int = 1) -> str:
    return f"approve.{review.id}.{key}.{revision}.{seal}"


async def test_an_approval_draws_no_card(desk: Desk) -> None:
    """Given a small and a large action that must be read, when both are approved; then no card is drawn to
    see what it shows."""
    review = await desk.ask("short", "x" * 200_000)
    [small, large] = build_card(review, DEFAULT_PLACE).open_actions
    drawn = set[str]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and "/bot/card/" in frame.f_code.co_filename:
            drawn.add(frame.f_code.co_qualname)

    sys.setprofile(note)
    try:
        codes = [await desk.press(approval(review, one.seal, one.key)) for one in (small, large)]
    finally:
        sys.setprofile(None)

    assert codes == ["ok", "unread"]
    assert drawn <= {"<genexpr>"}


async def test_what_the_card_cuts_is_refused_by_any_button_of_it(desk: Desk) -> None:
    """Given a button of a card that cuts the action, which somebody made an Approve; then it approves
    nothing, and nor does one of a list, or one without a seal. After Alice has read it, it counts."""
    review = await desk.ask(LONG, "short")
    cut, whole = build_card(review, DEFAULT_PLACE).open_actions
    assert (cut.reads_first, whole.reads_first) == (True, False)
    both = review.seal("1", "2", is_whole=False)

    assert await desk.press(approval(review, cut.seal)) == "unread"
    assert await desk.press(f"approve_all.{review.id}.1:1,2:1..{both}") == "unread"
    assert await desk.send(Decide(review.id, "1", proposal(), desk.alice, "o1")) == "unread"
    proposals = {key: proposal() for key in ("1", "2")}
    assert await desk.send(DecideAll(review.id, proposals, desk.alice, "o2")) == "unread"

    await desk.inbox.access.read_marks.record(Press.parse(approval(review, "")).target, desk.alice)
    assert await desk.press(approval(review, cut.seal)) == "ok"


async def test_no_seal_of_another_button_approves_what_is_cut(desk: Desk) -> None:
    """Given an action that the card cuts; then the seal of the whole action beside it, of both together, a
    shorter one and one in capitals approve nothing."""
    review = await desk.ask(LONG, "short")
    cut, whole = build_card(review, DEFAULT_PLACE).open_actions
    others = [whole.seal, review.seal("1", "2", is_whole=True), cut.seal[:8], cut.seal.upper(), ""]

    assert [await desk.press(approval(review, seal)) for seal in others] == ["stale"] * 5


async def test_the_button_of_a_revision_that_was_whole_approves_no_other(desk: Desk) -> None:
    """Given a card that showed all of revision 1, and an edit that made it long; then the old button approves
    nothing, with either number of the revision."""
    review = await desk.ask(
        "short", reviewers={"users": ["U0ALICE", "U0BOB"], "editor_approves": False}
    )
    old = build_card(review, DEFAULT_PLACE).open_actions[0].seal
    edit = proposal("edit", text=LONG)._replace(seal=old)
    assert await desk.send(Decide(review.id, "1", edit, desk.alice, "edit")) == "ok"

    assert await desk.press(approval(review, old)) == "stale"
    assert await desk.press(approval(review, old, revision=2)) == "stale"


async def test_an_edit_that_approves_needs_the_reading_too(desk: Desk) -> None:
    review = await desk.ask(LONG)
    [cut] = build_card(review, DEFAULT_PLACE).open_actions
    edit = proposal("edit", text="y")._replace(seal=cut.seal)

    assert await desk.send(Decide(review.id, "1", edit, desk.alice, "edit")) == "unread"


async def test_where_it_was_whole_its_button_counts(desk: Desk) -> None:
    """Given an action that the card cuts, and a view with more room in which Alice saw all of it; then the
    button of that view approves."""
    review = await desk.ask(LONG)
    [cut] = build_card(review, DEFAULT_PLACE).open_actions
    whole = find_open_action(review, "1")

    assert (cut.reads_first, whole.reads_first) == (True, False)
    assert await desk.press(approval(review, whole.seal)) == "ok"


async def test_a_choice_of_what_is_cut_needs_the_reading(desk: Desk) -> None:
    """Given a question whose answer runs the tool, and a text that is cut; then no choice counts unread."""
    schema = {"enum": ["oceans", "rivers"]}
    review = await desk.ask(LONG, answer_schema=schema, allowed_decisions=["approve", "reject"])
    [cut] = build_card(review, DEFAULT_PLACE).open_actions
    target = Press.parse(approval(review, cut.seal)).target

    assert await desk.send(Choose(target, 0, desk.alice, "op")) == "unread"
