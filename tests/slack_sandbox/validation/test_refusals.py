"""The app gets every problem that the checks of blocks and views find, in Slack's format."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from slack_sandbox.errors import SlackError
from slack_sandbox.validation.blocks import Surface
from slack_sandbox.workspace.message import validate_blocks
from slack_sandbox.workspace.view_validation import ViewKind, validate_view
from tests.slack_sandbox.samples import Slack, modal, refusal
from tests.slack_sandbox.validation.invalid_blocks import BROKEN, blocks_with_any_value

LINE = re.compile(r"\[ERROR\] .+ \[json-pointer:(/[^\]]*)?\]", re.DOTALL)


def refuse(surface: Surface, blocks: list[Any]) -> SlackError | None:
    try:
        if surface == "message":
            validate_blocks(blocks)
        else:
            more = {"title": modal()["title"], "submit": modal()["submit"]}
            view = {"type": surface, "blocks": blocks}
            validate_view(view | (more if surface == "modal" else {}), _kind(surface))
    except SlackError as error:
        return error
    return None


def _kind(surface: Surface) -> ViewKind:
    return "home" if surface == "home" else "modal"


def well_formed(error: SlackError, surface: Surface) -> bool:
    expected = "invalid_blocks" if surface == "message" else "invalid_arguments"
    lines = error.answer["response_metadata"]["messages"]
    named = error.answer["error"] == expected and error.answer["ok"] is False
    return named and bool(lines) and all(LINE.fullmatch(line) for line in lines)


@given(name=st.sampled_from(sorted(BROKEN)), surface=st.sampled_from(["message", "modal", "home"]))
def test_every_broken_block_is_refused_in_slacks_shape(name: str, surface: Surface) -> None:
    error = refuse(surface, [BROKEN[name][0]])
    assert error
    assert well_formed(error, surface), error.answer


@given(block=blocks_with_any_value(), surface=st.sampled_from(["message", "modal", "home"]))
def test_whatever_is_refused_is_refused_in_slacks_shape(
    block: dict[str, Any], surface: Surface
) -> None:
    error = refuse(surface, [block])
    too_long = ("msg_blocks_too_long", "view_too_large")
    assert error is None or error.error in too_long or well_formed(error, surface)


async def test_the_answer_of_the_method_carries_it(client: Slack) -> None:
    broken = [{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}]
    answer = await refusal(client, "chat.postMessage", channel="C0APPROVE", blocks=broken)
    line = "must be less than 151 characters [json-pointer:/blocks/0/text/text]"
    assert answer["error"] == "invalid_blocks"
    assert f"[ERROR] {line}" in answer["response_metadata"]["messages"]
    assert line in answer["errors"]
