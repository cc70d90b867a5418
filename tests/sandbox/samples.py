"""Short ways to write blocks and views in tests."""

from __future__ import annotations

from typing import Any

from slack_sdk.errors import SlackApiError

Json = dict[str, Any]


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text}


def button(action_id: str = "approve", **more: Any) -> Json:
    return {"type": "button", "action_id": action_id, "text": plain("Approve"), **more}


def actions(*elements: Json, **more: Any) -> Json:
    return {"type": "actions", "elements": list(elements), **more}


def option(name: str, **more: Any) -> Json:
    return {"text": plain(name), "value": name, **more}


def field(block_id: str, element: Json, **more: Any) -> Json:
    shown = {"type": "input", "block_id": block_id, "label": plain(f"the {block_id}")}
    return {**shown, "element": {"action_id": "v", **element}, **more}


def text_field(block_id: str = "name", **element: Any) -> Json:
    return field(block_id, {"type": "plain_text_input", **element})


def modal(*blocks: Json, **more: Any) -> Json:
    return {
        "type": "modal",
        "title": plain("Edit"),
        "submit": plain("Save"),
        "blocks": list(blocks) or [text_field()],
        **more,
    }


def error_of(caught: Any) -> str:
    """Slack's short name in a SlackApiError that `pytest.raises` caught."""
    assert isinstance(caught.value, SlackApiError)
    return caught.value.response["error"]
