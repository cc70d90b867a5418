"""Python functions as tools: a function call becomes a tool call, and the decided call runs the function.

What became of it is an `Answer` for the model, and a result line for the card.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from hitl_core.errors import HitlError, InvalidToolCall, Rejected
from hitl_core.gate.outcome.answers import Answer, add_edit_notice
from hitl_core.model import TOOL_NAME, JsonObject, Review, ToolCall, encode
from hitl_core.review import CallResult, text_of
from hitl_core.worker_threads import run_in_thread

#: The agent's functions, sync or async, by tool name.
ToolFunctions = Mapping[str, Callable[..., Any]]


class _ArgsMismatch(Rejected):
    """The function does not take the decided arguments."""


@dataclass(frozen=True)
class Tool:
    """A Python function with the name of its tool."""

    name: str
    function: Callable[..., Any]
    signature: inspect.Signature

    @classmethod
    def from_function(cls, function: Callable[..., Any], name: str | None) -> Self:
        """Raises TypeError for a function whose calls can't be reviewed."""
        if not callable(function):
            tool = f"The tool {name}" if name else "A tool"
            raise TypeError(f"{tool} must be a function, not {function!r:.80}.")
        tool = name or getattr(function, "__name__", "")
        if not isinstance(tool, str) or not TOOL_NAME.fullmatch(tool):
            raise TypeError(
                f"{tool!r} is not a valid tool name: use 1 to 128 characters of A-Z a-z 0-9 _ . : / -,"
                ' for example gate.guard(function, name="send_email").'
            )
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"{tool} is a generator: a guarded function must return its result.")
        try:
            signature = inspect.signature(function)
        except ValueError as error:  # some of Python's own functions have none
            raise TypeError(
                f"The parameters of {tool} are not known, so it can't be reviewed."
            ) from error
        if any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values()):
            raise TypeError(f"{tool} takes *args: every argument of a reviewed call needs a name.")
        if _is_unbound_method(function, signature):
            raise TypeError(
                f"{function.__qualname__} is a method: its `self` can't be reviewed. Guard the method of an"
                f" object: gate.guard(obj.{function.__name__})."
            )
        return cls(tool, function, signature)

    def flat_args(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[JsonObject, str]:
        """The arguments of a call, with defaults, and their hash. Raises TypeError as the function itself
        would, and InvalidToolCall for an argument that is not JSON.
        """
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}: {error}") from error
        bound.apply_defaults()
        flat = _flat(self.signature, bound.arguments)
        try:
            return flat, encode(flat).hash
        except InvalidToolCall as error:
            raise InvalidToolCall(f"`{self.name}` can't be reviewed. {error}") from error

    def bind(self, review: Review, call: ToolCall) -> Callable[[], Any]:
        """The function with the decided arguments, ready to call. Raises _ArgsMismatch."""
        args, parameters = call.args, self.signature.parameters
        kwargs_name = next((n for n, p in parameters.items() if p.kind is p.VAR_KEYWORD), None)
        named = {k: v for k, v in args.items() if k in parameters and k != kwargs_name}
        rest = {k: v for k, v in args.items() if k not in named}
        if rest and not kwargs_name:
            raise _ArgsMismatch(
                f"The decided arguments have {', '.join(rest)}, which {self.name} does not take."
            )
        values = {**named, **({kwargs_name: rest} if kwargs_name else {})}
        missing = [p for n, p in parameters.items() if n not in values]
        if needed := [p.name for p in missing if p.default is p.empty]:
            raise _ArgsMismatch(f"The decided arguments lack {', '.join(needed)}.")
        before = first_args(review, call)
        if lost := [p.name for p in missing if p.name in before and p.default is not None]:
            raise _ArgsMismatch(
                f"The decided arguments lack {', '.join(lost)}, and {self.name} would use its default for"
                " that. It did not run. Edit the value in place of removing it."
            )
        ordered = {name: values[name] for name in parameters if name in values}
        bound = inspect.BoundArguments(self.signature, ordered)
        bound.apply_defaults()  # else a value behind a missing positional-only one gets lost
        return functools.partial(self.function, *bound.args, **bound.kwargs)

    def check_ran(self, result: object) -> None:
        """Raises TypeError for a generator, which a decorator may hide: nothing of it ran."""
        if inspect.isgenerator(result) or inspect.isasyncgen(result):
            raise TypeError(
                f"{self.name} is a generator, so it did not run: it must return its result."
            )


