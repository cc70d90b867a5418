"""Calls of Slack's Web API; its errors become the channel's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from ....health.health import Health
from ...contract import (
    ChannelError,
    LookupFailed,
    MessageGone,
    NotFound,
    RateLimited,
    Undeliverable,
    Unreachable,
)

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
_MESSAGE_GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
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
_METHOD_ERRORS = frozenset({"missing_scope", "plan_upgrade_required", "not_allowed_token_type"})

#: What `read` of a look-up raises where the answer is not what Slack documents.
_READ_ERRORS = (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError)
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
        async with error_translation(method):
            answer = await self._client.api_call(method, **{kind: args})
            data: Data = answer.data
            if data.get("ok") is not True:  # the SDK takes anything that isn't empty for a yes
                raise ValueError("no ok")
        return data

    async def upload(self, conversation: str, thread: str, name: str, text: str) -> None:
        """In Slack's three steps (docs.slack.dev/messaging/working-with-files#upload)."""
        async with error_translation("files.completeUploadExternal"):
            await self._client.files_upload_v2(
                channel=conversation, thread_ts=thread, filename=name, content=text
            )

    async def look_up(
        self,
        method: str,
        read: Callable[[Data], V],
        *,
        absent_errors: Mapping[str, str] | None = None,
        about: str = "",
        **args: Any,
    ) -> V:
        """What `read` makes of the answer; it raises where the answer lacks something. An answer that has
        another page is a part, of which nothing follows: `look_through` reads all pages.

        Only the errors in `no` mean that there is no such thing: they raise NotThere with their words.
        `about` is what is looked up, where one may fail while others don't.
        """

        def read_whole(answer: Data) -> V:
            if _next_cursor(answer):
                raise ValueError("only a part")
            return read(answer)

        return await self._look_up(method, read_whole, absent_errors or {}, about, args)

    async def _look_up(
        self,
        method: str,
        read: Callable[[Data], V],
        absent_errors: Mapping[str, str],
        about: str,
        args: Mapping[str, Any],
    ) -> V:
        try:
            value = read(await self.call(method, **args))
        except (RateLimited, Unreachable) as error:
            self.health.report("lookup", method, _problem_text(str(error)))
            raise
        except Undeliverable as error:
            if text := absent_errors.get(error.error):
                self._resolve_problem(method, about)
                raise NotFound(text, error=error.error) from error
            raise self._lookup_failure(method, about, error.error, error.needed) from error
        except _READ_ERRORS as error:
            raise self._lookup_failure(method, about, "an answer that can't be read") from error
        self._resolve_problem(method, about)
        return value

    async def look_up_all(
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
            return [*map(read, read_list(answer, key))], _next_cursor(answer)

        results: list[V] = []
        cursor = ""
        for _ in range(MAX_PAGES):
            page: Data = {**args, "cursor": cursor} if cursor else args
            while True:
                try:
                    items, cursor = await self._look_up(method, read_page, no or {}, about, page)
                    break
                except RateLimited as limited:
                    if not patient:
                        raise
                    await asyncio.sleep(limited.seconds)
            results += items
            if not cursor:
                return results
        raise self._lookup_failure(method, about, f"more than {MAX_PAGES} pages")

    def _lookup_failure(
        self, method: str, about: str, error: str, needed: str = ""
    ) -> LookupFailed:
        """The error to raise, which the health knows of as well."""
        whom = f" for {about}" if about and error not in _METHOD_ERRORS else ""
        text = f"Slack's {method} failed{whom}: {error}{_scope_hint(needed)}"
        self.health.report("lookup", f"{method}{whom}", _problem_text(text))
        return LookupFailed(text, method=method, error=error, needed=needed)

    def _resolve_problem(self, method: str, about: str) -> None:
        self.health.resolve("lookup", method)
        self.health.resolve("lookup", f"{method} for {about}")


def read_field(data: Data, key: str, kind: type[V]) -> V:
    """A field of an answer. Raises ValueError where it is missing or something else."""
    value = data.get(key)
    if not isinstance(value, kind):
        raise ValueError(f"no {key}")
    return value


def _next_cursor(answer: Data) -> str:
    """The cursor of the next page, empty on the last one."""
    more: Data = answer.get("response_metadata") or {}
    return str(more.get("next_cursor") or "")


def read_object(data: Data, key: str) -> Data:
    return cast(Data, read_field(data, key, dict))


def read_list(data: Data, key: str) -> list[Any]:
    return cast("list[Any]", read_field(data, key, list))


@asynccontextmanager
async def error_translation(method: str) -> AsyncGenerator[None, None]:
    """Slack's errors become the channel's."""
    try:
        yield
    except SlackApiError as error:
        raise _to_channel_error(method, cast(Any, error.response)) from error
    except TimeoutError as error:
        raise Unreachable(f"Slack's {method}: it took too long") from error
    except (aiohttp.ClientError, OSError) as error:
        why = str(error) or type(error).__name__
        raise Unreachable(f"Slack's {method}: {why}") from error
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # Text, bytes of no charset, too deep, no object: what the SDK, or JSON, makes of it is undocumented.
        raise Unreachable(f"Slack's answer to {method} can't be read") from error


def _to_channel_error(method: str, response: Any) -> ChannelError:
    """`response` is the SDK's, or aiohttp's own where the body was no JSON."""
    data = getattr(response, "data", None)
    answer = cast(Data, data) if isinstance(data, dict) else {}
    status = int(getattr(response, "status_code", 0) or response.status)
    error = str(answer.get("error") or "")
    text = f"Slack answered {error or f'HTTP {status}'} to {method}"
    if status == 429 or error == "ratelimited":
        return RateLimited(_parse_retry_after(response.headers.get("Retry-After")))
    if error in _MESSAGE_GONE:
        return MessageGone(text, error=error)
    if error in _TRANSIENT or not error or status >= 500:
        return Unreachable(text)
    if error in NO_PLACE:
        return NotFound(f"{NO_PLACE[error]} ({text})", error=error)
    needed = str(answer.get("needed") or "")
    return Undeliverable(text + _scope_hint(needed), error=error, needed=needed)


def _parse_retry_after(given: object) -> float:
    """Of Retry-After; what is no number is a second."""
    try:
        return min(max(float(str(given)), 1.0), MAX_WAIT)
    except ValueError:
        return 1.0


def _scope_hint(needed: str) -> str:
    if not needed:
        return ""
    return f"; the app lacks the scope {needed}: compare its scopes with the manifest, and install it again"


def _problem_text(text: str) -> str:
    return f"{text}. Until it works, nobody's right to decide follows from it, and what depends on it waits."
