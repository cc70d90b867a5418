"""The pages that a person opens in place of a card, the Home, and the lines below a card."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.card import (
    action_text,
    build_card,
    find_open_action,
    name_and_arguments,
    thread_lines,
)
from bot.card.arguments import list_arguments, mask
from bot.channels.teams.ids import Where
from bot.channels.teams.render import (
    CardBuilder,
    arguments_card,
    home_card,
    message_card,
    notice_card,
    plain_card,
    review_card,
    split_arguments,
    thread_card,
)
from bot.inbox import ActionRef, Home, HomeLine, HomeTask, Press, action_page, arguments_page
from hitl_core.model import MessageRef, Review, short_id
from tests.channels.scenes import (
    BOB,
    DEFAULT,
    NOW,
    POSTED,
    THREE,
    apply_due,
    decide,
    escalate,
    expire_lease,
    name_of,
    review_of,
    start_calls,
)
from tests.channels.teams.filling import PEN
from tests.channels.teams.reading import KEY, actions_of, arguments_on, check, to_text
from tests.channels.test_properties import arguments, nested

Json = dict[str, Any]

TARGET = ActionRef("0-abc", "1", 1)
REF = MessageRef(channel="teams", conversation="19:x@thread.tacv2", ts="17")
slowly = settings(
    max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def pages_of(args: Json) -> list[Json]:
    shown = list_arguments(mask(args, None))
    count = len(split_arguments(shown))
    pages = [arguments_page(TARGET, "tool", shown, at, split_arguments) for at in range(count)]
    return [check(arguments_card(page, PEN)) for page in pages]


def read_back(pages: list[Json]) -> Json:
    """The arguments, which are below the title and the tool's name."""
    return arguments_on([{"body": page["body"][2:]} for page in pages])


@slowly
@given(arguments)
@example(nested)
@example({"k" * 5000: "v", "deep": {"a": ["x" * 9000]}})
@example({"{{" * 99: "{{DATE(2026-01-01T00:00:00Z)}}" * 300, "tabs": "\t" * 3 + "x\t" * 3_000})
def test_promise_8_all_pages_of_see_all_hold_everything(args: Json) -> None:
    """Given any arguments, then the pages of "See all of it" together give them back exactly."""
    assert read_back(pages_of(args)) == args


@pytest.mark.parametrize(
    "args",
    [
        {"script": "echo step\n" * 9_000},
        {"wide": "日" * 40_000},
        {"bidi": "\u202e" * 20_000},
        {"braces": "{" * 90_000},
        {f"key {n}": n for n in range(2_000)},
        {"k" * 90_000: 1},
    ],
    ids=["lines", "wide", "bidi", "braces", "many", "long-key"],
)
def test_promise_8_large_arguments_can_be_read_page_by_page(args: Json) -> None:
    assert read_back(pages_of(args)) == args


def test_pages_lead_on_back_and_to_the_card() -> None:
    """Given a page between others; then its buttons lead to both, post a file, and lead back to the card."""
    _, second, *_ = pages_of({"script": "echo step\n" * 9_000})
    titles = [one["title"] for one in actions_of(second)]
    assert titles == ["◀ Back", "Next ▶", "Send it as a file", "Close"]
    kind, value = KEY.read(list(actions_of(second))[-1]["data"])
    assert (kind, value) == ("close", TARGET.review_id)


def test_the_last_page_has_the_answers() -> None:
    """Given all of an action; then it can be approved there, apart from the buttons to other pages."""
    review = review_of(THREE[0])
    name, shown = name_and_arguments(review, "1")
    answers = [one for one in actions_of_card(review) if one.verb in ("approve", "reject")]
    page = arguments_page(TARGET, name, shown, 0, split_arguments, tuple(answers))
    text = to_text(check(arguments_card(page, PEN)))
    assert re.search(r"\[\+Approve\] \[!Reject\]\n-+\n\[Send it as a file\] \[Close\]", text)


def actions_of_card(review: Review) -> tuple[Any, ...]:
    return action_text(review.id, find_open_action(review, "1"), PEN.names).buttons


def test_a_call_without_arguments_says_so() -> None:
    [page] = pages_of({})
    assert "This call has no arguments." in to_text(page)


def test_a_page_of_the_review_knows_where_it_is() -> None:
    """Given one action of three; then each of its buttons says at which page and place it was pressed, and
    to close it leads to the card.
    """
    review = review_of(*THREE)
    card = check(review_card(action_page(review, DEFAULT, 1), PEN))
    *presses, close = actions_of(card)
    assert [one["title"] for one in presses] == ["Approve", "Reject", "◀ Back", "Next ▶"]
    for one in presses:
        where, value = Where.parse(*KEY.read(one["data"]))
        assert where == Where("review", DEFAULT, 1)
        assert Press.parse(value).target.review_id == review.id
    assert KEY.read(close["data"]) == ("close", review.id)
    assert "2 of 3  ·  3 of 3 still wait" in to_text(card)


