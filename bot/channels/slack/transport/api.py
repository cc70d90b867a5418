"""Calls Slack's Web API. Slack's errors become ChannelErrors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from slack_sdk.web.async_client import AsyncWebClient

from hitl_core.errors import StoreUnavailable

from ....health import Health
from ...answers import Data
from ...contract import NotFound, NotSent
from ...look_up_api import LookUpApi
from .moved import MovedConversations
from .slack_errors import error_translation, scope_hint

V = TypeVar("V")


@dataclass(frozen=True)
class Request:
    """A look-up: the method and its arguments. `about`: see `LookUp`."""

    name: str
    args: Data
    about: str = ""


class Api(LookUpApi[Request]):
    """Every method raises RateLimited, Unreachable or Undeliverable; look-ups also raise LookupFailed."""

    prefix = "Slack's "
    method_errors = frozenset({"missing_scope", "plan_upgrade_required", "not_allowed_token_type"})

    def __init__(
        self, client: AsyncWebClient, health: Health, moved: MovedConversations | None = None
    ) -> None:
        super().__init__(health)
        self.moved = moved or MovedConversations(health)
        self._client: Any = client  # the SDK's types are too loose

    async def call(self, method: str, **args: Any) -> Data:
        """Call the method. `channel` may be the first id of a conversation that has another one now."""
        if (channel := args.get("channel")) is None:
            return await self._call(method, args)
        sent = self.moved.current(channel)
        try:
            return await self._call(method, {**args, "channel": sent})
        except NotFound:
            try:
                await self.moved.load()  # another bot may have got the event
            except StoreUnavailable as error:
                raise NotSent(f"Slack's {method}: the store: {error}") from error
            if (newer := self.moved.current(channel)) == sent:
                raise
            return await self._call(method, {**args, "channel": newer})

    async def _call(self, method: str, args: Data) -> Data:
        # Slack accepts JSON bodies only for methods that write (docs.slack.dev/apis/web-api).
        kind = "json" if method.startswith(("chat.", "views.")) else "params"
        async with error_translation(method):
            answer = await self._client.api_call(method, **{kind: args})
            data: Data = answer.data
            if data.get("ok") is not True:  # the SDK accepts any value that is not empty
                raise ValueError("no ok")
        if isinstance(posted_to := data.get("channel"), str):
            data["channel"] = self.moved.first(posted_to)
        return data

    async def call_and_read(self, method: str, read: Callable[[Data], V], **args: Any) -> V:
        """Like `call`, with the answer read by `read`. If the answer can't be read, it raises Unreachable,
        because the call may have succeeded.
        """
        data = await self.call(method, **args)
        async with error_translation(method):
            return read(data)

    async def upload(self, conversation: str, thread: str, name: str, text: str) -> None:
        """Upload a file in Slack's three steps (docs.slack.dev/messaging/working-with-files#upload)."""
        async with error_translation("files.completeUploadExternal"):
            await self._client.files_upload_v2(
                channel=self.moved.current(conversation),
                thread_ts=thread,
                filename=name,
                content=text,
            )

    async def fetch(self, question: Request) -> Data:
        return await self.call(question.name, **question.args)

    def next_page(self, question: Request, answer: Data) -> Request | None:
        more: Data = answer.get("response_metadata") or {}
        cursor = str(more.get("next_cursor") or "")
        return replace(question, args={**question.args, "cursor": cursor}) if cursor else None

    def hint(self, needed: str) -> str:
        return scope_hint(needed)
