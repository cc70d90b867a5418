"""Look-ups in a chat system: each answers yes, no (`NotFound`) or unknown (every other `ChannelError`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from ..health import Health
from .answers import READ_ERRORS, Data, NoAnswer, read_list
from .contract import (
    LookupFailed,
    NotFound,
    RateLimited,
    Undeliverable,
    Unreachable,
    repeat_while_limited,
)

#: The most pages of a list; a longer list makes the look-up fail. Slack's lists are the longest: the members
#: of a channel have one or two pages, and tens of thousands of channels have fewer pages than this.
MAX_PAGES = 100
#: Why a look-up fails whose answer differs from its documentation.
UNREADABLE = "an answer that can't be read"


class LookUp(Protocol):
    """A call that only reads. `name`: of the method. `about`: names the thing, if the look-up can fail for
    one thing and work for others; otherwise "".
    """

    @property
    def name(self) -> str: ...
    @property
    def about(self) -> str: ...


Q = TypeVar("Q", bound=LookUp)
V = TypeVar("V")


class LookUpApi(ABC, Generic[Q]):
    """The look-ups raise RateLimited, Unreachable, NotFound and LookupFailed. A failed one is reported to
    `health` as a problem of kind `lookup` until it works again.
    """

    #: What is before a method's name in a sentence.
    prefix = ""
    #: The errors of a method: all its calls fail with them, whatever they are about.
    method_errors: frozenset[str] = frozenset()

    def __init__(self, health: Health) -> None:
        self.health = health

    @abstractmethod
    async def fetch(self, question: Q) -> Data:
        """The answer. Raises ChannelError, or NoAnswer."""

    @abstractmethod
    def next_page(self, question: Q, answer: Data) -> Q | None:
        """The look-up of the next page; None on the last one. Raises ValueError."""

    @abstractmethod
    def hint(self, needed: str) -> str:
        """What to do if the app lacks this permission; "" for ""."""

    async def look_up(
        self,
        question: Q,
        read: Callable[[Data], V],
        absent_errors: Mapping[str, str] | None = None,
    ) -> V:
        """What `read` makes of the answer; `read` raises if something is missing. An answer with more pages
        is an error here: use `look_up_all`. Only `absent_errors` (the chat system's own codes) mean that the
        thing does not exist: they raise NotFound with their text.
        """

        def read_whole(answer: Data) -> V:
            if self.next_page(question, answer) is not None:
                raise ValueError("only a part")
            return read(answer)

        value = await self._look_up(question, read_whole, absent_errors or {})
        self._resolve_problem(question)
        return value

    async def look_up_all(
        self,
        question: Q,
        key: str,
        read: Callable[[Any], V],
        *,
        absent_errors: Mapping[str, str] | None = None,
        waits_for_limit: bool = False,
        is_enough: Callable[[list[V]], bool] = lambda page: False,
        is_never_empty: bool = False,
    ) -> list[V]:
        """Like `look_up`, for a list with pages: `read` is called for each item of `key`. `waits_for_limit`:
        when the rate is limited, it waits and continues with the same page. It stops after a page for which
        `is_enough` is true. `is_never_empty`: an empty list is no answer. Raises LookupFailed for an endless
        list.
        """

        def read_page(answer: Data) -> tuple[list[V], Q | None]:
            return [*map(read, read_list(answer, key))], self.next_page(page, answer)

        results: list[V] = []
        page = question
        for _ in range(MAX_PAGES):
            call = partial(self._look_up, page, read_page, absent_errors or {})
            items, after = await (repeat_while_limited(call) if waits_for_limit else call())
            results += items
            if after is None or is_enough(items):
                if is_never_empty and not results:
                    raise self._failure(question, "an empty list")
                self._resolve_problem(question)
                return results
            page = after
        raise self._failure(question, f"more than {MAX_PAGES} pages")

    async def _look_up(
        self, question: Q, read: Callable[[Data], V], absent_errors: Mapping[str, str]
    ) -> V:
        """Look up one page. Its success resolves no problem: a later page may still fail each time."""
        try:
            return read(await self.fetch(question))
        except (RateLimited, Unreachable) as error:
            self.health.report("lookup", question.name, _problem_text(str(error)))
            raise
        except Undeliverable as error:
            if text := absent_errors.get(error.error):
                self._resolve_problem(question)
                raise NotFound(text, error=error.error) from error
            raise self._failure(question, error.error, error.needed) from error
        except NoAnswer as error:
            raise self._failure(question, str(error)) from error
        except READ_ERRORS as error:
            raise self._failure(question, UNREADABLE) from error

    def _failure(self, question: Q, error: str, needed: str = "") -> LookupFailed:
        """The error to raise; it is also reported to Health."""
        is_about_all = needed or error in self.method_errors or not question.about
        whom = "" if is_about_all else f" for {question.about}"
        text = f"{self.prefix}{question.name} failed{whom}: {error}{self.hint(needed)}"
        self.health.report("lookup", f"{question.name}{whom}", _problem_text(text))
        return LookupFailed(text)

    def _resolve_problem(self, question: Q) -> None:
        self.health.resolve("lookup", question.name)
        self.health.resolve("lookup", f"{question.name} for {question.about}")


def _problem_text(text: str) -> str:
    return f"{text}. Until it works, decisions that need this look-up are refused, and their reviews wait."