def test_from_a_page_of_the_review_all_of_it_leads_back_there() -> None:
    builder = PEN.at(Where("review", DEFAULT, 1))
    page = arguments_page(TARGET, "tool", list_arguments(mask({"a": 1}, None)), 0, split_arguments)
    *_, close = actions_of(check(arguments_card(page, builder)))
    where, value = Where.parse(*KEY.read(close["data"]))
    assert where.place == DEFAULT
    assert (Press.parse(value).verb, Press.parse(value).number) == ("next", 1)


def test_a_decided_action_and_an_empty_review() -> None:
    review = decide(review_of(*THREE[:2]), "1", "reject", BOB, message="No.")
    decided = to_text(check(review_card(action_page(review, DEFAULT, 0), PEN)))
    assert "rejected by “Bob Reyes”" in decided
    assert "[+Approve]" not in decided


def test_notices() -> None:
    text = "Only “Ada” [may](https://x.example) decide {{DATE(2026-01-01T00:00:00Z)}}.\nNot you."
    drawn = to_text(check(notice_card(text, "Not changed", PEN, "0-abc")))
    assert "# Not changed" in drawn
    assert "[Close]" in drawn
    assert "⏎Not you." in to_text(check(message_card(text, "Hello")))
    card = build_card(review_of(*THREE), DEFAULT)
    assert "The full card can't be shown" in to_text(check(plain_card(card)))


def test_lines_below_a_card() -> None:
    """Given what happened to a review; then each line is a card of its own, and fits."""
    review = decide(review_of(*THREE, policy={"remind": "1m"}), "2", "reject", message="No." * 200)
    review = apply_due(escalate(review, why="[x](https://evil.example)"), 700)
    lines = thread_lines(review, DEFAULT)
    assert lines
    for line in lines:
        assert to_text(check(thread_card(line, name_of)))


def home(*reviews: Review, pages: int = 1, ref: MessageRef | None = REF) -> Home:
    tasks = [
        HomeTask(
            one,
            build_card(one, DEFAULT, POSTED),
            tuple(action.key for action in one.actions if action.is_pending),
            tuple(call.key for call in one.calls_in_doubt),
            ref,
        )
        for one in reviews
    ]
    keys = frozenset(action.key for one in reviews for action in one.actions)
    lines = [HomeLine(task.card, NOW, REF, keys) for task in tasks]
    return Home(tuple(tasks), tuple(lines), tuple(lines), 0, pages, len(tasks), False)


HOME_PEN = CardBuilder.of(name_of, KEY, lambda ref: f"https://teams.example/{ref.ts}")


def test_a_home_shows_what_waits() -> None:
    """Given a review, one in doubt and what was decided; then all is in one card, and its buttons say that
    they are in the Home.
    """
    doubt = expire_lease(start_calls(decide(review_of(THREE[0]), "1", "approve"), "1"))
    card = check(home_card(home(review_of(*THREE[1:]), doubt, pages=2), HOME_PEN))
    text = to_text(card)
    assert "# 2 reviews wait for you" in text
    assert "open its card↗" in text
    assert "[Next ▶]" in text
    assert text.count("[+Approve]") == 2
    assert "[It ran]" in text
    for one in actions_of(card):
        if one["type"] == "Action.Execute":
            assert KEY.read(one["data"])[0] == "home"


def test_a_home_with_nothing() -> None:
    empty = Home((), (), (), 0, 1, 0, False)
    assert "Nothing waits for you" in to_text(check(home_card(empty, HOME_PEN)))


@pytest.mark.parametrize("size", [1, 400, 3_000])
def test_a_large_home_is_one_card(size: int) -> None:
    """Given five reviews of ten large calls; then each has at least its title, and where to read it."""
    args = {f"{n}" + "日" * 40: "&<>\n" * size for n in range(6)}
    reviews = [review_of(*[(f"tool_{n}", args)] * 10) for n in range(5)]
    text = to_text(check(home_card(home(*reviews), HOME_PEN)))
    for n in range(5):
        assert f"tool_{n}" in text
    unseen = to_text(check(home_card(home(*reviews, ref=None), HOME_PEN)))
    assert unseen.count("Its card is not shown yet.") >= (0 if size == 1 else 4)
    assert size == 1 or f"`approvals show {short_id(reviews[4].id)}`" in unseen


@pytest.mark.parametrize("size", [1, 3_000], ids=["in full", "only titles"])
def test_what_does_not_fit_a_home_can_be_opened_where_its_card_has_no_link(size: int) -> None:
    """Given reviews of ten calls whose cards are in the person's own chat, to which Teams has no links; then
    the Home says for each what to write to see its card. Where there is a link, it doesn't.
    """
    reviews = [review_of(*[(f"tool_{n}", {"text": "&<>" * size})] * 10) for n in range(5)]
    commands = [f"`approvals show {short_id(one.id)}`" for one in reviews]
    unlinked = to_text(check(home_card(home(*reviews), CardBuilder.of(name_of, KEY))))
    assert all(command in unlinked for command in commands)
    linked = to_text(check(home_card(home(*reviews), HOME_PEN)))
    assert not any(command in linked for command in commands)


@slowly
@given(st.lists(arguments, min_size=1, max_size=5))
def test_any_home_is_teams_to_take(several: list[Json]) -> None:
    check(home_card(home(*(review_of(("tool", args)) for args in several)), HOME_PEN))
