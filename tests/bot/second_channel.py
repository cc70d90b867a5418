"""A second channel for tests: the local Slack under another name, with the same people."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from slack_sdk.web.async_client import AsyncWebClient

from bot.card import Card
from bot.channels.slack.channel import SlackChannel
from bot.health import Health
from hitl_core.model import MessageRef, Place
from slack_sandbox.sandbox import BOT_TOKEN, Sandbox
from slack_sandbox.server import running_sandbox


class TeamsLike(SlackChannel):
    name = "teams"

    async def post(self, place: Place, card: Card) -> MessageRef:
        return _ours(await super().post(place, card))

    async def find_messages(self, place: Place, review_id: str, since: float) -> list[MessageRef]:
        return [_ours(ref) for ref in await super().find_messages(place, review_id, since)]


def _ours(ref: MessageRef) -> MessageRef:
    return ref.model_copy(update={"channel": TeamsLike.name})


@asynccontextmanager
async def second_channel() -> AsyncIterator[tuple[TeamsLike, Sandbox]]:
    async with running_sandbox() as sandbox:
        client = AsyncWebClient(token=BOT_TOKEN, base_url=sandbox.api_url, retry_handlers=[])
        channel = TeamsLike(client, "#agent-approvals", Health())
        await channel.start()
        yield channel, sandbox
