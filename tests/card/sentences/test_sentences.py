"""The sentences of a card, as lines of spans: no markup, and an agent's words only in quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot import card as card_room
from bot.card import (
    ActionText,
    Card,
    CardText,
    Line,
    Link,
    PlaceNames,
    Text,
    action_text,
    build_card,
    card_text,
    doubt_text,
    plain_text,
    thread_lines,
    thread_summary,
    thread_text,
)
from bot.channels.slack.render.card_message import message
from hitl_core.model import Place, Review
from tests.channels.reading import to_text
from tests.channels.scenes import (
    DEFAULT,
    OPS,
    POSTED,
    THREE,
    decide,
    escalate,
    link_to,
    name_of,
    review_of,
    with_request,
)
from tests.channels.test_golden_cards import SCENES

NAMES = PlaceNames(name_of, link=link_to, channel="slack")
#: What a chat system would take for a mention, a format or a link.
MARKUP = re.compile(r"[<>*_~`|\[\]]")


def lines_of(review: Review, place: str = DEFAULT) -> list[Line]:
    card = build_card(review, Place(place), POSTED)
    around = card_text(card, NAMES)
    return [
        *_lines_around(around),
        *(line for text in _texts(card) for line in _lines_in(text)),
        *(thread_text(line, NAMES) for line in thread_lines(review, Place(place))),
    ]


def _texts(card: Card) -> Iterator[ActionText]:
    for action in card.open_actions:
        yield action_text(card.review_id, action, NAMES)
    for doubt in card.doubts:
        yield doubt_text(card.review_id, doubt)


def _lines_around(text: CardText) -> Iterator[Line]:
    yield from (*text.calls, *text.origin, *text.warnings, *text.cancel_votes, *text.decisions)
    for lines in (*text.problems, *text.notes):
        yield from lines
    yield from (text.elsewhere, text.deciders, text.ids)


def _lines_in(text: ActionText) -> Iterator[Line]:
    yield from (text.head, *text.warnings, *text.edits, *text.notes, *text.votes, text.decision)


def our_words(lines: list[Line]) -> str:
    ours = (
        span.label if isinstance(span, Link) else span.text
        for line in lines
        for span in line
        if isinstance(span, Text | Link)
    )
    return "\n".join(ours)


@pytest.mark.parametrize("name", SCENES)
def test_our_words_have_no_markup(name: str) -> None:
    """Given a review in some state; then no chat system could take a character of ours for markup."""
    make, place = SCENES[name]
    found = MARKUP.search(our_words(lines_of(make(), place)))
    assert not found, found


def test_no_words_of_an_agent_are_among_ours() -> None:
    """Given a review whose agent writes EVIL everywhere; then EVIL is in no span for our own words."""
    args = {"EVIL": "EVIL\nEVIL", "list": ["EVIL"]}
    review = review_of(
        ("EVIL", args), ("EVIL", args), agent="EVIL", requester="EVIL is here", tools={"EVIL": None}
    ).model_copy(update={"path": ("EVIL one", "EVIL")})
    review = decide(review, "1", "edit", args={"EVIL": "EVIL 2"})
    states = [review, decide(review, "2", "reject", message="EVIL"), escalate(review, why="EVIL")]
    lines = [line for one in states for place in (DEFAULT, OPS) for line in lines_of(one, place)]

    assert "EVIL" in "".join(map(plain_text, lines))
    assert "EVIL" not in our_words(lines)


def test_a_card_reads_without_any_markup() -> None:
    """Given a pending review; then its lines as plain text say for whom, until when, and who may decide."""
    text = card_text(build_card(review_of(THREE[0]), DEFAULT), NAMES)

    assert [plain_text(line) for line in text.origin] == [
        "For “U0MARIA” (named by the agent)",
        "escalates to #team-ops (2027-01-15 08:10 UTC)",
    ]
    assert plain_text(text.deciders) == "Members of #agent-approvals may decide."


def test_a_thread_line_reads_alike_in_a_notification() -> None:
    review = escalate(review_of(THREE[0]), why="Not sure.")
    [line] = thread_lines(review, DEFAULT)

    shown = plain_text(thread_text(line, NAMES))
    assert shown == "↗ send_email  escalated to #team-ops by “Bob Reyes” (U0BOB): “Not sure.”"
    summary = thread_summary(line, NAMES)
    assert summary == "send_email was escalated to #team-ops by “Bob Reyes” (U0BOB)."


def test_the_card_room_knows_no_chat_system() -> None:
    """Given the sources of bot/card; then none of them names a chat system or its markup."""
    folder = Path(card_room.__file__).parent
    named = [
        f"{file.name}:{number}: {line}"
        for file in sorted(folder.rglob("*.py"))
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if re.search(r"slack|teams\b|mrkdwn|block.?kit|adaptive", line, re.IGNORECASE)
    ]
    assert named == []


def test_a_card_of_one_action_says_the_tools_name_once() -> None:
    """Given one call; then its tool is in the title and not below it. Given two,
    each begins with its own."""
    one = build_card(review_of(("reboot", {"now": True})), DEFAULT)
    two = build_card(review_of(("reboot", {"now": True}), ("reboot", {})), DEFAULT)

    drawn = to_text(message(one, name_of)["blocks"])
    assert drawn.count("reboot") == 1
    assert "\n/No policy rule covers this tool./\n`now`  true\n" in drawn
    assert "*1  reboot*" in to_text(message(two, name_of)["blocks"])


@pytest.mark.parametrize("name", ["x" * 61, "ask_human"])
def test_a_name_that_no_title_has_whole_is_below_it(name: str) -> None:
    """Given a name that the title cuts, or a title of the agent's system; then
    the action begins with it."""
    review = review_of((name, {}))
    if name == "ask_human":
        review = with_request(review, title="Which one?", by_agent=True)
    drawn = to_text(message(build_card(review, DEFAULT), name_of)["blocks"])
    assert f"\n*{name}*" in drawn
