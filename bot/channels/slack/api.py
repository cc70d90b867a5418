"""Calls of Slack's Web API; its errors become the channel's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.channel import (
    ChannelError,
    Limited,
    LookupFailed,
    MessageGone,
    NotThere,
    Undeliverable,
    Unreachable,
)
from bot.health import Health

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
#: What surely means that a card can't be there, in words for who reads on it why it is shown elsewhere
#: (docs.slack.dev/reference/methods/chat.postMessage, conversations.open). Every other refusal, known or new,
#: says nothing about the place.
NO_PLACE = {
    "cannot_dm_bot": "this is a bot",
    "channel_not_found": "the bot can't see this channel",
    "is_archived": "the channel is archived",
    "messages_tab_disabled": "the app takes no direct messages",
    "not_in_channel": "the bot is not in this channel",
    "restricted_action": "the workspace doesn't let the bot do this",
    "restricted_action_read_only_channel": "only some people may post in this channel",
    "user_disabled": "this person has left",
    "user_not_found": "there is no such person",
}
#: Slack asks for a minute at most; whoever asks for more is asked again then.
MAX_WAIT = 120.0
#: What is not about the one thing that was asked for: all calls of the method fail.
_OF_ALL = frozenset({"missing_scope", "plan_upgrade_required", "not_allowed_token_type"})

#: What `read` of a look-up raises where the answer is not what Slack documents.
_UNREADABLE = (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError)
#: A list of more pages than this is not known: a channel has one or two pages of members, and a workspace
#: with tens of thousands of channels less than this.
MAX_PAGES = 100

V = TypeVar("V")
Data = dict[str, Any]


class Api:
    """Every method raises Limited, Unreachable or Undeliverable; what looks something up LookupFailed too. A
    look-up that fails is a problem of the kind `lookup` until it works again.
    """

    def __init__(self, client: AsyncWebClient, health: Health) -> None:
        self._client: Any = client  # its answers are typed as anything or nothing
        self.health = health

    async def call(self, method: str, **args: Any) -> Data:
        # Slack takes JSON bodies only where it writes (docs.slack.dev/apis/web-api).
        kind = "json" if method.startswith(("chat.", "views.")) else "params"
        async with translated(method):
            answer = await self._client.api_call(method, **{kind: args})
            data: Data = answer.data
            if data.get("ok") is not True:  # the SDK takes anything that isn't empty for a yes
                raise ValueError("no ok")
        return data

    async def upload(self, conversation: str, thread: str, name: str, text: str) -> None:
        """In Slack's three steps (docs.slack.dev/messaging/working-with-files#upload)."""
        async with translated("files.completeUploadExternal"):
            await self._client.files_upload_v2(
                channel=conversation, thread_ts=thread, filename=name, content=text
            )

    async def look(
        self,
        method: str,
        read: Callable[[Data], V],
        *,
        no: Mapping[str, str] | None = None,
        about: str = "",
        **args: Any,
    ) -> V:
        """What `read` makes of the answer; it raises where the answer lacks something. An answer that has
        another page is a part, of which nothing follows: `look_through` reads all pages.

        Only the errors in `no` mean that there is no such thing: they raise NotThere with their words.
        `about` is what is looked up, where one may fail while others don't.
        """

        def read_whole(answer: Data) -> V:
            if _next(answer):
                raise ValueError("only a part")
            return read(answer)

        return await self._look(method, read_whole, no or {}, about, args)

    async def _look(
        self,
        method: str,
        read: Callable[[Data], V],
        no: Mapping[str, str],
        about: str,
        args: Mapping[str, Any],
    ) -> V:
        try:
            found = read(await self.call(method, **args))
        except (Limited, Unreachable) as error:
            self.health.report("lookup", method, _sentence(str(error)))
            raise
        except Undeliverable as error:
            if words := no.get(error.error):
                self._works(method, about)
                raise NotThere(words, error=error.error) from error
            raise self._failed(method, about, error.error, error.needed) from error
        except _UNREADABLE as error:
            raise self._failed(method, about, "an answer that can't be read") from error
        self._works(method, about)
        return found

    async def look_through(
        self,
        method: str,
        key: str,
        read: Callable[[Any], V],
        *,
        no: Mapping[str, str] | None = None,
        about: str = "",
        patient: bool = False,
        **args: Any,
    ) -> list[V]:
        """The same of a list that comes in pages: what `read` makes of each item. `patient`: where Slack
        limits, wait and go on with the same page. Raises LookupFailed for a list that doesn't end.
        """

        def read_page(answer: Data) -> tuple[list[V], str]:
            return [*map(read, list_in(answer, key))], _next(answer)

        found: list[V] = []
        cursor = ""
        for _ in range(MAX_PAGES):
            page: Data = {**args, "cursor": cursor} if cursor else args
            while True:
                try:
                    items, cursor = await self._look(method, read_page, no or {}, about, page)
                    break
                except Limited as limited:
                    if not patient:
                        raise
                    await asyncio.sleep(limited.seconds)
            found += items
            if not cursor:
                return found
        raise self._failed(method, about, f"more than {MAX_PAGES} pages")

    def _failed(self, method: str, about: str, error: str, needed: str = "") -> LookupFailed:
        """The error to raise, which the health knows of as well."""
        whom = f" for {about}" if about and error not in _OF_ALL else ""
        text = f"Slack's {method} failed{whom}: {error}{_scope(needed)}"
        self.health.report("lookup", f"{method}{whom}", _sentence(text))
        return LookupFailed(text, method=method, error=error, needed=needed)

    def _works(self, method: str, about: str) -> None:
        self.health.resolve("lookup", method)
        self.health.resolve("lookup", f"{method} for {about}")


