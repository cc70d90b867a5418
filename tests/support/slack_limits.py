"""Slack's limits, written a second time, to check the tables of the local Slack and the models of slack_sdk.

https://docs.slack.dev/reference/block-kit (blocks, block-elements, composition-objects) and
https://docs.slack.dev/reference/views; where two pages differ, the smaller number.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View

Json = dict[str, Any]

MESSAGE_BLOCKS, VIEW_BLOCKS = 50, 100
#: chat.update accepts less than chat.postMessage.
MESSAGE_TEXT = 4000
VIEW_BYTES = 250_000
#: Undocumented; measured by others (github.com/slackapi/bolt-js/issues/2509).
MESSAGE_SIZE, A_BLOCK = 13_200, 100

#: The most characters of a text, a string, or the most items of a list, by `type` and key.
MOST: dict[str, dict[str, int]] = {
    "alert": {"text": 200},
    "header": {"text": 150},
    "section": {"text": 3000, "fields": 10},
    "context": {"elements": 10},
    "actions": {"elements": 25},
    "input": {"label": 2000, "hint": 2000},
    "button": {"text": 75, "value": 2000, "url": 3000, "accessibility_label": 75},
    "overflow": {"options": 5},
    "static_select": {"options": 100, "option_groups": 100, "placeholder": 150},
    "multi_static_select": {"options": 100, "option_groups": 100, "placeholder": 150},
    "external_select": {"placeholder": 150},
    "radio_buttons": {"options": 10},
    "checkboxes": {"options": 10},
    "plain_text_input": {"initial_value": 3000, "placeholder": 150},
    "email_text_input": {"placeholder": 150},
    "url_text_input": {"placeholder": 150},
    "number_input": {"placeholder": 150},
    "datepicker": {"placeholder": 150},
    "timepicker": {"placeholder": 150},
    "file_input": {"filetypes": 100},
    "plain_text": {"text": 3000},
    "mrkdwn": {"text": 3000},
    "image": {"image_url": 3000, "alt_text": 2000, "title": 2000},
    "modal": {
        "title": 24,
        "submit": 24,
        "close": 24,
        "private_metadata": 3000,
        "callback_id": 255,
        "external_id": 255,
        "blocks": VIEW_BLOCKS,
    },
    "home": {"private_metadata": 3000, "callback_id": 255, "blocks": VIEW_BLOCKS},
}
#: The same for objects without a `type`, by their key.
MOST_UNDER: dict[str, dict[str, int]] = {
    "confirm": {"title": 100, "text": 300, "confirm": 30, "deny": 30},
    "options": {"text": 75, "value": 75, "description": 75},
    "option_groups": {"label": 75, "options": 100},
    "initial_option": {"text": 75, "value": 75, "description": 75},
}
MOST_ID = 255
TEXTS = {"plain_text", "mrkdwn"}


def assert_message(message: Json) -> None:
    """A message's `text` and `blocks`."""
    blocks = message["blocks"]
    assert 0 < len(message["text"]) <= MESSAGE_TEXT
    assert len(blocks) <= MESSAGE_BLOCKS
    assert _text_size(blocks) + A_BLOCK * len(blocks) <= MESSAGE_SIZE
    _assert_blocks(blocks)
    assert not list(over(blocks)), list(over(blocks))


def assert_view(view: Json) -> None:
    """A modal, or a Home tab."""
    assert len(json.dumps(view, ensure_ascii=False).encode()) <= VIEW_BYTES
    assert 1 <= len(view["blocks"]) <= VIEW_BLOCKS
    assert "submit" in view or all(block["type"] != "input" for block in view["blocks"])
    _assert_blocks(view["blocks"])
    assert not list(over(view)), list(over(view))
    View(**{key: part for key, part in view.items() if key != "id"}).validate_json()


def assert_calls(calls: Iterable[Json]) -> None:
    """All messages and views in these calls of the Web API, as the local Slack keeps them."""
    for call in calls:
        args = call["args"]
        if call["method"] in ("chat.postMessage", "chat.update") and "blocks" in args:
            assert_message({"text": args["text"], "blocks": _json(args["blocks"])})
        elif call["method"].startswith("views."):
            assert_view(_json(args["view"]))


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def over(value: Any, under: str = "", at: str = "") -> Iterator[str]:
    """The places where a value is longer than Slack accepts, or empty where Slack needs one."""
    if isinstance(value, list):
        for index, part in enumerate(value):
            yield from over(part, under, f"{at}/{index}")
    if not isinstance(value, dict):
        return
    limits = MOST.get(value.get("type", ""), {}) if "type" in value else MOST_UNDER.get(under, {})
    for key, part in value.items():
        most = MOST_ID if key in ("block_id", "action_id") else limits.get(key)
        words = part["text"] if isinstance(part, dict) and part.get("type") in TEXTS else part
        if most is not None and not 0 < len(words) <= most and key != "private_metadata":
            yield f"{at}/{key}: {len(words)} of {most}"
        yield from over(part, key, f"{at}/{key}")


def _assert_blocks(blocks: list[Json]) -> None:
    ids = [block["block_id"] for block in blocks if "block_id" in block]
    assert len(set(ids)) == len(ids), ids
    for block in blocks:
        parts = block.get("elements", []) if block["type"] == "actions" else []
        actions = [part["action_id"] for part in parts]
        assert len(set(actions)) == len(actions), actions
        assert len([part for part in parts if part.get("style") == "primary"]) <= 1, actions
        parsed = Block.parse(block)
        assert parsed is not None, block
        parsed.validate_json()


def _text_size(value: Any) -> int:
    """The characters of all texts, `&`, `<` and `>` as entities."""
    if isinstance(value, list):
        return sum(map(_text_size, value))
    if not isinstance(value, dict):
        return 0
    own = value.get("text", "")
    return (_length(own) if isinstance(own, str) else 0) + sum(map(_text_size, value.values()))


def _length(text: str) -> int:
    return len(text) + 4 * text.count("&") + 3 * (text.count("<") + text.count(">"))
