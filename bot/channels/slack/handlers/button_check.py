"""Refuses a button that is not ours, or that is in a modal that can't be read, before a listener gets it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
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


class ButtonCheck(AsyncMiddleware):
    """A middleware of Bolt. The person gets a sentence, and Slack its acknowledgement; otherwise Slack would
    show its own error.
    """

    def __init__(self, responder: Responder) -> None:
        self._responder = responder

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,
        next: Callable[[], Awaitable[Any]],
    ) -> BoltResponse | None:
        body: Body = req.body
        try:
            if body.get("type") == "block_actions":
                _check_press(body)
        except Refused as refused:
            log.warning("a button that can't be read was pressed")  # its texts may be anything
            await self._responder.send_reply(body, req.context.respond, Reply.refusal(refused))
            return await req.context.ack()
        await next()
        return None


def _check_press(body: Body) -> None:
    """Raises Refused. The inputs of a form, and its "Back", are not checked here, because they are no buttons
    of a card: `Submissions` reads them.
    """
    action, view = body["actions"][0], ids.view_of(body)
    if view.get("type") == "modal":
        ids.parse_meta(view)
    if action["type"] not in ("button", "overflow") or action["action_id"] == BACK:
        return
    if not has_id(ids.press_of(body), action["action_id"]):
        raise Refused("unknown_action", refusals.UNREADABLE_BUTTON)
