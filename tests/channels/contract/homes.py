"""Homes: what waits for one person, within the limits, with text of others as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from bot.card import (
    NOTHING_YET,
    build_card,
    card_summary,
    home_pages,
    home_title,
    plain_text,
)
from bot.card.buttons import READ_LABEL, SEE_LABEL
from bot.inbox import Home, HomeLine, HomeTask
from hitl_core.model import Place, Review
from tests.channels.contract.cards import HARMLESS, argument_lines, review_with
from tests.channels.contract.world import ShownPage, World
from tests.channels.nasty import NASTY
from tests.channels.scenes import DEFAULT, EMAIL, NOW, POSTED, review_of
from tests.channels.test_golden_cards import SCENES


def task_of(review: Review, place: Place = DEFAULT) -> HomeTask:
    """It waits for this person with all that is open."""
    keys = tuple(action.key for action in review.actions if action.is_pending)
    doubts = tuple(call.key for call in review.calls_in_doubt)
    card = build_card(review, place, POSTED)
    return HomeTask(review, card, keys, doubts, POSTED.get(place))


def line_of(review: Review, *, can_see: bool = True) -> HomeLine:
    keys = frozenset(call.key for call in review.calls) if can_see else frozenset[str]()
    return HomeLine(build_card(review, DEFAULT, POSTED), NOW, POSTED[DEFAULT], keys)


def home_of(*mine: HomeTask, lines: Sequence[HomeLine] = (), page: int = 0, pages: int = 1) -> Home:
    """`lines` are shown as those that wait for others, and as those that this person decided."""
    others = tuple(lines)
    return Home(mine, others, others, page, pages, total=len(mine), more=False)


class Homes:
    @pytest.mark.parametrize("name", SCENES)
    async def test_a_home_shows_a_review_within_the_limits(self, world: World, name: str):
        """Given a review of any scene that waits for a person, then their Home says what it is."""
        make, place = SCENES[name]
        task = task_of(make(), place)
        shown = world.show_home(home_of(task))
        assert home_title(1, more=False) in shown.text
        assert world.spelling(task.card.title[:70]) in shown.text

    async def test_a_full_page_is_within_the_limits(self, world: World):
        """Given as many reviews on one page as there can be, each too large for it; then it names each."""
        large = [(f"send_email_{at}", {"body": "x " * 5_000}) for at in range(20)]
        reviews = [review_of(*large, agent=f"agent-{at}") for at in range(10)]
        tasks = [task_of(review) for review in reviews[:5]]
        lines = [line_of(review) for review in reviews[5:]]
        shown = world.show_home(home_of(*tasks, lines=lines, page=1, pages=3))
        for one in (*tasks, *lines):
            assert world.spelling(one.card.title[:70]) in shown.text

    async def test_an_empty_home_says_so(self, world: World):
        shown = world.show_home(home_of())
        assert home_title(0, more=False) in shown.text
        assert plain_text(NOTHING_YET) in shown.text
        assert not shown.buttons

    async def test_a_home_with_something_unknown_says_no_certain_number(self, world: World):
        """Given a look-up that failed; then the Home doesn't say that nothing else waits."""
        none = world.show_home(replace(home_of(), unsure=True))
        assert "It is not known now what waits for you" in none.text
        two = [task_of(review_of(("send_email", EMAIL), agent=f"agent-{at}")) for at in range(2)]
        for count, title in ((1, "At least 1 review waits"), (2, "At least 2 reviews wait")):
            shown = world.show_home(replace(home_of(*two[:count]), unsure=True))
            assert f"{title} for you" in shown.text

    async def test_a_home_has_buttons_to_its_other_pages(self, world: World):
        task = task_of(review_of(("send_email", EMAIL)))
        where, buttons = home_pages(1, 3)
        shown = world.show_home(home_of(task, page=1, pages=3))
        assert plain_text(where) in shown.text
        assert {button.label for button in buttons} <= {*shown.buttons}

    async def test_promise_8_a_home_shows_what_it_lets_people_decide(self, world: World):
        """Given an action of any size with buttons in the Home; then all of its arguments can be read there,
        or a button opens them."""
        for body in ("x", "line\n" * 50, "x " * 5_000):
            review = review_of(("send_email", {**EMAIL, "body": body}))
            shown = world.show_home(home_of(task_of(review)))
            labels = " ".join(shown.buttons)
            if "Approve" in labels and SEE_LABEL not in labels:
                for text in argument_lines(review, "1"):
                    assert world.spelling(text) in shown.text

    async def test_a_home_shows_no_more_of_a_long_text_than_its_card(self, world: World):
        """Given a long text that must be read before it is approved; then the Home cuts it as the card does,
        so that the next review is near, and the button opens all of it first."""
        body = " ".join(f"Sentence {number} is to be read." for number in range(150))
        review = review_of(("send_email", {**EMAIL, "body": body}))
        shown = world.show_home(home_of(task_of(review)))
        assert "Sentence 0 is" in shown.text
        assert "Sentence 75 is" not in shown.text
        assert READ_LABEL in " ".join(shown.buttons)

    async def test_promise_7_a_home_tells_nothing_of_a_review_that_is_not_theirs(
        self, world: World
    ):
        """Given a review that waits for others, whose content this person must not see; then no argument is
        shown, and no button."""
        review = review_of(("send_email", EMAIL))
        hidden = world.show_home(home_of(lines=[line_of(review, can_see=False)]))
        seen = world.show_home(home_of(lines=[line_of(review)]))
        fact = f"to: {EMAIL['to']}"
        assert fact in card_summary(build_card(review, DEFAULT, POSTED))
        assert fact in seen.text
        assert fact not in hidden.text
        assert not hidden.buttons

    async def test_promise_8_the_text_of_others_stays_text_in_a_home(self, world: World):
        """Given a text that means something to a chat system, as each text from outside; then a Home
        calls nobody by it, links nowhere, and has no other button."""
        harmless = _home_with(world, HARMLESS)
        for words in (*NASTY, *world.nasty):
            nasty = _home_with(world, words)
            assert nasty.alive == harmless.alive, words
            assert nasty.buttons == harmless.buttons, words


def _home_with(world: World, words: str) -> ShownPage:
    review = review_with(words, decision=False)
    lines = [line_of(review), line_of(review_with(words, decision=True))]
    return world.show_home(home_of(task_of(review), lines=lines))
