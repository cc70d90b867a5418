"""Reads the pressed button. Refuses one that is not ours, or that is in a modal that can't be read."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from hitl_core.errors import Refused

from .... import refusals
from ....inbox import Press, Reply
from .. import ids
from ..ids import Body
from ..modals import BACK
from ..render import has_id
from .responder import Responder

log = logging.getLogger(__name__)


class ButtonCheck(AsyncMiddleware):
    """A middleware of Bolt: a listener gets the button as its argument `press`. If it is refused, the person
    gets a sentence, and Slack its acknowledgement; otherwise Slack would show its own error.
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
                req.context["press"] = _read_press(body)
        except Refused as refused:
            log.warning("a button that can't be read was pressed")  # its texts may be anything
            await self._responder.send_reply(body, req.context.respond, Reply.refusal(refused))
            return await req.context.ack()
        await next()
        return None


def _read_press(body: Body) -> Press | None:
    """Raises Refused. None for the inputs of a form, and for its "Back", because they are no buttons of a
    card: `Submissions` reads them.
    """
    action, view = body["actions"][0], ids.view_of(body)
    if view.get("type") == "modal":
        ids.parse_meta(view)
    if action["type"] not in ("button", "overflow") or action["action_id"] == BACK:
        return None
    press = Press.parse(str((action.get("selected_option") or action).get("value") or ""))
    if not has_id(press, action["action_id"]):
        raise Refused("unknown_action", refusals.UNREADABLE_BUTTON)
    return press
