"""What is no button of ours is refused before a listener gets it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncRespond
from slack_bolt.response import BoltResponse

from hitl_core.errors import Refused

from .... import refusals
from ....inbox import Reply
from .. import ids
from ..ids import Body
from ..modals import BACK
from ..render import has_id
from .responder import Responder

log = logging.getLogger(__name__)


class ButtonCheck:
    def __init__(self, responder: Responder) -> None:
        self._responder = responder

    async def check(
        self,
        ack: AsyncAck,
        body: Body,
        respond: AsyncRespond,
        next: Callable[[], Awaitable[Any]],
    ) -> BoltResponse | None:
        """A middleware of Bolt, which passes arguments by their names. The person gets a sentence, and Slack
        its acknowledgement: otherwise Slack shows an error of its own.
        """
        if body.get("type") != "block_actions" or _is_valid(body):
            await next()
            return None
        log.warning("a button that is none of ours was pressed")  # its texts may be anything
        reply = Reply("unknown_action", refusals.UNREADABLE_BUTTON)
        await self._responder.send_reply(body, respond, reply)
        return await ack()


def _is_valid(body: Body) -> bool:
    """The inputs of a form, and its "Back", are no buttons of a card: `Submissions` reads them."""
    action = body["actions"][0]
    if action["type"] not in ("button", "overflow") or action["action_id"] == BACK:
        return True
    try:
        return has_id(ids.press_of(body), action["action_id"])
    except Refused:
        return False
