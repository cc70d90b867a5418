"""A Home shows a review once, with all that its person may decide, also if that is in several places."""

from __future__ import annotations

from typing import Any

import pytest

from bot.channels.registry import Channels
from bot.channels.slack.channel import SlackChannel
from bot.inbox import Home, HomeLoader
from bot.people.directory import Directory
from hitl_core.model import Reviewer
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from tests.support.builders import call, policy, review_of

ALICE = Reviewer(channel="slack", team="T0ACME", id="U0ALICE", name="Alice")
ALICES = {"reviewers": {"users": ["U0ALICE"]}}
CARLS = {"reviewers": {"users": ["U0CARL"]}}


async def home_with(channel: SlackChannel, **rules: dict[str, Any]) -> Home:
    """Alice's Home, with one review that she asked for, and that has a call for each rule."""
    reviews, calls = Reviews(MemoryStore()), [call(name, id=name) for name in rules]
    await reviews.submit(*review_of(calls, by=policy(**rules), requester="U0ALICE"))
    directory = Directory(Channels(channel))
    return await HomeLoader(reviews, Channels(channel), directory).load_home(ALICE)


@pytest.mark.parametrize("first", ["pay", "mail"])
async def test_a_title_counts_all_actions_of_the_person_and_their_deadline_is_shown(
    channel: SlackChannel, first: str
) -> None:
    """Given a review whose two actions are shown in two channels, one of them with a deadline; then its title
    in the Home counts both, and the deadline is there, whichever channel comes first."""
    rules = {
        "mail": {**ALICES, "notify": "slack:#team-ops"},
        "pay": {**ALICES, "notify": "slack:#finance", "expire": {"after": "4h"}},
    }
    home = await home_with(channel, **{first: rules.pop(first)}, **rules)

    [task] = home.mine
    assert task.card.title == "billing asks to run 2 tools"
    assert task.card.deadline is not None
    assert task.card.deadline.name == "pay"


async def test_a_title_counts_no_actions_of_others(channel: SlackChannel) -> None:
    """Given a review of which one action in the same channel is for another person; then the title is about
    the action that is shown."""
    home = await home_with(channel, mail=ALICES, pay={**CARLS, "expire": {"after": "4h"}})

    [task] = home.mine
    assert task.card.title == "billing asks to run mail"
    assert task.card.deadline is None
