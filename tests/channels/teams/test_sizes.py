"""Teams accepts every card that the package `render` makes, whatever is in the review."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import bot.channels.teams.render as render
from bot.card import build_card, name_and_arguments
from bot.channels.teams.ids import Where
from bot.channels.teams.render import (
    announcement_card,
    arguments_card,
    byte_size,
    card_message,
    form_card,
    home_card,
    message_card,
    notice_card,
    plain_card,
    review_card,
    review_fits,
    split_arguments,
    thread_card,
)
from bot.forms import EditForm, FormRef
from bot.inbox import (
    ActionPage,
    ActionRef,
    Home,
    HomeLine,
    HomeTask,
    action_page,
    arguments_page,
)
from hitl_core.model import Review
from tests.channels.scenes import DEFAULT, NOW, decide, name_of, review_of
from tests.channels.teams.filling import PEN
from tests.channels.teams.reading import KEY, check, to_text

Json = dict[str, Any]

#: One character in several bytes, marks for what nobody sees, macros, and escapes of JSON.
WIDE = ("日", "\u044f", "😀", "{{", "\u202e", '"', "\\", "\x00", "&", "\u0430\u0301")
POLICY = {
    "interrupt_on": {
        "*": {"allowed_decisions": ["approve", "edit", "reject", "respond"], "must_read": True}
    }
}
slowly = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def page_of(review: Review, number: int) -> ActionPage:
    return action_page(review, DEFAULT, number, lambda page: review_fits(page, PEN))


def _pages(review: Review) -> Iterator[Json]:
    for number in range(len(review.actions)):
        yield review_card(page_of(review, number), PEN)


def _arguments(review: Review) -> Iterator[Json]:
    target = ActionRef(review.id, "1", 1)
    name, shown = name_and_arguments(review, "1")
    for number in range(len(split_arguments(shown))):
        page = arguments_page(target, name, shown, number, split_arguments)
        yield arguments_card(page, PEN)


def _homes(review: Review) -> Iterator[Json]:
    card = build_card(review, DEFAULT, {})
    pending = tuple(action.key for action in review.actions if action.is_pending)
    line = HomeLine(card, NOW, None, frozenset(pending))
    task = HomeTask(review, card, pending, (), None)
    yield home_card(Home((task,) * 5, (line,) * 5, (line,) * 5, 0, 3, 12, False), PEN)


def _forms(review: Review) -> Iterator[Json]:
    action = review.actions[0]
    ref = FormRef("edit", ActionRef(review.id, "1", 1, review.seal("1", is_whole=True)))
    form = EditForm(review, action, ref, render.TEAMS_LIMITS)
    yield form_card(form.page(), "session-1", PEN)


#: How each view draws a review. A view that is not here fails the test below.
VIEWS: dict[Callable[..., Json], Callable[[Review], Iterator[Json]]] = {
    card_message: lambda review: iter(
        [card_message(build_card(review, DEFAULT, {}), name_of, KEY)]
    ),
    plain_card: lambda review: iter([plain_card(build_card(review, DEFAULT, {}))]),
    review_card: _pages,
    arguments_card: _arguments,
    home_card: _homes,
    form_card: _forms,
}
#: Views of sentences alone.
SENTENCES: dict[Callable[..., Json], Callable[[str], Json]] = {
    notice_card: lambda text: notice_card(text, text, PEN, "0-abc"),
    message_card: lambda text: message_card(text, text),
    announcement_card: lambda text: announcement_card([text[:600]] * 10),
}


def test_each_view_of_the_room_is_checked_here() -> None:
    faces = {name: getattr(render, name) for name in render.__all__}
    views = {one for one in faces.values() if inspect.isfunction(one) and _draws_card(one)}
    assert views == {*VIEWS, *SENTENCES, thread_card}  # a thread's line has its own limits


def _draws_card(function: Callable[..., object]) -> bool:
    return function.__annotations__.get("return") == "Json"


@pytest.mark.parametrize("view", SENTENCES.values(), ids=[one.__name__ for one in SENTENCES])
@pytest.mark.parametrize("character", WIDE)
def test_a_long_sentence_fits(view: Callable[[str], Json], character: str) -> None:
    check(view(character * 60_000))


@st.composite
def calls(draw: st.DrawFn) -> list[tuple[str, Json]]:
    """Many arguments of moderate size are what a page shows in full."""
    text = st.builds(
        lambda part, size: part * size,
        st.sampled_from(WIDE) | st.text(max_size=6),
        st.sampled_from([0, 1, 30, 80, 300, 900, 3_000]),
    )
    values = text | st.integers() | st.lists(text, max_size=4)
    keys = st.text(min_size=1, max_size=30)
    arguments = st.dictionaries(keys, values, max_size=30)
    return [("tool", one) for one in draw(st.lists(arguments, min_size=1, max_size=5))]


@slowly
@given(calls())
@example([("tool", {f"k{n}": "日本語" * 300 for n in range(10)})] * 4)
@example([("tool", {f"項目{n}": "\u0440\u0430\u0443l.com" * 30 for n in range(60)})] * 4)
def test_every_view_of_any_review_fits(several: list[tuple[str, Json]]) -> None:
    review = review_of(*several, policy=POLICY)
    for draw in VIEWS.values():
        for card in draw(review):
            check(card)
    if len(several) > 1:
        for card in _pages(decide(review, "1", "reject", message="日" * 3_000)):
            check(card)


@pytest.mark.parametrize("character", WIDE)
def test_a_page_that_is_cut_can_be_read_whole_and_is_not_read_yet(character: str) -> None:
    """Given more than a card takes; then the page says so, offers all of it, and counts as unread."""
    large = {f"key_{number}": character * 900 for number in range(16)}
    page = page_of(review_of(("tool", large), ("tool", {"a": 1}), policy=POLICY), 0)
    shown = to_text(check(review_card(page, PEN)))
    if page.action is not None and page.action.excerpt.missing:
        assert page.reads is None
        assert "See all" in shown or "Read all" in shown
    else:
        assert page.reads is not None


def test_a_page_has_as_much_as_fits() -> None:
    large = {f"key_{number}": "日" * 900 for number in range(16)}
    page = page_of(review_of(("tool", large), ("tool", {"a": 1}), policy=POLICY), 0)
    assert byte_size(review_card(page, PEN.at(Where("review", DEFAULT, 0)))) > 20_000
