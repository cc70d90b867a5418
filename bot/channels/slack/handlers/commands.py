"""Handles `/approvals` and `/approvals show ID`. Only the person who typed it sees the answer."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from slack_bolt.async_app import AsyncAck

from hitl_core.errors import HitlError, Refused

from .... import click_budget
from ....card import Code, Line, Text
from ....inbox import HomeLoader, Inbox, list_error, offload_home
from ....text import one_line
from ...contract import ChannelError
from ..channel import SlackChannel
from ..ids import Body
from ..places import LABEL, NAME
from ..render import list_blocks, mrkdwn_text, plain_message, summary

log = logging.getLogger(__name__)

#: The answer to a wrong `/approvals`.
HELP: Line = (
    Text("Use "),
    Code("/approvals"),
    Text(" to list what waits for you, or "),
    Code("/approvals show ID"),
    Text(" for one review."),
)


class Commands:
    def __init__(self, inbox: Inbox, homes: HomeLoader, channel: SlackChannel) -> None:
        self._inbox, self._homes, self._channel = inbox, homes, channel

    def register(self, app: Any) -> None:
        """`app` is Bolt's AsyncApp, whose decorators have no types."""
        app.command("/approvals")(self.on_command)

    async def on_command(self, ack: AsyncAck, body: Body) -> None:
        reply: dict[str, Any]
        try:
            async with click_budget.timeout("home"):
                reply = await self._answer(body)
        except (HitlError, ChannelError, TimeoutError) as error:
            if not isinstance(error, Refused):
                log.warning("/approvals could not be answered: %s", error or "it took too long")
            reply = plain_message(one_line(list_error(error, LABEL)))
        await ack(response_type="ephemeral", text=reply["text"], blocks=reply.get("blocks"))

    async def _answer(self, body: Body) -> dict[str, Any]:
        verb, _, rest = str(body.get("text") or "").strip().partition(" ")
        user_id, team = str(body["user_id"]), str(body["team_id"])
        who = await self._inbox.directory.load_reviewer(NAME, user_id, team, user_id)
        if not verb:
            home = await self._homes.load_home(who)
            content = await offload_home(home, lambda home: list_blocks(home, self._channel))
            return {"text": summary(home), "blocks": content}
        if verb != "show" or not rest.strip():
            return {"text": mrkdwn_text(HELP)}
        card = await self._inbox.reader.card(await self._homes.find_review_id(who, rest), who)
        return await asyncio.to_thread(self._channel.card_message, card)
