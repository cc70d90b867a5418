"""The pages that people read before they decide, in a channel made for this test."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from bot.card import Argument, plain_text
from bot.channels.contract import Channel
from bot.channels.registry import Channels
from bot.inbox import ActionPage, ActionRef, Inbox, action_page, arguments_page
from bot.inbox.reading import file_name
from bot.people import Directory
from hitl_core import Gate, Policy, ToolCall
from hitl_core.errors import Refused
from hitl_core.model import DEFAULT_PLACE, Place
from hitl_core.review import Decide, Proposal, Reviews
from hitl_core.store import MemoryStore
from tests.bot.forms.world import CHANNEL, OPERATOR

TARGET = ActionRef("rev-1", "1", 1)
THREE = [ToolCall(f"c{n}", f"tool_{n}", {"n": n}) for n in (1, 2, 3)]


class World:
    """One review of three calls, and a bot."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        directory = Directory(Channels(cast(Channel, CHANNEL)))
        self.inbox = Inbox(Reviews(self.store), directory)
        self.id = ""

    async def ask(self, **rule: Any) -> None:
        policy = Policy.from_mapping({"default": "review", "interrupt_on": {"*": rule or True}})
        gate = Gate(self.store, policy=policy, agent="agent")
        self.id = await gate.submit(THREE, thread_id="t")

    async def approve(self, key: str) -> None:
        reply = await self.inbox.apply(Decide(self.id, key, Proposal("approve", 1), OPERATOR, key))
        assert reply.code == "ok"

    async def read(self, number: int, *, next_pending: bool = False) -> ActionPage:
        return await self.inbox.reader.action(
            self.id, DEFAULT_PLACE, number, OPERATOR, next_pending=next_pending
        )


@pytest.fixture
def world() -> World:
    return World()


async def test_the_actions_of_a_card_are_read_one_by_one(world: World) -> None:
    """Given three actions; then each page has one, with buttons to its neighbours, and a page that is too
    high is the last one."""
    await world.ask()
    pages = [await world.read(number) for number in range(4)]
    assert [page.action.name for page in pages if page.action] == [
        "tool_1",
        "tool_2",
        "tool_3",
        "tool_3",
    ]
    assert [[one.number for one in page.buttons] for page in pages[:3]] == [[1], [0, 2], [1]]


async def test_the_next_pending_action_is_searched_around(world: World) -> None:
    """Given three actions of which two are decided; then from each page the next one is the third; with all
    decided the page stays."""
    await world.ask(must_read=False)
    await world.approve("1")
    await world.approve("3")
    assert [(await world.read(at, next_pending=True)).number for at in range(3)] == [1, 1, 1]
    await world.approve("2")
    assert [(await world.read(at, next_pending=True)).number for at in range(3)] == [0, 1, 2]


async def test_what_is_held_is_read_without_answers(world: World) -> None:
    """Given a held review; then its pages and all its arguments have no answers, because none would count."""
    await world.ask()
    seen = await world.inbox.access.load_permitted(world.id, ["1"], OPERATOR)
    reader, target = world.inbox.reader, ActionRef(world.id, "1", 1)
    for held in (False, True):
        one = replace(seen, held=held)
        page = await reader.action(world.id, DEFAULT_PLACE, 0, OPERATOR, one)
        assert page.action is not None
        assert bool(page.action.allowed) is not held
        all_of_it = await reader.arguments(target, 0, OPERATOR, lambda each: [each], one)
        assert ("approve" in {button.verb for button in all_of_it.buttons}) is not held


@pytest.mark.parametrize("must_read", [True, False])
async def test_a_page_counts_as_read_only_where_the_policy_wants_it(
    world: World, must_read: bool
) -> None:
    await world.ask(must_read=must_read)
    page = await world.read(1)
    assert page.reads == (ActionRef(world.id, "2", 1) if must_read else None)


async def test_nothing_is_shown_at_another_place(world: World) -> None:
    await world.ask()
    with pytest.raises(Refused):
        await world.inbox.reader.action(world.id, Place("slack:#elsewhere"), 0, OPERATOR)
    review = (await Reviews(world.store).load(world.id)).review
    assert action_page(review, Place("slack:#elsewhere"), 0).action is None


async def test_all_arguments_say_who_asks_and_until_when(world: World) -> None:
    """Given a call with a deadline; then the page of all its arguments says who asks for
    it, and what happens by when."""
    await world.ask(expire={"after": "1h", "decision": "reject"})
    target = ActionRef(world.id, "1", 1)
    page = await world.inbox.reader.arguments(target, 0, OPERATOR, lambda arguments: [arguments])
    assert plain_text(page.asker).startswith("Asked by agent  ·  rejected unless decided in time")


def test_only_the_last_page_completes_the_reading() -> None:
    """Given pages as a channel splits them; then each has its part and its neighbours, and the last one, also
    if a higher one was asked for, completes the reading."""
    arguments = [Argument("n", str(n)) for n in range(3)]
    pages = [
        arguments_page(TARGET, "tool", arguments, number, lambda all: [one.value for one in all])
        for number in range(4)
    ]
    assert [page.content for page in pages] == ["0", "1", "2", "2"]
    assert [page.reads for page in pages] == [None, None, TARGET, TARGET]
    turns = [[one.number for one in page.buttons if one.verb != "file"] for page in pages]
    assert turns == [[1], [0, 2], [1], [1]]


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("refund", "refund.txt"),
        ("mcp__files.read/all", "mcp__files_read_all.txt"),
        ("\u202etxt.exe", "_txt_exe.txt"),
        ("../..", "_.txt"),
        ("bücher", "bücher.txt"),
        ("a" * 500, "a" * 80 + ".txt"),
        ("", "file.txt"),
    ],
)
def test_a_files_name_hides_nothing(tool: str, name: str) -> None:
    """Given any name of a tool, then the file's has letters and digits only, and says that it is a text."""
    assert file_name(tool) == name
