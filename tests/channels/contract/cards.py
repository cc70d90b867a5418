"""Cards of all scenes: within the limits, complete or with a mark where they are cut, and text of others as
plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from bot.card import Card, build_card, thread_lines
from bot.card.arguments import list_arguments, mask_action
from bot.inbox import Press
from bot.text import to_visible
from hitl_core.model import Review
from tests.bot.text.test_text import BIDI, HIDDEN
from tests.channels.contract.world import Shown, World
from tests.channels.nasty import NASTY
from tests.channels.scenes import (
    DEFAULT,
    POSTED,
    decide,
    escalate,
    expire_lease,
    review_of,
    start_calls,
    with_doubts,
)
from tests.channels.test_golden_cards import SCENES

INVISIBLE = {chr(code) for code in [*BIDI, *HIDDEN]}
#: In no chat system is this markup, and it is no name.
HARMLESS = "zebra"


async def show(world: World, card: Card) -> Shown:
    await world.channel.post(world.room, card)
    return (await world.messages(world.room))[-1]


def whole_actions(review: Review, shown: Shown) -> set[str]:
    """The actions that are whole on this message, by what its buttons say."""
    whole = set[str]()
    for press in map(Press.parse, shown.values):
        keys = [*press.revisions] or [press.target.action]
        if any(map(review.action, keys)) and press.target.seal == review.seal(*keys, is_whole=True):
            whole |= {*keys}
    return whole


def argument_lines(review: Review, key: str) -> Iterator[str]:
    """All that must be readable of an action's arguments."""
    action = review.action(key)
    assert action is not None
    for argument in list_arguments(mask_action(action, review.arguments(key).parse())):
        yield argument.label
        yield argument.value


def review_with(words: str, *, decision: bool) -> Review:
    """A review with this text as each text from outside."""
    rule = {"description": words.strip() or "x", "allowed_decisions": ["approve", "edit", "reject"]}
    review = review_of(
        *[("send_email", {"to": words, words: "value", "list": [words]})] * 2,
        policy={"interrupt_on": {"*": rule}},
        agent=words,
        requester=f"x{words}",  # a name that is an id of this chat system may be a mention
    )
    review = review.model_copy(update={"path": (words, "x"), "thread_id": words})
    if decision:
        review = decide(review, "1", "edit", args={"to": words + "!", words: "other"})
        review = decide(review, "2", "reject", message=words)
    return escalate(review, why=words) if not decision else review


