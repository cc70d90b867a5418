"""For random arguments: Slack accepts the card and the modals, and no part of the arguments is lost."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.card import Card, build_card
from bot.card.arguments import list_arguments, mask
from bot.channels.slack.render.card_message import message
from bot.inbox.press import ActionRef
from tests.channels.reading import (
    arguments_in,
    arguments_on,
    check,
    check_view,
    edit_pages,
    incomplete_keys,
    see_view,
)
from tests.channels.scenes import (
    DEFAULT,
    decide,
    escalate,
    expire_lease,
    name_of,
    review_of,
    start_calls,
)

TARGET = ActionRef("0-abc", "1", 1)
NASTY = (
    "\u202e",
    "\u200b",
    "\u200d",
    "\u2066",
    "\r\n",
    "\r",
    "\n",
    "\t",
    "\x1b[2K",
    "\u2028",
    "\ufe0f",
    "\u0336",
    "\U000e0041",
    "⟦U+202E⟧",
    "⟦5,000 line breaks⟧",
    "⏎",
    "␍",
    "<!channel>",
    "&amp;",
    "```",
    '"',
    "\\",
    "null",
    "日本",
    " ",
    " \n",
    "␠",
    "⇥",
    " " * 60,
    "\n" * 9,
    " \n" * 5,
    "\t" * 12,
)
piece = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12), st.sampled_from(NASTY)
)
text = st.lists(piece, max_size=6).map("".join)
long_text = st.builds(lambda part, n: (part or "x") * n, text, st.integers(1, 600))
scalar = st.one_of(text, st.integers(), st.floats(allow_nan=False, allow_infinity=False))
value = st.recursive(
    st.one_of(scalar, st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(text, inner, max_size=4)),
    max_leaves=8,
)
arguments = st.dictionaries(text, st.one_of(value, long_text), max_size=6)
nested = {"list": [1, {"a": None}], "text": "[\n  1\n]", "empty": "{}", "quoted": '"true"'}

slowly = settings(
    max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def draw(*calls: tuple[str, dict[str, Any]]) -> tuple[Card, dict[str, Any]]:
    shown = build_card(review_of(*calls), DEFAULT)
    return shown, check(message(shown, name_of))


def pages_of(args: dict[str, Any]) -> list[dict[str, Any]]:
    shown = list_arguments(mask(args, None))
    texts = re.search(r"Page 1 of (\d+)", str(see_view(TARGET, "tool", shown)["blocks"][0]))
    count = int(texts[1]) if texts else 1
    return [see_view(TARGET, "tool", shown, page) for page in range(count)]


@slowly
@given(arguments)
@example(nested)
@example({"": "", " ": " ", '"': '"', "a\nb": "x" * 161, "⏎": "⟦"})
@example({"a › b": 1, "a": {"b": 2, "c": "3"}, "d": {"e › f": 4}, "g": {}, "h": {"i": "j\n"}})  # noqa: RUF001
def test_promise_8_every_character_is_on_the_card_or_counted_as_missing(args: Any) -> None:
    """T9: given any arguments, then they can be read back from the card exactly, or it says what it cut."""
    shown, sent = draw(("tool", args))
    call = next(block for block in sent["blocks"] if block["block_id"] == "call:1")
    missing = shown.open_actions[0].excerpt.missing
    output = [block for block in sent["blocks"] if block["block_id"] == "said:1"]
    if missing:
        assert re.search(rf"\b{missing:,} of [\d,]+ characters", str(output))
        assert "'action_id': 'see'" in str(sent["blocks"])  # one click away
    else:
        assert "not shown" not in str(output)
        if args:
            assert arguments_in(call) == args


@slowly
@given(arguments)
@example(nested)
@example({"a › b": 1, "a": {"b": 2, "c": "3"}, "d": {"e › f": 4}})  # noqa: RUF001
@example({"k" * 5000: "v", "deep": {"a": ["x" * 9000]}})
def test_promise_8_all_pages_of_see_all_hold_everything(args: Any) -> None:
    """Given any arguments, then the pages of "See all of it" together give them back exactly."""
    assert arguments_on(pages_of(args)) == args


@pytest.mark.parametrize(
    "args",
    [
        {"script": "echo step\n" * 23_000},
        {"wide": "日" * 80_000},
        {"bidi": "\u202e" * 80_000},
        {"amp": "&<>" * 80_000},
        pytest.param({f"key {n}": n for n in range(8_000)}, marks=pytest.mark.slow),
        {"k" * 250_000: 1},
        {"deep": [[[[[["x" * 200_000]]]]]]},
    ],
    ids=["lines", "wide", "bidi", "markup", "many", "long-key", "deep"],
)
def test_promise_8_the_largest_arguments_can_be_read_page_by_page(args: Any) -> None:
    """Given arguments near 256 KiB, then card and pages are Slack's to take, and the pages hold it all."""
    draw(("tool", args))
    assert arguments_on(pages_of(args)) == args


