"""An agent's text stays text in Teams: it makes no Markdown, image, macro, mention or button."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.card import build_card, name_and_arguments, thread_lines
from bot.channels.teams.ids import OpenForm, Where
from bot.channels.teams.render import (
    arguments_card,
    card_message,
    form_card,
    home_card,
    message_card,
    notice_card,
    plain_card,
    review_card,
    split_arguments,
    thread_card,
)
from bot.channels.teams.render.elements import JOINER
from bot.forms import FormRef
from bot.forms.message_form import escalation_page, rejection_page, text_answer_page
from bot.inbox import ActionRef, Press, action_page, arguments_page
from bot.text import one_line
from hitl_core.model import MAX_REASON, Review
from tests.bot.text.test_text import BIDI, HIDDEN
from tests.channels.nasty import NASTY as EVERYWHERE
from tests.channels.reading import texts
from tests.channels.scenes import DEFAULT, POSTED, link_to, name_of, review_of
from tests.channels.teams.filling import PEN, Form, edit_form
from tests.channels.teams.nasty import NASTY
from tests.channels.teams.reading import KEY, actions_of, check
from tests.channels.teams.test_pages import home
from tests.channels.test_injection import OUR_BUTTONS, TOOL, reviews_in_all_states

Json = dict[str, Any]

#: What we put in ourselves: a space that stays, and what breaks a macro.
RAW = {chr(code) for code in [*BIDI, *HIDDEN]} - {JOINER, "\u00a0"}
#: A macro and a link that our own words write.
OUR_MACRO = re.compile(r"\{\{DATE\([0-9TZ:-]{20}, SHORT\)\}\} \{\{TIME\([0-9TZ:-]{20}\)\}\}")
OUR_LINKS = ("https://acme.example/archives/", "https://teams.example/")
#: What an agent's words may be in. The id of an input has the key of its field.
LITERAL = {"TextRun", "label", "title", "tooltip", "value", "id"}
evil = st.lists(
    st.one_of(st.sampled_from([*NASTY, *EVERYWHERE]), st.text("{}<>&!@#*_~`[]()\\|ab", max_size=8)),
    max_size=6,
).map("".join)
some_text = evil.map(lambda text: text or "x")


def assert_inert(card: Json, theirs: list[str]) -> None:
    """Teams takes it as it is written (see `check_card`: no Markdown, no macro), and their words are only
    where no client interprets them; all links, data and mentions are ours.
    """
    check(card)
    for kind, text in texts(card):
        assert not RAW & set(text), (kind, text)
        if kind == "TextRun" and "{{" in text:
            assert OUR_MACRO.fullmatch(text), text
        if kind == "url":
            assert text.startswith(OUR_LINKS), text
        if kind not in LITERAL:
            assert not [one for one in theirs if len(one) > 3 and one in text], (kind, text)
    types = {text for kind, text in texts(card) if kind == "type"}
    assert types <= {
        *("AdaptiveCard", "RichTextBlock", "TextRun", "Container", "ActionSet"),
        *("Table", "TableRow", "TableCell", "Action.Execute", "Action.ShowCard", "Action.OpenUrl"),
        *("Input.Text", "Input.Number", "Input.Date", "Input.Time", "Input.ChoiceSet"),
    }
    for action in actions_of(card):
        if action["type"] == "Action.Execute":
            _assert_ours(action)
        elif action["type"] == "Action.OpenUrl":
            assert "selectAction" not in action


def _assert_ours(action: Json) -> None:
    """The data are ids of ours, signed."""
    assert action["data"].keys() == {"hitl", "value", "mac"}
    kind, value = KEY.read(action["data"])
    match kind:
        case "form":
            OpenForm.parse(value)
        case "close":
            assert re.fullmatch(r"[0-9a-f-]+", value)
        case _:
            button = Where.parse(kind, value)[1]
            Press.parse(button)
            assert re.fullmatch(r"[\w.:,-]+", button, re.ASCII), button


@settings(max_examples=40)
@given(TOOL, evil, some_text)
@example("http://evil.example/x", "".join(NASTY), "<at>Bob</at>")
@example("0__", "{{DATE(2026-01-01T00:00:00Z)}}" * 30, "{" * 80)
def test_promise_8_no_text_of_an_agent_comes_alive_on_a_card(
    name: str, words: str, key: str
) -> None:
    """Given any words as arguments, keys, names, reasons and results, then none has a meaning to Teams."""
    theirs = [one for one in (words, key, *NASTY) if one.strip()]
    states = reviews_in_all_states(name, words, {key: words, "list": [words, {words: key}]})
    for review, place in states:
        card = build_card(review, place, POSTED)
        assert_inert(drawn := card_message(card, name_of, KEY, link_to), theirs)
        assert_inert(plain_card(card), theirs)
        for action in actions_of(drawn):
            if "title" in action:
                answer = "[A-E]|([A-E] · )?“[^“”]*[”…]"
                title = action["title"]
                assert title in OUR_BUTTONS or re.fullmatch(answer, title), title
        for line in thread_lines(review, place):
            assert_inert(thread_card(line, name_of), theirs)


def evil_review(words: str, key: str) -> Review:
    schema = {
        "type": "object",
        "properties": {
            key: {"type": "string", "title": words, "description": words},
            "choice": {"enum": [words, words + "x", key * 40]},
            "choices": {"type": "array", "items": {"enum": [words, words + "x", key * 40]}},
            "fixed": {"const": words, "description": words},
            "json": {},
        },
    }
    args = {key: words, "fixed": words, "json": {key: [words]}, "long": "\u202e" + words * 100}
    rule = {"*": {"args_schema": schema}}
    return review_of(("tool", args), policy={"interrupt_on": rule}, reason=words[:MAX_REASON])


@settings(max_examples=30)
@given(evil, some_text)
@example("".join(NASTY), "{{DATE(2026-01-01T00:00:00Z)}}")
@example("\n".join(NASTY), "<at>Bob</at>")
def test_promise_8_no_text_of_an_agent_comes_alive_in_forms_and_pages(words: str, key: str) -> None:
    """Given any words in arguments, titles, descriptions and options; then in forms and pages they are text,
    and nothing hidden is raw in them.
    """
    review = evil_review(words, key)
    action, target = review.actions[0], ActionRef(review.id, "1", 1)
    form = edit_form(review)
    pages = [
        *(
            form.at_page(at, draft="").page(one_line(words))
            for at in range(form.session.page_count)
        ),
        rejection_page(review, action, FormRef("reject", target)),
        escalation_page(review, [action], FormRef("escalate", target), "#team-ops"),
        text_answer_page(review, action, FormRef("respond", target)),
    ]
    errors = [{one.id: "must be a number" for one in page.fields} for page in pages]
    name, shown = name_and_arguments(review, "1")
    count = len(split_arguments(shown))
    reading = [
        arguments_page(target, name, shown, at, split_arguments) for at in range(min(count, 5))
    ]
    theirs = [one for one in (words, key) if one.strip()]
    for card in (
        *(form_card(page, "s1", PEN) for page in pages),
        *(
            form_card(page, "s1", PEN, None, wrong)
            for page, wrong in zip(pages, errors, strict=True)
        ),
        *(arguments_card(page, PEN) for page in reading),
        review_card(action_page(review, DEFAULT, 0), PEN),
        home_card(home(review), PEN),
        notice_card(words, "Not changed", PEN, review.id),
        message_card(words),
    ):
        assert_inert(card, theirs)


@pytest.mark.parametrize("text", NASTY)
def test_promise_8_each_is_shown_as_it_is(text: str) -> None:
    """Given a text that means something to a client; then a person reads it with all its characters."""
    review = review_of(("tool", {"note": text}))
    card = card_message(build_card(review, DEFAULT), name_of, KEY)
    runs = [one for kind, one in texts(card) if kind == "TextRun"]
    assert text in "".join(runs).replace("\u00a0", " ").replace("⏎", "\n")


@pytest.mark.parametrize("text", NASTY)
def test_what_a_person_typed_stays_text(text: str) -> None:
    """Given a form that comes back with an error; then what was typed is the value of its input."""
    review = review_of(("tool", {"note": "x"}))
    page = edit_form(review).page()
    form = Form(page)
    entries = form.send(note=text if "\n" not in text else text.replace("\n", " "))
    again = Form(page, entries, {page.fields[0].id: text})
    assert again.input("note")["value"] == entries.answers[page.fields[0].id]
