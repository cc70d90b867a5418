"""Calls Slack's Web API. Slack's errors become ChannelErrors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from slack_sdk.web.async_client import AsyncWebClient

from ....health import Health
from ...answers import READ_ERRORS, Data, read_list
from ...contract import (
    LookupFailed,
    NotFound,
    RateLimited,
    Undeliverable,
    Unreachable,
    repeat_while_limited,
)
from .slack_errors import error_translation, scope_hint

#: Errors of a method, not of one look-up: all calls of the method fail with them.
_METHOD_ERRORS = frozenset({"missing_scope", "plan_upgrade_required", "not_allowed_token_type"})

#: The most pages of a list; a longer list makes the look-up fail. The members of a channel have one or two
#: pages, and a workspace with tens of thousands of channels has fewer pages than this.
MAX_PAGES = 100

V = TypeVar("V")


class Api:
    """Every method raises RateLimited, Unreachable or Undeliverable; look-ups also raise LookupFailed.

    A failed look-up is reported to `Health` as a problem of kind `lookup` until it works again.
    """

    def __init__(self, client: AsyncWebClient, health: Health) -> None:
        self._client: Any = client  # the SDK's types are too loose
        self.health = health

    async def call(self, method: str, **args: Any) -> Data:
        # Slack accepts JSON bodies only for methods that write (docs.slack.dev/apis/web-api).
        kind = "json" if method.startswith(("chat.", "views.")) else "params"
        async with error_translation(method):
            answer = await self._client.api_call(method, **{kind: args})
            data: Data = answer.data
            if data.get("ok") is not True:  # the SDK accepts any value that is not empty
                raise ValueError("no ok")
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
        """Call a method, and return what `read` makes of the answer; `read` raises if something is missing.
        An answer with more pages is an error here: use `look_up_all`.

        Only `absent_errors` mean that the thing does not exist: they raise NotFound with their text. `about`
        names the thing, if the look-up can fail for one thing and work for others.
        """

        def read_whole(answer: Data) -> V:
            if _next_cursor(answer):
                raise ValueError("only a part")
            return read(answer)

        value = await self._look_up(method, read_whole, absent_errors or {}, about, args)
        self._resolve_problem(method, about)
        return value

    async def _look_up(
        self,
        method: str,
        read: Callable[[Data], V],
        absent_errors: Mapping[str, str],
        about: str,
        args: Mapping[str, Any],
    ) -> V:
        """Look up one page. Its success resolves no problem, because a later page may still fail each
        time.
        """
        try:
            return read(await self.call(method, **args))
        except (RateLimited, Unreachable) as error:
            self.health.report("lookup", method, _problem_text(str(error)))
            raise
        except Undeliverable as error:
            if text := absent_errors.get(error.error):
                self._resolve_problem(method, about)
                raise NotFound(text, error=error.error) from error
            raise self._lookup_failure(method, about, error.error, error.needed) from error
        except READ_ERRORS as error:
            raise self._lookup_failure(method, about, "an answer that can't be read") from error

    async def look_up_all(
        self,
        method: str,
        key: str,
        read: Callable[[Any], V],
        *,
        no: Mapping[str, str] | None = None,
        about: str = "",
        waits_for_limit: bool = False,
        is_never_empty: bool = False,
        **args: Any,
    ) -> list[V]:
        """Like `look_up`, for a list with pages: `read` is called for each item. `waits_for_limit`: when
        Slack limits the rate, it waits and continues with the same page. `is_never_empty`: an empty list is
        no answer. Raises LookupFailed for an endless list.
        """

        def read_page(answer: Data) -> tuple[list[V], str]:
            return [*map(read, read_list(answer, key))], _next_cursor(answer)

        results: list[V] = []
        cursor = ""
        for _ in range(MAX_PAGES):
            page: Data = {**args, "cursor": cursor} if cursor else args
            call = partial(self._look_up, method, read_page, no or {}, about, page)
            items, cursor = await (repeat_while_limited(call) if waits_for_limit else call())
            results += items
            if not cursor and is_never_empty and not results:
                raise self._lookup_failure(method, about, "an empty list")
            if not cursor:
                self._resolve_problem(method, about)
                return results
        raise self._lookup_failure(method, about, f"more than {MAX_PAGES} pages")

    def _lookup_failure(
        self, method: str, about: str, error: str, needed: str = ""
    ) -> LookupFailed:
        """The error to raise; it is also reported to Health."""
        whom = f" for {about}" if about and error not in _METHOD_ERRORS else ""
        text = f"Slack's {method} failed{whom}: {error}{scope_hint(needed)}"
        self.health.report("lookup", f"{method}{whom}", _problem_text(text))
        return LookupFailed(text, method=method, error=error, needed=needed)

    def _resolve_problem(self, method: str, about: str) -> None:
        self.health.resolve("lookup", method)
        self.health.resolve("lookup", f"{method} for {about}")


def _next_cursor(answer: Data) -> str:
    """The cursor of the next page; "" on the last one."""
    more: Data = answer.get("response_metadata") or {}
    return str(more.get("next_cursor") or "")


def _problem_text(text: str) -> str:
    return f"{text}. Until it works, decisions that need this look-up are refused, and their reviews wait."