def first_args(review: Review, call: ToolCall) -> JsonObject:
    """The arguments that the model gave to this call, before any edit."""
    key = next(each.key for each in review.calls if each.tool_call_id == call.id)
    return review.arguments(key, 1).parse()


async def run_tool(review: Review, tool: Tool, call: ToolCall) -> Any:
    """Run a tool. A sync function runs in a thread."""
    run = tool.bind(review, call)
    if inspect.iscoroutinefunction(tool.function):
        return await run()
    result = await run_in_thread(run)
    result = await result if inspect.isawaitable(result) else result
    tool.check_ran(result)
    return result


def success_result(result: object) -> CallResult:
    """For the result line on the card."""
    return CallResult.note("done") if result is None else CallResult.of(result)


def failure_result(review: Review, call: ToolCall, error: Exception) -> CallResult:
    """For the result line on the card. When some arguments are hidden from people it names only the type of
    the error, because the error's text may contain them.
    """
    is_reviewed = any(action.request.tool_call_id == call.id for action in review.actions)
    if not is_reviewed or review.hides_values:
        return CallResult.note(f"failed: {type(error).__name__}")
    return CallResult.failure(failure_text(error))


def failure_text(error: Exception) -> str:
    if isinstance(error, HitlError):
        return str(error)
    name, text = type(error).__name__, text_of(error).strip()
    return f"{name}: {text}" if text else name


def _is_unbound_method(function: Callable[..., Any], signature: inspect.Signature) -> bool:
    """Whether it is defined in a class body, and its first parameter is `self` or `cls`."""
    *_, scope, _ = ("", *getattr(function, "__qualname__", "").split("."))
    first = next(iter(signature.parameters), None)
    return scope not in ("", "<locals>") and first in ("self", "cls")


def _flat(signature: inspect.Signature, arguments: Mapping[str, Any]) -> JsonObject:
    """The arguments with those of `**options` beside the others. Raises TypeError when one of `**options` has
    the name of a parameter, because the two could not be distinguished on the card.
    """
    flat: JsonObject = {}
    for name, value in arguments.items():
        if signature.parameters[name].kind is not inspect.Parameter.VAR_KEYWORD:
            flat[name] = value
        elif same := signature.parameters.keys() & value:
            raise TypeError(f"The keyword argument {min(same)!r} has the name of a parameter.")
        else:
            flat |= value
    return flat


def tools_for(calls: Iterable[ToolCall], tools: ToolFunctions) -> dict[str, Tool]:
    """The functions that these calls need. Raises InvalidToolCall for a tool without a function, and
    TypeError for a function that takes no named arguments.
    """
    needed = list(dict.fromkeys(call.name for call in calls))
    if missing := [name for name in needed if name not in tools]:
        raise InvalidToolCall(
            f"`run` got no function for {', '.join(missing)}: pass one under each tool's name."
            " Nothing was run."
        )
    return {name: Tool.from_function(tools[name], name) for name in needed}


def success_answer(review: Review, call: ToolCall, result: object) -> Answer:
    """A string is used as it is, any other result as JSON, or as its text if JSON can't hold it. After an
    edit, the edit notice comes first.
    """
    if result is None:
        text = f"`{call.name}` ran."
    elif isinstance(result, str):
        text = result
    else:
        text = _json_or_text(result)
    return Answer(call.id, call.name, add_edit_notice(review, call.id, text), "success")


def _json_or_text(result: object) -> str:
    try:
        return json.dumps(result, ensure_ascii=False, default=text_of)
    except (TypeError, ValueError, RecursionError):  # for example keys that are tuples
        return text_of(result)


def failure_answer(call: ToolCall, error: Exception) -> Answer:
    return Answer(call.id, call.name, f"`{call.name}` failed: {failure_text(error)}", "error")


def already_started_answer(call: ToolCall) -> Answer:
    """For a call for which `once` returned False: an earlier attempt started it."""
    text = f"`{call.name}` was started before. Whether it ran is not known. Do not retry it."
    return Answer(call.id, call.name, text, "error")


def order_answers(
    review: Review, known: Iterable[Answer], results: Iterable[Answer]
) -> tuple[Answer, ...]:
    """One answer for each call of the turn, in the model's order: those of `known`, and `results`."""
    by_id = {answer.tool_call_id: answer for answer in (*known, *results)}
    return tuple(by_id[call.tool_call_id] for call in review.calls)
