"""Translates Slack's errors into ChannelErrors."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

import aiohttp
from slack_sdk.errors import SlackApiError, SlackRequestError

from ...answers import READ_ERRORS, Data, read_retry_after
from ...contract import (
    ChannelError,
    MessageFixed,
    MessageGone,
    NotFound,
    NotSent,
    RateLimited,
    Undeliverable,
    Unreachable,
)

#: Problems of Slack or of the operator, not of the request: the request waits and is tried again.
_TRANSIENT = frozenset(
    {
        "internal_error",
        "fatal_error",
        "service_unavailable",
        "request_timeout",
        "external_channel_migrating",
        "team_added_to_org",
        "update_failed",
    }
)
#: The same, but Slack certainly did nothing.
_NO_TOKEN = frozenset(
    {"invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive"}
)
_NEW_TOKEN = (
    "; the app was uninstalled, or has another token now: install it, and restart the bot with the token in"
    " SLACK_BOT_TOKEN"
)
#: A limit of the rate. Only the first one comes with HTTP 429 and a time
#: (docs.slack.dev/reference/methods/chat.postMessage).
_LIMITED = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
_MESSAGE_FIXED = frozenset({"cant_update_message", "edit_window_closed"})
#: With these errors it is certain that a card can't be posted at a place
#: (docs.slack.dev/reference/methods/chat.postMessage, conversations.open). The text is shown on the card at
#: the fallback place. Any other error says nothing about the place.
NO_PLACE = {
    "cannot_dm_bot": "this is a bot",
    "channel_not_found": "the bot can't see this channel",
    "is_archived": "the channel is archived",
    "is_inactive": "the channel is archived, frozen or deleted",  # chat.update's word for it
    "messages_tab_disabled": "direct messages to the app are off",
    "not_in_channel": "the bot is not in this channel",
    "restricted_action": "the workspace doesn't let the bot do this",
    "restricted_action_non_threadable_channel": "this channel has no threads",
    "restricted_action_read_only_channel": "only some people may post in this channel",
    "restricted_action_thread_locked": "this thread is locked",
    "restricted_action_thread_only_channel": "this channel only takes messages in threads",
    "user_disabled": "this person has left",
    "user_not_found": "there is no such person",
}


@asynccontextmanager
async def error_translation(method: str) -> AsyncGenerator[None, None]:
    """Turns the SDK's and aiohttp's errors into ChannelErrors."""
    try:
        yield
    except SlackApiError as error:
        raise _to_channel_error(method, cast(Any, error.response)) from error
    except TimeoutError as error:
        raise Unreachable(f"Slack's {method}: it took too long") from error
    except aiohttp.ClientConnectorError as error:
        raise NotSent(f"Slack's {method}: {error}") from error
    except (aiohttp.ClientError, OSError) as error:
        why = str(error) or type(error).__name__
        raise Unreachable(f"Slack's {method}: {why}") from error
    except SlackRequestError as error:  # of an upload
        raise Unreachable(f"Slack's {method}: the file was not taken") from error
    except READ_ERRORS as error:
        # The SDK and `json` raise undocumented errors for a body that is no JSON object, is nested too
        # deeply, or is no text.
        raise Unreachable(f"Slack's answer to {method} can't be read") from error


def _to_channel_error(method: str, response: Any) -> ChannelError:
    """`response` is the SDK's, or aiohttp's if the body was not JSON."""
    data = getattr(response, "data", None)
    answer = cast(Data, data) if isinstance(data, dict) else {}
    status = int(getattr(response, "status_code", 0) or response.status)
    error = str(answer.get("error") or "")
    text = f"Slack answered {error or f'HTTP {status}'} to {method}"
    if status == 429 or error in _LIMITED:
        return RateLimited(read_retry_after(response.headers.get("Retry-After")))
    if error == "message_not_found":
        return MessageGone(text, error=error)
    if error in _MESSAGE_FIXED:
        return MessageFixed(text, error=error)
    if error in _NO_TOKEN:
        return NotSent(text + _NEW_TOKEN)
    if error in _TRANSIENT or not error or status >= 500:
        return Unreachable(text)
    if error in NO_PLACE:
        return NotFound(f"{NO_PLACE[error]} ({text})", error=error)
    needed = str(answer.get("needed") or "")
    return Undeliverable(text + scope_hint(needed), error=error, needed=needed)


def scope_hint(needed: str) -> str:
    """The hint to add to an error if the app lacks the scope `needed`; "" otherwise."""
    if not needed:
        return ""
    return f"; the app lacks the scope {needed}: compare its scopes with the manifest and reinstall the app"
