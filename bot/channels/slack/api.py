"""Calls of Slack's Web API; its errors become the channel's."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.channel import Limited, MessageGone, Undeliverable, Unreachable

#: Slack's own trouble, or the operator's: what was asked waits.
_TRANSIENT = frozenset(
    {
        "internal_error",
        "fatal_error",
        "service_unavailable",
        "request_timeout",
        "invalid_auth",
        "not_authed",
        "token_revoked",
        "token_expired",
        "account_inactive",
    }
)
_GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
#: What Slack refuses for good, in words for whoever reads on a card why it stands there.
_WORDS = {
    "cannot_dm_bot": "this is a bot",
    "channel_not_found": "the bot can't see this channel",
    "is_archived": "the channel is archived",
    "messages_tab_disabled": "the app takes no direct messages",
    "missing_scope": "the app was not given the right to do this",
    "no_such_subteam": "there is no such group",
    "not_in_channel": "the bot is not in this channel",
    "plan_upgrade_required": "this workspace has no groups",
    "restricted_action": "the workspace doesn't let the bot do this",
    "user_disabled": "this person has left",
    "user_not_found": "there is no such person",
}


class Api:
    """Every method raises Limited, Unreachable or Undeliverable."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client: Any = client  # its answers are typed as anything or nothing

    async def call(self, method: str, **args: Any) -> dict[str, Any]:
        # Slack takes JSON bodies only where it writes (docs.slack.dev/apis/web-api).
        kind = "json" if method.startswith(("chat.", "views.")) else "params"
        async with translated(method):
            answer = await self._client.api_call(method, **{kind: args})
        return answer.data

    async def upload(self, conversation: str, thread: str, name: str, text: str) -> None:
        """In Slack's three steps (docs.slack.dev/messaging/working-with-files#upload)."""
        async with translated("files.completeUploadExternal"):
            await self._client.files_upload_v2(
                channel=conversation, thread_ts=thread, filename=name, content=text
            )

    async def paged(self, method: str, key: str, **args: Any) -> AsyncIterator[Any]:
        cursor = ""
        while True:
            page = await self.call(method, **args, **({"cursor": cursor} if cursor else {}))
            for item in page.get(key, []):
                yield item
            cursor = page.get("response_metadata", {}).get("next_cursor", "")
            if not cursor:
                return


@asynccontextmanager
async def translated(method: str) -> AsyncGenerator[None, None]:
    """Slack's errors become the channel's."""
    try:
        yield
    except SlackApiError as error:
        response = cast(Any, error.response)  # aiohttp's own where the body was no JSON
        data = getattr(response, "data", None)
        status = int(getattr(response, "status_code", 0) or response.status)
        said = cast("dict[str, Any]", data).get("error") if isinstance(data, dict) else None
        name = str(said or f"HTTP {status}")
        if status == 429 or name == "ratelimited":
            raise Limited(float(response.headers.get("Retry-After", 1))) from error
        if name in _GONE:
            raise MessageGone(f"Slack answered {name} to {method}") from error
        if name in _TRANSIENT or said is None or status >= 500:
            raise Unreachable(f"Slack answered {name} to {method}") from error
        answered = f"Slack answered {name} to {method}"
        raise Undeliverable(
            f"{_WORDS[name]} ({answered})" if name in _WORDS else answered
        ) from error
    except AttributeError as error:
        # What the SDK makes of an answer of status 200 that is plain text.
        raise Unreachable(f"{method}: Slack's answer is no JSON") from error
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise Unreachable(f"{method}: {error or type(error).__name__}") from error
