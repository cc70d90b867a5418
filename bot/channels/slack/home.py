"""App Home and `/approvals`: what waits for a person, with its buttons."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from slack_bolt.async_app import AsyncAck

from bot import budget
from bot.channel import ChannelError, LookupFailed
from bot.channels.slack import blocks, ids
from bot.channels.slack.channel import SlackChannel
from bot.channels.slack.home_blocks import failed_blocks, list_blocks, total, view_blocks
from bot.channels.slack.ids import Body
from bot.channels.slack.rich import Block, inert
from bot.home import Homes
from bot.inbox import AWAY, Inbox
from bot.keeper import KEPT
from bot.text import one_line
from hitl_core.errors import HitlError, Refused
from hitl_core.model import Reviewer
from hitl_core.store import Store

log = logging.getLogger(__name__)

#: Slack takes an answer within 3 s.
IN_TIME = 2.2
USAGE = "Try `/approvals` for what waits for you, or `/approvals show ID` for one review."


class HomeTab:
    """All bots of one Redis know which page of whose Home is shown, and what stands on it."""

    def __init__(self, homes: Homes, inbox: Inbox, channel: SlackChannel, store: Store) -> None:
        self._homes, self._inbox, self._channel, self._store = homes, inbox, channel, store

    def register(self, app: Any) -> None:
        """`app` is Bolt's AsyncApp, whose decorators carry no types."""
        app.event("app_home_opened")(self.opened)
        app.action(re.compile("home_page:.*"))(self.turn)
        app.command("/approvals")(self.command)

    async def opened(self, event: Body) -> None:
        if event.get("tab") != "home":
            return
        user_id = str(event["user"])
        await self._try(user_id, self._opened(user_id))

    async def turn(self, ack: AsyncAck, body: Body) -> None:
        user_id, page = str(body["user"]["id"]), ids.last_number(ids.value(body))
        await self._try(user_id, self.publish(user_id, page))
        await ack()

    async def publish(self, user_id: str, page: int | None = None, *, anew: bool = False) -> None:
        """This page, or the one that is shown. What stands there already is not drawn again, unless `anew`.
        Raises ChannelError, StoreUnavailable.
        """
        key = _shown(user_id)
        noted = json.loads(await self._store.draft(key) or b"{}")
        who = await self._reviewer(user_id)
        home = await self._homes.of(who, noted.get("page", 0) if page is None else page)
        view = {"type": "home", "blocks": view_blocks(home, self._channel)}
        digest = hashlib.sha256(json.dumps(view).encode()).hexdigest()
        if not anew and noted.get("digest") == digest:
            return
        await self._channel.publish_home(user_id, view)
        shown = json.dumps({"page": home.page, "digest": digest}).encode()
        await self._store.save_draft(key, shown, KEPT)

    async def command(self, ack: AsyncAck, body: Body) -> None:
        """`/approvals` and `/approvals show ID`: seen by who typed it, and by nobody else."""
        message: dict[str, Any]
        try:
            async with budget.within(IN_TIME):
                message = await self._answer(body)
        except (HitlError, ChannelError, TimeoutError) as error:
            if not isinstance(error, Refused):
                log.warning("/approvals could not be answered: %s", error or "it took too long")
            message = {"text": inert(one_line(_reason(error)))}
        await ack(response_type="ephemeral", text=message["text"], blocks=message.get("blocks"))

    async def _answer(self, body: Body) -> dict[str, Any]:
        verb, _, rest = str(body.get("text") or "").strip().partition(" ")
        who = await self._reviewer(str(body["user_id"]), str(body["team_id"]))
        if not verb:
            home = await self._homes.of(who)
            return {"text": total(home), "blocks": list_blocks(home, self._channel)}
        if verb != "show" or not rest.strip():
            return {"text": USAGE}
        shown = await self._inbox.access.shown(await self._homes.named(who, rest), who)
        message = blocks.message(shown, self._channel.name_of, self._channel.link)
        return {**message, "blocks": _without_escalate(message["blocks"])}

    async def _opened(self, user_id: str) -> None:
        await self._store.opened_home(user_id, await self._store.now())
        await self.publish(user_id, 0, anew=True)

    async def _try(self, user_id: str, drawing: Coroutine[Any, Any, None]) -> None:
        """Slack asks again for what is not answered in time; here the next look mends it."""
        try:
            async with budget.within(IN_TIME):
                await drawing
        except (HitlError, ChannelError, TimeoutError) as error:
            log.warning("the Home of %s could not be drawn: %s", user_id, error or "too slow")
            await self._say_why(user_id, error)

    async def _say_why(self, user_id: str, error: Exception) -> None:
        """In their Home, until it can be drawn."""
        with suppress(HitlError, ChannelError, TimeoutError):
            async with budget.within(IN_TIME / 4):
                view = {"type": "home", "blocks": failed_blocks(_reason(error))}
                await self._channel.publish_home(user_id, view)
                await self._store.drop_draft(_shown(user_id))

    async def _reviewer(self, user_id: str, team: str = "") -> Reviewer:
        return await self._inbox.who(user_id, team or self._channel.team, user_id)


def _shown(user_id: str) -> str:
    """Where it is kept what their Home shows."""
    return f"home:{user_id}"


def _reason(error: Exception) -> str:
    """What went wrong, by the name of the system that failed."""
    match error:
        case Refused():
            return str(error)
        case HitlError():
            return AWAY
        case LookupFailed():
            return f"{error}. Tell the people who run the bot."
        case ChannelError():
            return f"Slack didn't say what this needs: {error}. Try again in a moment."
        case _:
            return "Slack or the store took too long to answer. Try again in a moment."


def _without_escalate(drawn: list[Block]) -> list[Block]:
    """To pass it on belongs to its own card, which says from where."""
    kept = list[Block]()
    for block in drawn:
        if block["type"] == "actions":
            elements = [one for one in block["elements"] if one["action_id"] != "escalate"]
            block = {**block, "elements": elements}
        if block.get("elements") != []:
            kept.append(block)
    return kept
