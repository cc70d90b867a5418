"""Tool calls in other formats: read completely, or refused with one sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_core.errors import InvalidToolCall
from hitl_core.model import ToolCall, parse_json
from hitl_core.model.strict_json import MAX_VALUES
from hitl_core.model.tool_call import parse_call

Json = dict[str, Any]
ARGS = {"to": "jo@example.com", "n": 1}
TEXT = json.dumps(ARGS)
#: Each system's call of `send` with the id c1, as its own reference shows it.
SHAPES: dict[str, Json] = {
    "ours": {"id": "c1", "name": "send", "args": ARGS},
    "langchain": {"id": "c1", "name": "send", "args": ARGS, "type": "tool_call"},
    "openai chat": {
        "id": "c1",
        "type": "function",
        "function": {"name": "send", "arguments": TEXT},
    },
    "openai responses": {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "send",
        "arguments": TEXT,
        "status": "completed",
    },
    "anthropic": {"type": "tool_use", "id": "c1", "name": "send", "input": ARGS},
    "gemini": {"functionCall": {"id": "c1", "name": "send", "args": ARGS}, "thoughtSignature": "x"},
    "gemini, python": {"function_call": {"id": "c1", "name": "send", "args": ARGS}},
    "gemini, bare": {"id": "c1", "name": "send", "args": ARGS, "partial_args": None},
    "mcp": {
        "jsonrpc": "2.0",
        "id": "c1",
        "method": "tools/call",
        "params": {"name": "send", "arguments": ARGS, "_meta": {"progressToken": 1}},
    },
    "ollama": {"id": "c1", "function": {"name": "send", "arguments": ARGS, "index": 0}},
}
KEYS = ("args", "arguments", "input")


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_the_known_shapes_keep_their_arguments(shape: Json) -> None:
    assert ToolCall.from_mapping(shape) == ToolCall("c1", "send", ARGS)


def test_mcp_counts_its_requests() -> None:
    assert ToolCall.from_mapping({**SHAPES["mcp"], "id": 7}).id == "7"


def test_a_call_without_an_id_gets_the_one_that_is_given() -> None:
    call = {"functionCall": {"name": "send", "args": ARGS}}
    assert ToolCall.from_mapping(call, id="turn-1:1").id == "turn-1:1"
    with pytest.raises(InvalidToolCall, match="has no `id`"):
        ToolCall.from_mapping(call)


def replace_args(shape: Json, value: Any) -> Json:
    """With another value for its arguments; `...` takes them away."""
    found = json.loads(json.dumps(shape))
    for part in (found, *(each for each in found.values() if isinstance(each, dict))):
        for key in KEYS:
            if key in part and value is ...:
                del part[key]
            elif key in part:
                part[key] = value
    return found


@pytest.mark.parametrize(
    "value", [..., None, "{", "", "null", "[]", '{"a": NaN}', [], 1, True, [ARGS]]
)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_arguments_that_are_no_object_are_refused(shape: Json, value: Any) -> None:
    with pytest.raises(InvalidToolCall) as caught:
        ToolCall.from_mapping(replace_args(shape, value))
    assert "arguments" in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("more", [*KEYS, "parameters", "tool_input", "kwargs", "params", "payload"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_arguments_in_two_places_are_refused(shape: Json, more: str) -> None:
    """Also where the other one is empty: nobody knows which one the agent means."""
    if more in shape:
        pytest.skip("the shape's own key")
    with pytest.raises(InvalidToolCall):
        ToolCall.from_mapping({**shape, more: {}})


@pytest.mark.parametrize("held", [{"a": 1}, [1], '{"a": 1}', "[1]"])
def test_an_unknown_key_that_may_hold_arguments_is_refused(held: Any) -> None:
    """Other unknown keys are ignored."""
    with pytest.raises(InvalidToolCall, match="the key `body`, which may hold arguments"):
        ToolCall.from_mapping({"id": "c1", "name": "send", "args": {}, "body": held})
    about = {
        "index": 0,
        "status": "completed",
        "body": None,
        "cache_control": {"type": "ephemeral"},
    }
    assert ToolCall.from_mapping({"id": "c1", "name": "send", "args": {}, **about}).args == {}


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        "send",
        {},
        {"toolUse": {"toolUseId": "c1", "name": "send", "input": ARGS}},
        {"id": "c1", "type": "custom", "custom": {"name": "send", "input": "text"}},
        {"type": "custom_tool_call", "call_id": "c1", "name": "send", "input": "text"},
        {**SHAPES["mcp"], "method": "tools/list"},
        {**SHAPES["openai chat"], "name": "send"},
        {**SHAPES["openai chat"], "functionCall": {"name": "send", "args": {}}},
        {"id": "c1", "function": "send", "args": ARGS},
    ],
)
def test_anything_else_is_one_sentence(value: Any) -> None:
    with pytest.raises(InvalidToolCall) as caught:
        ToolCall.from_mapping(value)
    assert str(caught.value).endswith(".")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda each: (
            st.lists(each, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "id",
                        "name",
                        "args",
                        "arguments",
                        "input",
                        "function",
                        "functionCall",
                        "params",
                        "x",
                    ]
                ),
                each,
                max_size=5,
            )
        ),
        max_leaves=12,
    )
)
def test_any_input_gives_a_call_or_one_sentence(value: Any) -> None:
    try:
        call = ToolCall.from_mapping(value)
    except InvalidToolCall:
        return
    text = json.dumps(value)
    assert json.dumps(call.args) in text or not call.args


def test_values_in_json_text_are_counted_before_they_are_parsed() -> None:
    """Given arguments as text; what has too many values is refused without parsing it."""
    text = '{"a": [' + "1," * MAX_VALUES + "1]}"
    with pytest.raises(InvalidToolCall, match="more than 131,072 values"):
        parse_call({"id": "1", "name": "t", "arguments": text})
    with pytest.raises(InvalidToolCall, match="more than 131,072 values"):
        parse_json(text)
    assert parse_json(" [] ") == []


@pytest.mark.parametrize("extra", ["[]", " { } ", "[\n]", "a text", ""])
def test_a_key_whose_text_holds_nothing_is_allowed(extra: str) -> None:
    assert parse_call({"id": "1", "name": "t", "args": {}, "note": extra}).args == {}


@pytest.mark.parametrize("extra", ["[0]", '{"a": 1}', "[x", "[[" * 1000, "[]]"])
def test_a_key_whose_text_may_hold_values_is_refused(extra: str) -> None:
    with pytest.raises(InvalidToolCall, match="may hold arguments"):
        parse_call({"id": "1", "name": "t", "args": {}, "note": extra})
