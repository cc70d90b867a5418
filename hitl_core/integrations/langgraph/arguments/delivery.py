"""Finds what LangChain and LangGraph give to a tool's function: the arguments that they fill themselves, and
what their parsing makes of the others.

LangChain can't tell this without running the tool, so its own steps are called here one by one.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

import pydantic
import pydantic.v1
from langchain_core.tools import BaseTool, StructuredTool, Tool
from langchain_core.tools import base as langchain_tools
from langgraph.prebuilt import tool_node as langgraph_tools

from hitl_core.integrations.langgraph.arguments.conversion import Path, pointer

Function = Callable[..., Any]
_VARIABLE = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


def is_filtered(tool: BaseTool) -> bool:
    """Whether a pydantic model parses the tool's arguments, and LangChain passes on only its fields."""
    return tool.args_schema is not None and not isinstance(tool.args_schema, dict)


def takes_one_value(tool: BaseTool) -> bool:
    """Whether the tool's function gets one value, whatever the value's name: LangChain's old kind of tool."""
    return type(tool)._to_args_and_kwargs is Tool._to_args_and_kwargs  # pyright: ignore[reportPrivateUsage]


def filled_names(tool: BaseTool) -> set[str]:
    """The names that LangGraph injects, and the names that LangChain fills or keeps for itself before it
    calls the function, such as `config` and `callbacks`. What a model gives for these names doesn't arrive.
    """
    names = _injected_names(tool)
    if takes_one_value(tool):
        return names
    functions, methods = own_functions(tool), _run_methods(tool)
    configs = map(langchain_tools._get_runnable_config_param, [*functions, *methods])  # pyright: ignore
    names |= {name for name in configs if name} | {"self"}
    if not functions:
        return names | ({"run_manager"} & parameter_names(map(inspect.signature, methods)))
    inherited = (StructuredTool._run, StructuredTool._arun)  # pyright: ignore[reportPrivateUsage]
    kept = parameter_names(map(inspect.signature, [*methods, *inherited]))
    return names | kept | ({"callbacks"} & parameter_names(map(inspect.signature, functions)))


def own_functions(tool: BaseTool) -> list[Function]:
    """The functions that the tool's `_run` and `_arun` call; none for a tool that brings its own `_run`."""
    if not isinstance(tool, StructuredTool | Tool):
        return []
    return [each for each in (tool.func, tool.coroutine) if each is not None]


def functions_of(tool: BaseTool) -> list[Function]:
    """The functions that get the arguments."""
    return own_functions(tool) or _run_methods(tool)


def signatures_of(tool: BaseTool) -> Iterator[inspect.Signature]:
    """The signatures of the functions that get the arguments."""
    return map(inspect.signature, functions_of(tool))


def parameter_names(signatures: Iterable[inspect.Signature]) -> set[str]:
    """The names of all parameters, without *args and **kwargs."""
    return {
        name
        for signature in signatures
        for name, each in signature.parameters.items()
        if each.kind not in _VARIABLE
    }


def receive_args(tool: BaseTool, args: Mapping[str, Any]) -> Mapping[str, Any]:
    """The keyword arguments that LangChain makes of these. None is in place of what LangGraph injects. A
    value without a name gets the name of the first field or argument. Raises what LangChain raises.
    """
    if hidden := _injected_fields(tool):
        tool = tool.model_copy(
            update={"args_schema": _without(cast(Any, tool.args_schema), hidden)}
        )
    positional, named = cast(Any, tool)._to_args_and_kwargs(copy.deepcopy(dict(args)), "call")
    names = _fields(tool.args_schema) if is_filtered(tool) else args
    return {**dict(zip(names, positional, strict=False)), **named}


def would_raise(tool: BaseTool, error: Exception) -> bool:
    """Whether the tool itself would raise this error of `receive_args`, and so not run. False if the error
    may come from the None of an injected field.
    """
    return not _injected_fields(tool) or any(_own_errors(tool, error))


def validation_texts(tool: BaseTool, error: Exception) -> Iterator[str]:
    """What is wrong with each argument by this error of `receive_args`; the error's kind if it says nothing
    about an argument.
    """
    errors = list(_own_errors(tool, error))
    for path, text in errors:
        yield f"`{pointer(path)}`: {text}"
    if not errors:
        yield type(error).__name__


def _own_errors(tool: BaseTool, error: Exception) -> Iterator[tuple[Path, str]]:
    """The arguments with errors, without those that LangGraph injects."""
    if not isinstance(error, pydantic.ValidationError | pydantic.v1.ValidationError):
        return
    hidden = {*_injected_fields(tool), "__root__"}
    for each in error.errors():
        path = each["loc"]
        if path and path[0] not in hidden:
            yield path, each["msg"]


def _run_methods(tool: BaseTool) -> list[Function]:
    """`_run`, and `_arun` if the tool has its own: `_arun` of LangChain's base class calls `_run`."""
    own = type(tool)._arun is not BaseTool._arun  # pyright: ignore[reportPrivateUsage]
    return [tool._run, *([tool._arun] if own else [])]  # pyright: ignore[reportPrivateUsage]


def _injected_names(tool: BaseTool) -> set[str]:
    injected = langgraph_tools._get_all_injected_args(tool)  # pyright: ignore[reportPrivateUsage]
    single = {each for each in (injected.store, injected.runtime) if each}
    keys = tool._injected_args_keys  # pyright: ignore[reportPrivateUsage]
    return {*injected.state, *single, *injected.all_injected_keys, *keys}


def _injected_fields(tool: BaseTool) -> frozenset[str]:
    fields = _fields(tool.args_schema) if is_filtered(tool) else ()
    return frozenset(_injected_names(tool).intersection(fields))


def _fields(model: Any) -> Mapping[str, Any]:
    return model.__fields__ if issubclass(model, pydantic.v1.BaseModel) else model.model_fields


@functools.lru_cache(maxsize=512)
def _without(model: Any, hidden: frozenset[str]) -> Any:
    """The same model, in which these fields may be missing."""
    fields: dict[str, Any] = dict.fromkeys(hidden, (Any, None))
    if issubclass(model, pydantic.v1.BaseModel):
        return cast(Any, pydantic.v1).create_model(model.__name__, __base__=model, **fields)
    return pydantic.create_model(model.__name__, __base__=model, **fields)
