"""Clicks on cards that are out of date, repeated clicks, and clicks that are forged and signed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs

from hitl_core.store.redis.packing import unpack
from slack_sandbox.client.actor import Actor
from slack_sandbox.sandbox import SIGNING_SECRET
from tests.support.bots import Scene
from tests.support.slack import Message, buttons

Payload = dict[str, Any]


@asynccontextmanager
async def freeze_cards(actor: Actor) -> AsyncIterator[None]:
    """People look at a card that Slack has not drawn again yet: its buttons are stale."""
    await actor.inject_fault("http_500", method="chat.update")
    yield
    await actor.inject_fault("ok", method="chat.update")


async def last_click(scene: Scene) -> Payload:
    """The payload that Slack sent for the last press of a button."""
    bodies = [parse_qs(each["body"]) for each in await scene.actor.deliveries()]
    payloads = [json.loads(body["payload"][0]) for body in bodies if "payload" in body]
    return [payload for payload in payloads if payload["type"] == "block_actions"][-1]


async def forge_click(
    scene: Scene, card: Message, action_id: str, person: str, value: str | None = None
) -> Payload:
    """The last click, changed as if this person had pressed this button of this card. `value` replaces the
    button's value.
    """
    payload = await last_click(scene)
    block_id, button = buttons(card, action_id)[0]
    pressed = {"action_id": action_id, "block_id": block_id, "value": value or button["value"]}
    payload["user"]["id"] = person
    payload["trigger_id"] = f"1.2.{person}.{pressed['value']}"
    payload["container"]["message_ts"] = card["ts"]
    payload["actions"][0] |= pressed
    return payload


async def send(scene: Scene, payload: Payload, url: str | None = None) -> None:
    """Sends a signed payload to the newest bot, or to `url`."""
    status, _ = await scene.actor.send_payload(
        url or scene.sandbox.bot_url or "", payload, SIGNING_SECRET
    )
    assert status == 200


async def audit_events(scene: Scene) -> list[dict[str, Any]]:
    """The events in the audit, oldest first."""
    redis = await scene.redis()
    entries = await redis.xrange("hitl:{0}:audit")
    return [json.loads(unpack(entry[b"event"])) for _, entry in entries]


async def refusals(scene: Scene) -> list[tuple[str, str]]:
    """The refusals in the audit: who was refused, and why."""
    events = await audit_events(scene)
    return [(each["by"]["id"], each["what"]) for each in events if each["kind"] == "refused"]
