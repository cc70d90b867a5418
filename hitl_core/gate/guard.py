"""A plain function behind the gate: calling it asks, and runs what was decided."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections import Counter
from collections.abc import Callable, Coroutine, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, Self, TypeVar, overload
from uuid import uuid4

from hitl_core.errors import InvalidToolCall, Rejected
from hitl_core.gate.answers import Answer
from hitl_core.model import Place, ToolCall, encode
from hitl_core.model.arguments import JsonObject
from hitl_core.model.call import TOOL_NAME

if TYPE_CHECKING:
    from hitl_core.gate.gate import Gate
    from hitl_core.gate.outcome import Outcome

P = ParamSpec("P")
R = TypeVar("R")


class Guard(Protocol):
    """`@gate.guard(name="send_email")`, before it meets its function."""

    @overload
    def __call__(
        self, function: Callable[P, Coroutine[Any, Any, R]], /
    ) -> Callable[P, Coroutine[Any, Any, R]]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> Callable[P, Coroutine[Any, Any, R]]: ...


@dataclass
class Thread:
    """What guarded calls belong to. Their ids are made of what they ask for, so a script that runs again
    after a crash makes the same ids, in any order, and finds what was decided.
    """

    thread_id: str
    requester: str | None = None
    origin: Place | None = None
    calls: Counter[str] = field(default_factory=Counter[str])

    @classmethod
    def current(cls) -> Thread:
        """That of the `with` block; outside of one each call has a thread of its own."""
        return _thread.get() or cls(f"guard:{uuid4().hex}")

    def next_id(self, name: str, digest: str) -> str:
        """The same call a second time in one block is another call."""
        same = f"{name}#{digest[:12]}"
        self.calls[same] += 1
        return same if self.calls[same] == 1 else f"{same}.{self.calls[same]}"


_thread: ContextVar[Thread | None] = ContextVar("hitl_thread", default=None)


@contextmanager
def in_thread(
    thread_id: str, requester: str | None = None, origin: Place | None = None
) -> Generator[None, None, None]:
    """Everything guarded that is called in this block belongs to this thread."""
    token = _thread.set(Thread(thread_id, requester, origin))
    try:
        yield
    finally:
        _thread.reset(token)


class _Misfit(Rejected):
    """The decided arguments are none that the function takes."""


@dataclass(frozen=True)
class Tool:
    """A function as a tool: its calls become tool calls, and what was decided becomes a call of it."""

    name: str
    function: Callable[..., Any]
    signature: inspect.Signature

    @classmethod
    def of(cls, function: Callable[..., Any], name: str | None) -> Self:
        """Raises TypeError for what could not be reviewed as it stands."""
        if not callable(function):
            raise TypeError(f"gate.guard takes a function, not {function!r:.80}.")
        tool = name or getattr(function, "__name__", "")
        if not TOOL_NAME.fullmatch(tool):
            raise TypeError(
                f"{tool!r} is no name for a tool: give it one of 1 to 128 of A-Z a-z 0-9 _ . : / -,"
                ' gate.guard(function, name="send_email").'
            )
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"{tool} yields; a guarded function returns, once.")
        signature = inspect.signature(function)
        if any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values()):
            raise TypeError(f"{tool} takes *args; what is reviewed needs names.")
        if _is_unbound_method(function, signature):
            raise TypeError(
                f"{function.__qualname__} is a method: its `self` can't be reviewed. Guard it where there is"
                f" an object, gate.guard(obj.{function.__name__})."
            )
        return cls(tool, function, signature)

    def call(self, thread: Thread, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> ToolCall:
        """What is asked for, defaults included. Raises TypeError as the function itself would, and
        InvalidToolCall with the argument that is no JSON.
        """
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        asked = _flat(self.signature, bound.arguments)
        try:
            digest = encode(asked).digest
        except InvalidToolCall as error:
            raise InvalidToolCall(f"`{self.name}` can't be reviewed. {error}") from error
        return ToolCall(thread.next_id(self.name, digest), self.name, asked)

    def bound(self, args: JsonObject) -> Callable[[], Any]:
        """The function with the decided arguments, to be called. Raises _Misfit."""
        parameters = self.signature.parameters
        many = next((n for n, p in parameters.items() if p.kind is p.VAR_KEYWORD), None)
        named = {k: v for k, v in args.items() if k in parameters and k != many}
        rest = {k: v for k, v in args.items() if k not in named}
        if rest and not many:
            raise _Misfit(f"The decided arguments hold {', '.join(rest)}, which {self.name} lacks.")
        given = {**named, **({many: rest} if many else {})}
        missing = [n for n, p in parameters.items() if n not in given and p.default is p.empty]
        if missing:
            raise _Misfit(f"The decided arguments lack {', '.join(missing)}.")
        ordered = {name: given[name] for name in parameters if name in given}
        bound = inspect.BoundArguments(self.signature, ordered)
        return functools.partial(self.function, *bound.args, **bound.kwargs)


def guarded(
    gate: Gate, function: Callable[..., Any], name: str | None
) -> Callable[..., Coroutine[Any, Any, Any]]:
    """See `Gate.guard`; `blocking` has the same, without the words for waiting."""
    tool = Tool.of(function, name)

    @functools.wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        thread = Thread.current()
        asked = tool.call(thread, args, kwargs)
        outcome = await gate.review(
            [asked],
            thread_id=thread.thread_id,
            requester=thread.requester,
            origin=thread.origin,
        )
        try:
            return await _carried_out(outcome, tool)
        finally:
            outcome.release()  # or whoever keeps the exception would keep the lease

    return call


async def _carried_out(outcome: Outcome, tool: Tool) -> Any:
    if not outcome.execute:
        await outcome.done()
        return told(outcome.answers[0])
    (decided,) = outcome.execute
    if not await outcome.once(decided):
        raise started_elsewhere(tool)
    try:
        result = await _run(tool, decided)
    except Exception as error:
        await outcome.done({decided.id: failure(error)})
        raise
    await outcome.done({decided.id: success(result)})
    return result


def told(answer: Answer) -> str:
    """What to return for a call that does not run: what a person answered, or confirmed. Raises Rejected."""
    if answer.status == "error":
        raise Rejected(answer.content)
    return answer.content


def started_elsewhere(tool: Tool) -> Rejected:
    return Rejected(f"`{tool.name}` was started elsewhere.")


def success(result: object) -> object:
    """The line on the card."""
    return "done" if result is None else result


def failure(error: Exception) -> str:
    """Only the kind: an exception's text may hold arguments that people must not see."""
    return f"failed: {error if isinstance(error, _Misfit) else type(error).__name__}"


async def _run(tool: Tool, decided: ToolCall) -> Any:
    run = tool.bound(decided.args)
    if inspect.iscoroutinefunction(tool.function):
        return await run()
    result = await asyncio.to_thread(run)
    return await result if inspect.isawaitable(result) else result


def _is_unbound_method(function: Callable[..., Any], signature: inspect.Signature) -> bool:
    """As its class sees it: defined in a class's body, with a first parameter that is the object."""
    *_, home, _ = ("", *getattr(function, "__qualname__", "").split("."))
    first = next(iter(signature.parameters), None)
    return home not in ("", "<locals>") and first in ("self", "cls")


def _flat(signature: inspect.Signature, arguments: Mapping[str, Any]) -> JsonObject:
    """`**options` as arguments like all others. Raises TypeError where one has a parameter's own name, since
    what is shown and decided could not be told apart then.
    """
    flat: JsonObject = {}
    for name, value in arguments.items():
        if signature.parameters[name].kind is not inspect.Parameter.VAR_KEYWORD:
            flat[name] = value
        elif same := signature.parameters.keys() & value:
            raise TypeError(f"The keyword {min(same)!r} is a parameter's name as well.")
        else:
            flat |= value
    return flat
