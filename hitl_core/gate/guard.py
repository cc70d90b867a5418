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
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hitl_core.errors import Rejected
from hitl_core.model import ToolCall

if TYPE_CHECKING:
    from hitl_core.gate.gate import Gate
    from hitl_core.gate.outcome import Outcome


@dataclass
class Thread:
    """What guarded calls belong to. Their ids are `name#1`, `name#2`, …: a script that runs again
    after a crash makes the same ids, and finds what was decided."""

    thread_id: str
    requester: str | None = None
    calls: Counter[str] = field(default_factory=Counter[str])

    def next_id(self, name: str) -> str:
        self.calls[name] += 1
        return f"{name}#{self.calls[name]}"


_thread: ContextVar[Thread | None] = ContextVar("hitl_thread", default=None)


@contextmanager
def in_thread(thread_id: str, requester: str | None = None) -> Generator[None, None, None]:
    """Everything guarded that is called in this block belongs to this thread."""
    token = _thread.set(Thread(thread_id, requester))
    try:
        yield
    finally:
        _thread.reset(token)


def guarded(
    gate: Gate, function: Callable[..., Any], name: str | None = None
) -> Callable[..., Coroutine[Any, Any, Any]]:
    """See `Gate.guard`. Raises TypeError for a function with `*args`: no form could show them."""
    tool = name or function.__name__
    signature = inspect.signature(function)
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        raise TypeError(f"{tool} takes *args; what is reviewed needs names.")

    @functools.wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        thread = _thread.get() or Thread(f"guard:{uuid4().hex}")
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        asked = ToolCall(thread.next_id(tool), tool, _flat(signature, bound.arguments))
        outcome = await gate.review([asked], thread_id=thread.thread_id, requester=thread.requester)
        return await _perform(outcome, function, signature)

    return call


async def _perform(
    outcome: Outcome, function: Callable[..., Any], signature: inspect.Signature
) -> Any:
    if not outcome.execute:
        (answer,) = outcome.answers
        await outcome.done()
        if answer.status == "success":
            return answer.content
        raise Rejected(answer.content)
    (call,) = outcome.execute
    if not await outcome.once(call):
        raise Rejected(f"`{call.name}` was started elsewhere.")
    bound = _bound(signature, call.args)
    try:
        if inspect.iscoroutinefunction(function):
            result = await function(*bound.args, **bound.kwargs)
        else:
            result = await asyncio.to_thread(function, *bound.args, **bound.kwargs)
    except Exception as error:
        # Only the kind: an exception's text may hold arguments that people must not see.
        await outcome.done({call.id: f"failed: {type(error).__name__}"})
        raise
    await outcome.done({call.id: "done" if result is None else result})
    return result


def _flat(signature: inspect.Signature, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """`**options` as arguments like all others. Raises TypeError where one has a parameter's own name, since
    what is shown and decided could not be told apart then.
    """
    flat: dict[str, Any] = {}
    for name, value in arguments.items():
        if signature.parameters[name].kind is not inspect.Parameter.VAR_KEYWORD:
            flat[name] = value
        elif same := signature.parameters.keys() & value:
            raise TypeError(f"The keyword {min(same)!r} is a parameter's name as well.")
        else:
            flat |= value
    return flat


def _bound(signature: inspect.Signature, args: Mapping[str, Any]) -> inspect.BoundArguments:
    """The decided arguments, for the function's own signature."""
    parameters = signature.parameters
    kinds = {parameter.kind: name for name, parameter in parameters.items()}
    variable = kinds.get(inspect.Parameter.VAR_KEYWORD)
    named = {k: v for k, v in args.items() if k in parameters and k != variable}
    rest = {k: v for k, v in args.items() if k not in named}
    if rest and not variable:
        raise Rejected(f"The decided arguments hold {', '.join(rest)}, which the function lacks.")
    arguments = {**named, **({variable: rest} if variable else {})}
    missing = [
        name
        for name, parameter in parameters.items()
        if name not in arguments and parameter.default is inspect.Parameter.empty
    ]
    if missing:
        raise Rejected(f"The decided arguments lack {', '.join(missing)}.")
    ordered = {name: arguments[name] for name in parameters if name in arguments}
    return inspect.BoundArguments(signature, ordered)
