"""Translates errors of the Connector, of Graph and of Entra into ChannelErrors."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx

from ...answers import MAX_WAIT, READ_ERRORS, Data, read_field, read_retry_after
from ...contract import (
    ChannelError,
    MessageGone,
    NotFound,
    NotSent,
    RateLimited,
    Undeliverable,
    Unreachable,
)

#: Problems of Teams or of the operator, not of the request: the request waits and is tried again. Teams asks
#: for that after a 412 too. `InvalidBotApiHost`: the address was assumed, and an activity will tell the right
#: one.
_TRANSIENT_CODES = frozenset(
    {"BotDisabledByAdmin", "InvalidAuthenticationToken", "InvalidBotApiHost", "Unauthorized"}
)
_TRANSIENT_STATUSES = frozenset({401, 412})
#: What was sent is wrong or too large. With another status, an answer without a code is not by Teams or Graph
#: but by something on the way, as a firewall or a proxy: it may pass, and refuses nothing.
_REFUSALS = frozenset({400, 413})
_MESSAGE_GONE = frozenset({"ActivityNotFoundInConversation"})
#: With these errors, each with its status, it is certain that a card can't be posted at a place
#: (learn.microsoft.com/microsoftteams/platform/bots/build-conversational-capability#status-codes-from-bot-
#: conversational-apis, and send-proactive-messages there). Any other error says nothing about the place.
NO_PLACE = {
    (403, "BotNotInConversationRoster"): "the app is not installed there",
    (403, "ConversationBlockedByUser"): "this person blocked the app, or the channel's owners did",
    (403, "ForbiddenOperationException"): "this person has not installed the app",
    (403, "MessageWritesBlocked"): (
        "nobody may write there: it is archived, or this person blocked or removed the app"
    ),
    (404, "ConversationNotFound"): "Teams has no such conversation",
    (404, "MemberNotFoundInConversation"): "there is no such person",
    (400, "MemberNotFoundInConversation"): "there is no such person",
}
#: Those with which it is certain that the conversation does not exist for the bot.
NO_CONVERSATION = {
    code: why
    for (_, code), why in NO_PLACE.items()
    if code in ("BotNotInConversationRoster", "ConversationNotFound")
}


@asynccontextmanager
async def error_translation(name: str) -> AsyncGenerator[None, None]:
    """Turns the errors of httpx, and of reading an answer, into ChannelErrors."""
    try:
        yield
    except ChannelError:
        raise
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
        raise NotSent(f"{name}: {type(error).__name__}") from error
    except (TimeoutError, httpx.TimeoutException) as error:
        raise Unreachable(f"{name}: it took too long") from error
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        # Its own text is not used, because it may have the address.
        raise Unreachable(f"{name}: {type(error).__name__}") from error
    except READ_ERRORS as error:
        raise Unreachable(f"the answer to {name} can't be read") from error


def check_status(name: str, answer: httpx.Response) -> None:
    """Raises the ChannelError of an answer that reports a failure."""
    status = answer.status_code
    if answer.is_success:
        return
    code = _error_code(answer)
    text = f"{name} answered {code or f'HTTP {status}'}"
    if status == 429:
        raise RateLimited(_pause(answer.headers.get("Retry-After")))
    if status in _TRANSIENT_STATUSES or (code in _TRANSIENT_CODES and status < 500):
        raise NotSent(text)
    if status >= 500 or status in (408, 409) or (not code and status not in _REFUSALS):
        raise Unreachable(text)
    if code in _MESSAGE_GONE:
        raise MessageGone(text, error=code)
    if why := NO_PLACE.get((status, code)):
        raise NotFound(f"{why} ({text})", error=code)
    raise Undeliverable(text, error=code or str(status))


def _error_code(answer: httpx.Response) -> str:
    """The code in the body; "" if it has none. If a person blocked the bot, the code is inside a text."""
    try:
        body: Any = answer.json()
        if isinstance(message := body.get("message"), str) and "subCode" in message:
            return str(json.loads(message)["subCode"])
        error: Any = body["error"]
        return error if isinstance(error, str) else str(error["code"])
    except READ_ERRORS:
        return ""


def _pause(retry_after: str | None) -> float | None:
    """The seconds to wait, with a little more, so that not all bots and conversations try again at the same
    moment. None if the answer doesn't say.
    """
    seconds = read_retry_after(retry_after, MAX_WAIT * 0.8)
    return None if seconds is None else seconds * random.uniform(1.0, 1.2)


def read_data(answer: httpx.Response) -> Data:
    """The JSON object of an answer; {} if it has no body. Raises ValueError."""
    if not answer.content.strip():
        return {}
    body = answer.json()
    if not isinstance(body, dict):
        raise ValueError("no object")
    return cast(Data, body)


def read_id(answer: Data) -> str:
    """The id of the message or chat that was made. Raises ValueError if it has none."""
    if not (id := read_field(answer, "id", str)).strip():
        raise ValueError("no id")
    return id
