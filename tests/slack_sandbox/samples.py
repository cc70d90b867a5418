"""Short ways to write blocks and views in tests."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from slack_sandbox.client.actor import Actor
from slack_sandbox.sandbox import Sandbox

Json = dict[str, Any]
Slack = Any  # an AsyncWebClient, whose answers could be anything, to its types

HERE = "C0APPROVE"


def slack(sandbox: Sandbox) -> Slack:
    """Slack's own client, with the token of the app."""
    return AsyncWebClient(sandbox.app.token, base_url=sandbox.api_url)


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


CARD = [
    actions(
        button("approve", value="r1.c1.1", style="primary"),
        {"type": "overflow", "action_id": "more", "options": [option("a"), option("b")]},
        block_id="b1",
    ),
    actions(button("approve", value="r1.c2.1"), block_id="b2"),
]


async def post(client: Slack, blocks: list[Any] | None = None, **more: Any) -> str:
    answer = await client.chat_postMessage(
        **{"channel": HERE, "text": "a card", "blocks": blocks or CARD, **more}
    )
    return answer["ts"]


async def open_modal(
    client: Slack, actor: Actor, plain_bot: Any, view: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Alice clicks, and the bot opens a modal for her."""
    ts = await post(client)
    await actor.click("U0ALICE", HERE, ts, "approve", block_id="b1")
    trigger_id = plain_bot.payloads[-1]["trigger_id"]
    return (await client.views_open(trigger_id=trigger_id, view=view or modal()))["view"]


async def refusal(client: Slack, method: str, **args: Any) -> dict[str, Any]:
    """The answer of a call that must fail."""
    with pytest.raises(SlackApiError) as caught:
        await client.api_call(method, json=args)
    answer = caught.value.response.data
    assert isinstance(answer, dict)
    return answer
