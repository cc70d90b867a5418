"""An agent's text stays text: it makes no mention, link, format, emoji or button."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.card import build_card, name_and_arguments, thread_lines
from bot.channels.slack.modals.form_modal import form_view
from bot.channels.slack.modals.modal import notice
from bot.channels.slack.render import plain_message, plain_text, thread_message
from bot.channels.slack.render.card_message import message
from bot.channels.slack.render.markup import make_inert, notification
from bot.forms import FormRef
from bot.forms.message_form import escalation_page, rejection_page, text_answer_page
from bot.inbox.press import ActionRef
from hitl_core.model import MAX_REASON, Place, Review
from slack_sandbox.workspace.message import escape_text as as_slack_keeps
from tests.bot.text.test_text import BIDI, HIDDEN
from tests.channels.nasty import NASTY
from tests.channels.reading import check, check_view, edit_pages, review_view, see_view, texts
from tests.channels.scenes import (
    ALICE,
    DEFAULT,
    OPS,
    POSTED,
    apply_due,
    asking,
    decide,
    done,
    escalate,
    expire_lease,
    link_to,
    name_of,
    review_of,
    start_calls,
    try_again,
    with_request,
)

TARGET = ActionRef("0-abc", "1", 1)
#: The only things between angle brackets that our own words write: people, and dates.
OURS = re.compile(
    r"<@U0(?:ALICE|BOB|CARL|MARIA)>"
    r"|<https://acme\.example/archives/[A-Z0-9]+/p\d+\|(?:see the first message|this conversation)>"
    r"|<!date\^\d{10}\^\{date_short_pretty\}, \{time\}\|\d{4}-\d\d-\d\d \d\d:\d\d UTC>"
)
OUR_BUTTONS = {
    *(
        "Approve",
        "Edit",
        "Reject",
        "See all of it",
        "Read all, then approve",
        "Escalate to #team-ops",
    ),
    *("See all arguments", "See what was decided"),
    *(
        "It ran",
        "Run again",
        "Go on without it",
        "Answer",
        "Review one by one",
        "Approve all 2",
        "Approve all 12",
    ),
}
RAW = {chr(code) for code in [*BIDI, *HIDDEN]}
evil = st.lists(
    st.one_of(st.sampled_from(NASTY), st.text("<>&!@#*_~`:|^ab", max_size=8)), max_size=6
)
evil_text = evil.map("".join)
some_text = evil_text.map(lambda text: text or "x")
TOOL = st.from_regex(r"[A-Za-z0-9_.:/-]{1,60}", fullmatch=True)


def assert_inert(payload: Any, theirs: list[str]) -> None:
    """None of their text is at a place where Slack gives it a meaning, and hidden characters are never
    raw."""
    for kind, text in texts(payload):
        assert not RAW & set(text), (kind, text)
        if kind in ("mrkdwn", "fallback"):
            ours = OURS.sub("", text)
            assert not re.search(r"[<>]|&(?!(?:amp|lt|gt);)", ours), text
            assert not [one for one in theirs if len(one) > 3 and one in ours], text


def assert_silent(text: str) -> None:
    """The `text` of a message with blocks, which Slack shows nowhere but in notifications: no mention, and
    no link."""
    kept = as_slack_keeps(text, parse="none")
    assert "<" not in kept
    assert ">" not in kept
    assert kept == text


def reviews_in_all_states(
    name: str, words: str, args: dict[str, Any]
) -> list[tuple[Review, Place]]:
    """Reviews in every state, each with a place, and with these texts as each text from outside."""
    rule = {"description": words.strip() or "x", "must_read": True, "confirm": True}
    quorum = {"users": ["U0ALICE", "U0BOB", "U0CARL"], "quorum": 2, "reject_quorum": 2}
    review = review_of(
        *[(name, args)] * 4,
        policy={"interrupt_on": {"*": rule}, "remind": "1m"},
        agent=words or "x",
        requester=words or None,
        origin="slack:C0ASK/1799999990.000100",
        reason=words[:MAX_REASON],
    )
    review = review.model_copy(update={"path": (words, "x"), "thread_id": words or "x"})
    review = decide(review, "1", "edit", args={**args, "more": words, words: "new"})
    review = decide(review, "2", "reject", message=words)
    up = escalate(review, why=words)
    voted = review_of(*[(name, args)] * 12, policy={"reviewers": quorum})
    voted = decide(decide(voted, "1", "reject", message=words), "2", "approve")
    voted = decide(voted, "3", "edit", args={**args, "more": words + "!"})
    few = with_request(review_of((name, args), policy={"reviewers": quorum}), title=words)
    few = decide(
        decide(few, "1", "edit", args={**args, "x": words + "!"}), "1", "reject", message=words
    )
    rest = decide(decide(review, "3", "approve"), "4", "approve")
    over = done(start_calls(rest, "1", "3", "4"), {"1": words, "3": words, "4": words})
    again = try_again(few, review_of((name, {**args, "x": "new"}), reason=words[:MAX_REASON]))
    doubt = expire_lease(start_calls(rest, "1", "3", "4"))
    asked = asking({"enum": [words, words + "x", 1]}, text=words.strip() or "x")
    places = [(review, DEFAULT), (up, DEFAULT), (up, OPS), (over, DEFAULT), (doubt, DEFAULT)]
    places += [
        (again, DEFAULT),
        (voted, DEFAULT),
        (few, DEFAULT),
        (asked, DEFAULT),
        (apply_due(few, 700), OPS),
    ]
    return places


def all_states(name: str, words: str, args: dict[str, Any]) -> list[dict[str, Any]]:
    """Their messages, and what is told in their threads."""
    places = reviews_in_all_states(name, words, args)
    cards = [message(build_card(one, place, POSTED), name_of, link_to) for one, place in places]
    threads = [
        thread_message(line, name_of) for one, place in places for line in thread_lines(one, place)
    ]
    return [check(one) for one in cards + threads]


@settings(max_examples=40)
@given(TOOL, evil_text, some_text)
@example("http://evil.example/x", "*x* <!channel> https://evil.example :tada:", "<@U0BOB>")
@example("0__", "x" * 400 + "&", "&" * 80)
def test_promise_8_no_text_of_an_agent_comes_alive_on_a_card(
    name: str, words: str, key: str
) -> None:
    """Given any words as arguments, keys, names, reasons and results, then none has a meaning to Slack."""
    theirs = [one for one in (words, key, *NASTY[:6], *NASTY[7:11]) if one.strip()]
    for sent in all_states(name, words, {key: words, "list": [words, {words: key}]}):
        assert_inert(sent["blocks"], theirs)
        assert_silent(sent["text"])
        ids = [element for block in sent["blocks"] for element in block.get("elements", [])]
        for label in {e["text"]["text"] for e in ids if e["type"] == "button"}:
            answer = "[A-E]|([A-E] · )?“[^“”]*[”…]"
            assert label in OUR_BUTTONS or re.fullmatch(answer, label), label
        for element in ids:
            assert len(element.get("value", "")) < 200
            assert words not in element.get("value", "") or not words.strip()
            if element["type"] == "plain_text":
                assert element["emoji"] is False


@settings(max_examples=30)
@given(evil_text, some_text)
def test_promise_8_no_text_of_an_agent_comes_alive_in_a_modal(words: str, key: str) -> None:
    """Given any words in arguments, titles, descriptions and options, then a modal is plain text, and
    nothing hidden is raw in it."""
    schema = {
        "type": "object",
        "properties": {
            key: {"type": "string", "title": words, "description": words},
            "choice": {"enum": [words, words + "x", key * 40]},
            "fixed": {"const": words, "description": words},
            "json": {},
        },
    }
    args = {key: words, "fixed": words, "json": {key: [words]}, "long": "\u202e" + words * 400}
    rule = {"*": {"args_schema": schema}}
    review = review_of(("tool", args), policy={"interrupt_on": rule}, reason=words[:MAX_REASON])
    pages = [
        rejection_page(review, review.actions[0], FormRef("reject", TARGET)),
        escalation_page(review, review.actions, FormRef("escalate", TARGET), "#team-ops"),
        text_answer_page(review, review.actions[0], FormRef("respond", TARGET)),
    ]
    views = [
        *edit_pages(review),
        *(form_view(page) for page in pages),
        notice(words),
        see_view(TARGET, *name_and_arguments(review, "1")),
        review_view(review, DEFAULT, 0, name_of),
    ]
    for view in map(check_view, views):
        assert_inert(view, [one for one in (words, key) if one.strip()])


@pytest.mark.parametrize("text", NASTY)
def test_promise_8_a_notice_is_silent(text: str) -> None:
    """Given a sentence with something evil in it, then Slack gives it no meaning, in a notification and in
    mrkdwn."""
    sentence = f"{text.strip()} already approved send_email."
    sent = check(plain_message(sentence))
    assert_silent(sent["text"])
    assert [block["text"] for block in sent["blocks"]] == [plain_text(sentence)]
    assert not re.search(r"[*~`<>]|:\S+:|(?<!\w)_|_(?!\w)", make_inert(sentence))


@given(evil_text)
def test_no_character_of_a_notification_sounds_different(text: str) -> None:
    """Given any words; then a notification has them as they are: entities are the API's
    spelling."""
    shown = notification(text)
    for entity, char in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        shown = shown.replace(entity, char)
    assert shown == text


def test_a_sentence_of_our_own_reads_as_it_was_written() -> None:
    text = "Only members of #agent-approvals may pay 120.00 EUR until 12:00. Press again: it counts once."
    assert make_inert(text) == notification(text) == text


def test_promise_8_only_ids_of_people_are_mentions() -> None:
    """Given a requester who is no Slack id, then it is plain text."""
    for requester in ("USER", "<@u0bob>", "U0BOB|x", "everyone", "@here"):
        shown = f"For “{requester}” (named by the agent)"
        sent = message(build_card(review_of(("t", {}), requester=requester), DEFAULT), name_of)
        kinds = [kind for kind, text in texts(sent["blocks"]) if text == shown]
        assert kinds == ["plain_text"]
    assert ALICE.id in str(
        message(build_card(review_of(("t", {}), requester=ALICE.id), DEFAULT), name_of)
    )
