"""Handles every error that a handler doesn't handle: one sentence for the person, and one line in the log."""

from __future__ import annotations

import logging
from typing import Any

from slack_bolt.async_app import AsyncRespond
from slack_bolt.response import BoltResponse

from hitl_core.errors import HitlError, Refused

from ....forms import Notice
from ....inbox import Reply, list_error
from ....logs import trace_of
from ....text import one_line
from ...contract import ChannelError
from ..ids import Body
from ..places import LABEL
from ..render import plain_message
from .home import HomeTab
from .responder import Responder
from .submissions import to_response

log = logging.getLogger(__name__)


class Failures:
    def __init__(self, responder: Responder, home: HomeTab) -> None:
        self._responder, self._home = responder, home

    def register(self, app: Any) -> None:
        """`app` is Bolt's AsyncApp, whose decorators have no types."""
        app.error(self.answer)

    async def answer(
        self, error: Exception, body: Body, respond: AsyncRespond
    ) -> BoltResponse | None:
        """Slack's acknowledgement, if the person got the sentence. Otherwise the status stays 500, so that
        Slack shows its own error, or sends an event again. Never raises. Nothing of the payload is logged,
        which Bolt's own handler might do.
        """
        log.log(_level(error), "an action in Slack could not be handled: %s", trace_of(error))
        try:
            return await self._tell(error, body, respond)
        except Exception as second:
            log.error("a person in Slack could not be told of it: %s", trace_of(second))
            return None

    async def _tell(
        self, error: Exception, body: Body, respond: AsyncRespond
    ) -> BoltResponse | None:
        text = list_error(error, LABEL)
        match body:
            case {"type": "view_submission", "view": view}:
                return _acknowledge(to_response(Notice(text, fixable=True), view))
            case {"type": "block_actions"}:
                await self._responder.send_reply(body, respond, Reply("unavailable", text))
                return _acknowledge({})
            case {"command": _}:
                return _acknowledge({"response_type": "ephemeral", **plain_message(one_line(text))})
            case {"event": {"type": "app_home_opened", "user": str(user_id)}}:
                await self._home.show_error(user_id, error)
                return _acknowledge({})
            case _:
                return None


def _level(error: Exception) -> int:
    is_ours = isinstance(error, HitlError | ChannelError | TimeoutError)
    return (
        logging.INFO
        if isinstance(error, Refused)
        else (logging.WARNING if is_ours else logging.ERROR)
    )


def _acknowledge(body: dict[str, Any]) -> BoltResponse:
    return BoltResponse(status=200, body=body or "")
