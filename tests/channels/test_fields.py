"""Forms as inputs of a modal: what nobody touched comes back as it was, whatever it is."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.channels.slack import fields, modals
from bot.inbox import Target
from bot.sandbox.blocks import stored
from bot.sandbox.inputs import filled_state, initial_state, refused
from hitl_core.forms import FormErrors, make_form, read_answers
from hitl_core.model import encode
from tests.channels.reading import check_view
from tests.channels.test_properties import long_text, text, value

TARGET = Target("0-abc", "1", 3)
Json = dict[str, Any]

PROPERTIES = st.one_of(
    st.builds(lambda n: {"type": "string", "maxLength": n}, st.integers(0, 4000)),
    st.builds(lambda n: {"type": "string", "minLength": n}, st.integers(0, 9)),
    st.builds(lambda n: {"type": "integer", "minimum": n}, st.integers(-9, 9)),
    st.builds(lambda n: {"type": "number", "maximum": n}, st.integers(-9, 9)),
    st.builds(
        lambda low, high: {"type": "number", "minimum": low, "maximum": high},
        st.floats(-1e9, 1e9),
        st.floats(-1e9, 1e9),
    ),
    st.just({"type": "boolean"}),
    st.just({"type": "boolean", "readOnly": True}),
    st.builds(lambda only: {"const": only}, text),
    st.just({"type": ["string", "null"]}),
    st.just({}),
    st.builds(lambda options: {"enum": options}, st.lists(text, min_size=1, unique=True)),
)
keys = st.sampled_from(["a", "b", "to", "pa\u200bss", "x" * 300, "/~1", ""])


def opened(schema: Json | None, args: Json) -> tuple[Any, list[Json]]:
    """The form, and the blocks of its modal as Slack keeps them."""
    form = fields.shown_form(make_form(schema, args))
    return form, stored(check_view(modals.edit(TARGET, "tool", form))["blocks"])


def submitted(schema: Json | None, args: Json, typed: Json) -> Json:
    """What runs, after a person typed `typed` (by label) into a modal that showed `args`."""
    form, blocks = opened(schema, args)
    inputs = {b["label"]["text"]: b for b in blocks if b["type"] == "input"}
    entered: Json = {
        inputs[label]["block_id"]: {fields.ACTION_ID: new} for label, new in typed.items()
    }
    state = filled_state(blocks, entered)
    return read_answers(schema, args, fields.read_answers(form, TARGET.revision, state))


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(keys, PROPERTIES, max_size=5),
    st.dictionaries(keys, st.one_of(value, text, long_text), max_size=6),
    st.booleans(),
)
def test_promise_8_an_untouched_form_gives_back_the_same_bytes(
    properties: Json, args: Json, declared: bool
) -> None:
    """Given any flat schema and arguments, when Slack sends the untouched state, then the arguments are
    the same, byte for byte, or what was wrong before is said."""
    schema = {"type": "object", "properties": properties} if declared else None
    form, blocks = opened(schema, args)
    answers = fields.read_answers(form, TARGET.revision, initial_state(blocks))
    before = {field.pointer: field.initial for field in make_form(schema, args).fields}
    assert answers == {pointer: before[pointer] for pointer in answers}
    with suppress(FormErrors):
        assert encode(read_answers(schema, args, answers)).data == encode(args).data


@pytest.mark.parametrize(
    "secret",
    ["a\u202eb", "a\r\nb", "a\u200b", "\u00a0x", "⟦U+202E⟧", "x\x1b[2K", "a\n", "\ufeffy"],
)
def test_promise_8_an_edit_elsewhere_keeps_what_can_not_be_seen(secret: str) -> None:
    """Given a value with hidden characters, when another field is edited, then it is kept; and in its
    own field, what stands beside the mark can be edited without losing it."""
    args = {"hidden": secret, "other": "old"}
    new = {"value": "new"}
    assert submitted(None, args, {"other": new}) == {"hidden": secret, "other": "new"}
    _, blocks = opened(None, args)
    shown = blocks[1]["element"]["initial_value"]
    more = submitted(None, args, {"hidden": {"value": shown + "!"}})
    assert more == {"hidden": secret + "!", "other": "old"}


def test_promise_8_a_person_can_take_a_hidden_character_away() -> None:
    typed = {"hidden": {"value": "ab"}}
    assert submitted(None, {"hidden": "a\u202eb"}, typed) == {"hidden": "ab"}


def test_a_value_with_too_many_marks_for_an_input_is_locked() -> None:
    """Given 3,000 hidden characters, then the field is text, says why, and is kept."""
    args = {"hidden": "\u200b" * 3000, "other": "old"}
    _, blocks = opened(None, args)
    locked = next(
        block for block in blocks if block["type"] == "rich_text" and "hidden" in str(block)
    )
    assert "can't be changed here" in str(locked)
    after = submitted(None, args, {"other": {"value": "new"}})
    assert after == {**args, "other": "new"}


def test_a_long_value_is_locked_and_says_how_much_is_not_shown() -> None:
    args = {"body": "x" * 5000, "to": "jo"}
    _, blocks = opened(None, args)
    assert "more characters⟧" in str(blocks)
    assert submitted(None, args, {"to": {"value": "al"}}) == {"body": "x" * 5000, "to": "al"}


def test_a_text_of_3000_characters_can_be_edited() -> None:
    args = {"body": "é" * 2990 + "😀" * 5}
    form, _ = opened(None, args)
    assert form.fields[0].locked is None


def test_forty_fields_are_fields_and_more_are_one_json() -> None:
    args = {f"field {n}": n for n in range(40)}
    assert len(opened(None, args)[1]) == 41
    assert len(opened(None, {**args, "one more": 1})[1]) == 2


def test_a_form_that_no_view_holds_locks_its_largest_fields() -> None:
    """Given forty fields of a view's whole size, then the small ones can be edited, and all are kept."""
    args = {f"field {n}": "日" * min(2900, n * 160) for n in range(37)} | {"small": "old"}
    schema = {"properties": {"choice": {"enum": [f"{'日' * 70}{n}" for n in range(100)]}}}
    _, blocks = opened(schema, args)
    assert "no room" in str(blocks)
    after = submitted(schema, args, {"small": {"value": "new"}})
    assert after == {**args, "small": "new"}


