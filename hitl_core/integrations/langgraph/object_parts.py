"""Finds the parts of an object, as far as Python can see them. Nothing is called."""

from __future__ import annotations

import functools
import itertools
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langgraph.graph import StateGraph  # pyright: ignore[reportMissingTypeStubs]
from langgraph.pregel import Pregel  # pyright: ignore[reportMissingTypeStubs] - typed, but not marked

#: The most parts of one container that are read.
MAX_PARTS = 500
#: Code of installed packages: their globals and attributes are not the application's.
_INSTALLED_PATHS = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})


def parts_of(thing: Any, path: str) -> Iterator[tuple[object, str]]:
    """Its parts, each with its path."""
    for part, name in _parts_with_names(thing):
        yield part, f"{path} > {name}" if name else path


def _parts_with_names(thing: Any) -> Iterator[tuple[object, str]]:
    match thing:
        case Pregel():
            for name, node in cast(Any, thing).nodes.items():
                yield from ((part, str(name)) for part in (node.bound, node.writers, node.mapper))
        case StateGraph():
            for name, node in cast(Any, thing).nodes.items():
                yield node.runnable, str(name)
        case dict():
            for key, part in itertools.islice(cast(dict[Any, Any], thing).items(), MAX_PARTS):
                yield part, key if isinstance(key, str) else ""
        case BaseTool():
            yield from ((part, thing.name) for part in _attributes(thing))
        case _:
            yield from (
                (part, "") for part in itertools.islice(_parts_without_names(thing), MAX_PARTS)
            )


def _parts_without_names(thing: Any) -> Iterable[object]:
    match thing:
        case list() | tuple() | set() | frozenset():
            return cast(list[Any], thing)
        case functools.partial():
            return thing.func, thing.args, thing.keywords
        case MethodType():
            return thing.__self__, thing.__func__
        case FunctionType():
            return _function_parts(thing)
        case _:
            if callable(thing) and not isinstance(thing, Runnable):
                # For example lru_cache, or a task of LangGraph.
                wrapped = [getattr(thing, name, None) for name in ("func", "__wrapped__")]
                return [
                    *wrapped,
                    *(_attributes(thing) if is_application_code(type(thing)) else ()),
                ]
            framework = isinstance(thing, Runnable | AgentMiddleware)
            return (
                _attributes(cast(object, thing))
                if framework or is_application_code(type(thing))
                else ()
            )


def _attributes(thing: object) -> Iterator[object]:
    """The attributes of an instance, and the methods if its class is the application's own."""
    yield from getattr(thing, "__dict__", {}).values()
    yield from (getattr(thing, "__pydantic_private__", None) or {}).values()
    for each in type(thing).__mro__:
        slots: Any = each.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            yield getattr(thing, name, None)
        if is_application_code(each):
            for value in vars(each).values():
                yield getattr(value, "__func__", getattr(value, "fget", value))


def _function_parts(function: FunctionType) -> Iterator[object]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a function that isn't bound yet
            continue
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    yield getattr(function, "__wrapped__", None)
    if is_application_code(function):
        yield from _function_globals(function)


def _function_globals(function: FunctionType) -> Iterator[object]:
    """The globals that the function names, and the attributes of modules that it names."""
    names = code_names(function.__code__)
    for name in names & function.__globals__.keys():
        value = function.__globals__[name]
        if isinstance(value, ModuleType):
            yield from (vars(value)[each] for each in names & vars(value).keys())
        yield value


def code_names(code: CodeType) -> set[str]:
    """Global and attribute names in a function and in those inside it."""
    names = set(code.co_names)
    for part in code.co_consts:
        if isinstance(part, CodeType):
            names |= code_names(part)
    return names


def is_application_code(thing: Any) -> bool:
    """Whether the application wrote it, and not an installed package."""
    name = getattr(thing, "__module__", None)
    if name == "__main__" or name not in sys.modules:
        return True
    file = getattr(sys.modules[name], "__file__", None)
    return (
        file is not None
        and not file.startswith(_INSTALLED_PATHS)
        and name.split(".")[0] != "hitl_core"
    )