class Cards:
    @pytest.mark.parametrize("name", SCENES)
    async def test_every_card_is_within_the_limits(self, world: World, name: str):
        """Given the card of any scene, then the chat system takes it: in full, as plain text, and as an
        update of either."""
        make, place = SCENES[name]
        card = build_card(make(), place, POSTED)
        for post in (world.channel.post, world.channel.post_plain):
            ref = await post(world.room, card)
            await world.channel.update(world.room, ref, card)
        messages = await world.messages(world.room)
        assert len(messages) == 2
        for shown in messages:
            assert shown.text
            assert not INVISIBLE & set(shown.text)

    @pytest.mark.parametrize("name", SCENES)
    async def test_every_thread_line_is_within_the_limits(self, world: World, name: str):
        make, place = SCENES[name]
        review = make()
        ref = await world.channel.post(world.room, build_card(review, place, POSTED))
        lines = thread_lines(review, place)
        for line in lines:
            await world.channel.reply(world.room, ref, line)
        (shown,) = await world.messages(world.room)
        assert len(shown.thread) == len(lines)

    @pytest.mark.parametrize("name", SCENES)
    async def test_promise_8_what_is_not_shown_is_said_to_be_incomplete(
        self, world: World, name: str
    ):
        """Given the card of any scene; then all arguments of each action that waits can be read on it, or the
        buttons say by their seal that they can't."""
        make, place = SCENES[name]
        review = make()
        shown = await show(world, build_card(review, place, POSTED))

        for key in whole_actions(review, shown):
            for text in argument_lines(review, key):
                assert world.spelling(text) in shown.text, (key, text)

    async def test_a_small_card_is_complete(self, world: World):
        """A channel that called every card incomplete would ask people to read all of it twice."""
        review = review_of(("send_email", {"to": "jo@example.com"}))
        assert whole_actions(review, await show(world, build_card(review, DEFAULT))) == {"1"}

    @pytest.mark.parametrize("size", [1, 400])
    async def test_a_list_hides_no_call_in_doubt(self, world: World, size: int):
        """Given more actions than are shown in full, of which an agent has started some; then the card still
        asks what became of these, with their buttons, and counts those for which it has no room."""
        review = review_of(*[("pay", {f"a{n}": "&日" * size for n in range(9)})] * 12)
        doubted = with_doubts(review, *(call.key for call in review.calls[:8]))
        shown = await show(world, build_card(doubted, DEFAULT))
        presses = [*map(Press.parse, shown.values)]
        asked = sum(press.verb == "ran" for press in presses)
        assert (asked >= 1, "review" in [press.verb for press in presses]) == (True, True)
        more = re.search(r"(\d+) more calls? may have run", shown.text)
        assert asked + int(more[1] if more else 0) == 8

    async def test_a_call_in_doubt_has_its_buttons_even_if_it_is_large(self, world: World):
        """Given one call that an agent started and left, with as much text as a card can have; then the card
        has the buttons that answer it: there is nothing else whose decision could make room for them."""
        large = {"日" * 200 + f"{n}": "日" * 800 for n in range(30)}
        approved = decide(review_of(("pay", large)), "1", "approve")
        doubted = expire_lease(start_calls(approved, "1"))
        shown = await show(world, build_card(doubted, DEFAULT))
        verbs = {Press.parse(value).verb for value in shown.values}
        assert {"ran", "skip"} <= verbs  # "run again" may be behind its question

    async def test_a_call_in_doubt_hides_no_deadline_of_others(self, world: World):
        """Given two calls that wait, of which one may have run; then the card says what happens next to the
        other, and when.
        """
        review = review_of(("send_email", {"to": "a"}), ("send_email", {"to": "b"}))
        shown = await show(world, build_card(with_doubts(review, "1"), DEFAULT))
        assert "the agent waits for an answer" in shown.text
        assert "escalates to" in shown.text

    @pytest.mark.parametrize("decision", [False, True])
    @pytest.mark.parametrize("at", range(len(NASTY) + 12))
    async def test_promise_8_the_text_of_others_stays_text(
        self, world: World, at: int, decision: bool
    ):
        """Given a text that means something to a chat system, as each text from outside: arguments,
        names, reasons; then it can be read, calls nobody, links nowhere, and makes no button."""
        texts = (*NASTY, *world.nasty)
        if at >= len(texts):
            return
        words = texts[at]
        shown = [await self._show_all(world, review_with(one, decision=decision)) for one in (
            HARMLESS, words,
        )]  # fmt: skip
        harmless, nasty = shown
        assert nasty.alive == harmless.alive
        # Nobody approves all where a text is odd or too long.
        expected = [one for one in harmless.buttons if not one.startswith("Approve all")]
        assert [one for one in nasty.buttons if not one.startswith("Approve all")] == expected
        if words.strip():
            assert len(nasty.thread) == len(harmless.thread)
        everything = " ".join([nasty.text, *nasty.thread])
        assert not INVISIBLE & set(everything)
        if not decision:
            visible = world.spelling(to_visible(words))
            assert visible in nasty.text

    async def _show_all(self, world: World, review: Review) -> Shown:
        """The card and its thread lines."""
        ref = await world.channel.post(world.room, build_card(review, DEFAULT, POSTED))
        for line in thread_lines(review, DEFAULT):
            await world.channel.reply(world.room, ref, line)
        return (await world.messages(world.room))[-1]

    @pytest.mark.parametrize(
        "name", ["<!channel>", "@all", "*bold*", "https://evil.example", "a\nb"]
    )
    async def test_promise_8_the_name_of_a_group_is_text(self, world: World, name: str):
        """Given a group with a name that means something, then a card that names it calls nobody by it."""
        review = escalate(
            review_of(
                ("send_email", {"to": "jo"}),
                policy={"escalate": [{"after": "10m", "to": world.group}]},
            )
        )
        before = await show(world, build_card(review, DEFAULT, POSTED))
        world.rename(world.group_id, name)
        await world.channel.group_members(world.group_id)
        after = await show(world, build_card(review, DEFAULT, POSTED))
        assert after.alive == before.alive
        assert re.fullmatch(r"[^\n]*", after.text)