def typed(data: Data, key: str, kind: type[V]) -> V:
    """A field of an answer. Raises ValueError where it is missing or something else."""
    value = data.get(key)
    if not isinstance(value, kind):
        raise ValueError(f"no {key}")
    return value


def _next(answer: Data) -> str:
    """The cursor of the next page, empty on the last one."""
    more: Data = answer.get("response_metadata") or {}
    return str(more.get("next_cursor") or "")


def object_in(data: Data, key: str) -> Data:
    return cast(Data, typed(data, key, dict))


def list_in(data: Data, key: str) -> list[Any]:
    return cast("list[Any]", typed(data, key, list))


@asynccontextmanager
async def translated(method: str) -> AsyncGenerator[None, None]:
    """Slack's errors become the channel's."""
    try:
        yield
    except SlackApiError as error:
        raise _meaning(method, cast(Any, error.response)) from error
    except TimeoutError as error:
        raise Unreachable(f"Slack's {method}: it took too long") from error
    except (aiohttp.ClientError, OSError) as error:
        why = str(error) or type(error).__name__
        raise Unreachable(f"Slack's {method}: {why}") from error
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # Text, bytes of no charset, too deep, no object: what the SDK, or JSON, makes of it is undocumented.
        raise Unreachable(f"Slack's answer to {method} can't be read") from error


def _meaning(method: str, response: Any) -> ChannelError:
    """`response` is the SDK's, or aiohttp's own where the body was no JSON."""
    data = getattr(response, "data", None)
    answer = cast(Data, data) if isinstance(data, dict) else {}
    status = int(getattr(response, "status_code", 0) or response.status)
    error = str(answer.get("error") or "")
    text = f"Slack answered {error or f'HTTP {status}'} to {method}"
    if status == 429 or error == "ratelimited":
        return Limited(_seconds(response.headers.get("Retry-After")))
    if error in _GONE:
        return MessageGone(text, error=error)
    if error in _TRANSIENT or not error or status >= 500:
        return Unreachable(text)
    if error in NO_PLACE:
        return NotThere(f"{NO_PLACE[error]} ({text})", error=error)
    needed = str(answer.get("needed") or "")
    return Undeliverable(text + _scope(needed), error=error, needed=needed)


def _seconds(given: object) -> float:
    """Of Retry-After; what is no number is a second."""
    try:
        return min(max(float(str(given)), 1.0), MAX_WAIT)
    except ValueError:
        return 1.0


def _scope(needed: str) -> str:
    if not needed:
        return ""
    return f"; the app lacks the scope {needed}: compare its scopes with the manifest, and install it again"


def _sentence(text: str) -> str:
    return f"{text}. Until it works, nobody's right to decide follows from it, and what depends on it waits."