@slowly
@given(arguments)
def test_any_arguments_make_a_form_that_slack_takes(args: Any) -> None:
    for view in edit_pages(review_of(("tool", args))):
        check_view(view)


@slowly
@given(st.lists(arguments, min_size=1, max_size=12), st.data())
def test_any_review_makes_a_card_that_slack_takes(several: list[Any], data: st.DataObject) -> None:
    """Given any calls, some of them decided, some escalated, then the card keeps to Slack's limits."""
    review = review_of(*(("tool", args) for args in several))
    for action in review.actions:
        kind = data.draw(st.sampled_from(["", "approve", "reject", "edit"]))
        if kind:
            new = {"new": data.draw(long_text)}
            message_ = data.draw(text) if kind == "reject" else None
            review = decide(
                review, action.key, kind, message=message_, args=new if kind == "edit" else None
            )
    if any(action.is_pending for action in review.actions) and data.draw(st.booleans()):
        review = escalate(review)
    for place in review.places:
        check(message(build_card(review, place), name_of))


def listed_in(sent: dict[str, Any]) -> list[Any]:
    """The rows of the table without its head, or the lines."""
    [block] = [block for block in sent["blocks"] if block["block_id"] == "list"]
    return block["rows"][1:] if block["type"] == "table" else _lines(block["elements"])


def _lines(parts: list[Any]) -> list[Any]:
    return [part for part in parts if not re.search(r"and \d+ more", str(part))]


@pytest.mark.parametrize("count", [1, 3, 10, 11, 40, 200])
def test_a_card_of_the_worst_actions_fits(count: int) -> None:
    """Given calls full of markup, odd characters and long names, then one message asks about all of them,
    with everything or in a table, and what has no room is counted."""
    args = {f"{n}" + "&<\u202e" * 60: "&<>\n" * 500 for n in range(30)}
    shown, sent = draw(*[("n" * 128, args)] * count)
    asked = sum(block["block_id"].startswith("do:") for block in sent["blocks"])
    if asked:
        assert asked == count
    else:
        more = re.search(r"and (\d+) more", str(sent["blocks"]))
        assert len(listed_in(sent)) + int(more[1] if more else 0) == count
        assert "'action_id': 'review'" in str(sent["blocks"])
    assert incomplete_keys(shown) == {action.key for action in shown.waiting}


def test_forty_actions_of_largest_arguments_are_one_message() -> None:
    """Given forty calls of 200 KB each, then each has its line."""
    _, sent = draw(*(("deploy", {"n": n, "script": "&" * 200_000}) for n in range(40)))
    assert len(listed_in(sent)) == 40


def test_arguments_that_would_grow_when_indented_stay_small() -> None:
    """Given nesting that an indent of two would make thirty times as long, then it is written on one line."""
    value: Any = [0] * 4_000
    for _ in range(28):
        value = [value]
    (argument,) = list_arguments(mask({"deep": value}, None))
    assert len(argument.value) < 20_000


def test_a_hundred_doubts_and_decisions_fit() -> None:
    """Given a hundred decided calls with long reasons, then the card counts those that it can't tell."""
    review = review_of(*[("tool", {"a": n}) for n in range(100)])
    for action in review.actions:
        review = decide(review, action.key, "reject", message=action.key + "&" * 500)
    sent = check(message(build_card(review, DEFAULT), name_of))
    assert re.search(r"and \d+ more", str(sent["blocks"]))


def test_a_hundred_calls_in_doubt_fit() -> None:
    """Given a hundred calls that may have run, then those that fit are asked about, the others counted."""
    review = review_of(*[("tool", {"a": n}) for n in range(100)])
    for action in review.actions:
        review = decide(review, action.key, "approve")
    review = expire_lease(start_calls(review, *(call.key for call in review.calls)))
    sent = check(message(build_card(review, DEFAULT), name_of))
    asked = sum(block["block_id"].startswith("doubt:") for block in sent["blocks"])
    assert f"{100 - asked} more calls may have run" in str(sent["blocks"])