def test_promise_8_a_locked_choice_shows_its_value() -> None:
    schema = {"properties": {"mode": {"enum": ["dry", "wet"], "readOnly": True}}}
    _, blocks = opened(schema, {"mode": "wet"})
    assert "'text': 'wet'" in str(blocks[1])


def test_a_hundred_options_are_a_menu_and_more_are_text() -> None:
    """Given an enum that a menu can't hold, then its value is typed, and checked all the same."""
    for count, kind in ((100, "static_select"), (101, "plain_text_input")):
        schema = {"type": "object", "properties": {"x": {"type": "string", "enum": []}}}
        schema["properties"]["x"]["enum"] = [f"option {n}" for n in range(count)]
        _, blocks = opened(schema, {"x": "option 7"})
        assert blocks[1]["element"]["type"] == kind
    with pytest.raises(Exception, match="option"):
        submitted(schema, {"x": "option 7"}, {"x": {"value": "option 101"}})


def test_options_that_begin_alike_can_be_told_apart() -> None:
    """Given options that Slack's 75 characters would make the same, then each label is another one, and
    the one that is chosen is the one that runs."""
    options = [f"{'the same beginning ' * 9}{n}{' the same end' * 9}" for n in (1, 2)]
    options += ["", " ", "\u200b"]
    schema = {"type": "object", "properties": {"x": {"enum": options}}, "required": ["x"]}
    _, blocks = opened(schema, {"x": options[0]})
    offered = blocks[1]["element"]["options"]
    assert len({option["text"]["text"] for option in offered}) == 5
    assert all(option["text"]["text"].strip() for option in offered)
    second = {"selected_option": offered[1]}
    assert submitted(schema, {"x": options[0]}, {"x": second}) == {"x": options[1]}


def test_errors_stand_beside_inputs_only() -> None:
    """Given errors for a locked field and for none, then they stand at the first input, by name."""
    form, _ = opened(None, {"a": "x" * 4000, "b": "y"})
    found = fields.errors_by_block(
        form, 3, {"/a": "is too long", "/b": "is odd"}, ["All is wrong."]
    )
    assert found == {"f:/b#3": "is odd a is too long All is wrong."}


def test_slack_itself_refuses_nothing_of_an_untouched_form() -> None:
    """Given values that break their own limits, then an untouched form can still be sent."""
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 5},
            "s": {"type": "string", "minLength": 5, "maxLength": 7},
            "e": {"type": "string"},
        },
        "required": ["n", "s", "e"],
    }
    _, blocks = opened(schema, {"n": 1, "s": "x" * 50, "e": ""})
    assert refused(blocks, initial_state(blocks)) == {}


def test_a_new_revision_has_new_ids() -> None:
    """Slack keeps what was typed where ids stay (docs.slack.dev/reference/views/modal-views)."""
    assert fields.block_id("/to", 1) != fields.block_id("/to", 2)
    assert len({fields.block_id("/" + "x" * n, 1) for n in range(300, 310)}) == 10
    assert len(fields.block_id("/" + "x" * 9000, 12)) <= 255
