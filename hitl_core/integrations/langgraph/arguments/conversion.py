"""Compares arguments with the values that pydantic made of them: what was dropped, and what was changed.

A model may read a field from an alias or a path, and it drops keys that it doesn't know. Each given value
must arrive as the same value, or as pydantic's own conversion of it to the field's type. A number must arrive
exactly: pydantic rounds large ones silently. Pure.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from numbers import Number
from typing import Any, NamedTuple, TypeAlias, Union, cast

from pydantic import AliasChoices, AliasPath, BaseModel, RootModel, TypeAdapter
from pydantic.v1 import BaseModel as BaseModelV1

from hitl_core.model import to_pointer

#: Keys and indexes that lead to a value.
Path: TypeAlias = tuple[str | int, ...]


class ModelFields(NamedTuple):
    """Where a model reads its fields. Each field has paths; the first path that exists counts."""

    paths: Mapping[str, list[Path]]
    takes_extra: bool = False


def pointer(path: Path) -> str:
    """The name of an argument, or the JSON Pointer of a value in one."""
    return str(path[0]) if len(path) == 1 else to_pointer(path)


@functools.lru_cache(maxsize=512)
def read_fields(model: Any) -> ModelFields | None:
    """The fields of a pydantic model (2 or 1) or a dataclass; None for other types."""
    if issubclass(model, RootModel):
        return None
    if issubclass(model, BaseModel):
        return _read_infos(model.model_fields, cast(Any, model.model_config))
    if issubclass(model, BaseModelV1):
        by_name = model.__config__.allow_population_by_field_name
        paths: dict[str, list[Path]] = {
            name: [(each.alias,), (name,)] if by_name else [(each.alias,)]
            for name, each in model.__fields__.items()
        }
        return ModelFields(paths, model.__config__.extra == "allow")
    if hasattr(model, "__pydantic_fields__"):
        return _read_infos(model.__pydantic_fields__, getattr(model, "__pydantic_config__", {}))
    if dataclasses.is_dataclass(model):
        return ModelFields({each.name: [(each.name,)] for each in dataclasses.fields(model)})
    return None


def find_dropped(fields: ModelFields, given: Mapping[str, Any]) -> list[Path]:
    """The paths of the values that no field reads."""
    used = frozenset(_used_paths(fields, given).values())
    return [path for key in given for path in _find_unused(given[key], (key,), used)]


def find_changed(
    fields: ModelFields | None, given: Mapping[str, Any], get: Callable[[str], Any], at: Path = ()
) -> Iterator[Path]:
    """The paths of the values that arrive changed or not at all. `get` returns the value of a field, and
    raises LookupError or AttributeError if there is none. `fields`: None reads each key by its own name.
    """
    used = _used_paths(fields, given) if fields else {key: (key,) for key in given}
    for name, path in used.items():
        try:
            received = get(name)
        except (LookupError, AttributeError):
            yield (*at, *path)
        else:
            yield from _compare(_value_at(given, path), received, (*at, *path))


def _compare(given: Any, received: Any, at: Path) -> Iterator[Path]:
    if type(received) in (str, int, float, bool, type(None)):
        if not _is_conversion(given, received):
            yield at
        return
    if isinstance(received, RootModel):
        received = cast("RootModel[Any]", received).root
    if isinstance(received, Iterator):
        received = list(cast("Iterator[Any]", received))
    fields = read_fields(cast(Any, type(received)))
    if isinstance(given, str) and isinstance(received, list | dict):  # pydantic's Json
        given = _parse_json(given)
    if isinstance(given, dict) and fields is not None:
        entries = cast("dict[str, Any]", given)
        yield from ((*at, *each) for each in find_dropped(fields, entries))
        yield from find_changed(fields, entries, functools.partial(getattr, received), at)
    elif isinstance(given, dict) and isinstance(received, Mapping):
        yield from _compare_entries(
            cast("dict[str, Any]", given), cast("Mapping[Any, Any]", received), at
        )
    elif isinstance(given, list) and isinstance(received, list | tuple | deque):
        items, others = cast("list[Any]", given), cast("list[Any]", received)
        if len(items) != len(others):
            yield at
        else:
            for index, pair in enumerate(zip(items, others, strict=True)):
                yield from _compare(*pair, (*at, index))
    elif not _is_conversion(given, received):
        yield at


def _compare_entries(
    given: Mapping[str, Any], received: Mapping[Any, Any], at: Path
) -> Iterator[Path]:
    keys: Iterable[tuple[str, Any]] = zip(given, received, strict=False)
    if len(given) == len(received) and all(_is_conversion(*pair) for pair in keys):
        for (key, value), other in zip(given.items(), received.values(), strict=True):
            yield from _compare(value, other, (*at, key))
    else:
        yield from find_changed(None, given, received.__getitem__, at)


def _is_conversion(given: Any, received: Any) -> bool:
    """Whether pydantic converts the given value to the received one by its type alone, without the tool's own
    validators. Pydantic may also trim a text, change its letter case, and write a number as a text.
    """
    if isinstance(given, str) and type(received) is str:
        return given.strip().casefold() == received.strip().casefold()
    if type(given) is type(received):
        return given == received
    if type(received) is str:
        return type(given) in (int, float, Decimal) and str(given) == received
    try:
        kind = cast(Any, type(received))
        if kind in (set, frozenset) and received:
            return _is_set_of(given, received)
        is_own = _adapter(kind).validate_python(given) == received
        return is_own and _is_exact(given, received)
    except Exception:  # no such conversion, or a type that pydantic doesn't know
        return False


def _is_set_of(given: Any, received: frozenset[Any]) -> bool:
    """Compares item by item: two whole sets of numbers could be equal because both were rounded."""
    types: set[Any] = {type(each) for each in received}
    items = _adapter(list[Union[tuple(types)]]).validate_python(given)  # noqa: UP007
    changed = (_compare(*pair, ()) for pair in zip(given, items, strict=True))
    return frozenset(items) == received and all(next(each, None) is None for each in changed)


def _is_exact(given: Any, received: Any) -> bool:
    """Whether a number still has the value that people read. A float can't hold 2**53 + 1. A float counts as
    the number in its shortest form (0.1); but if all digits of a whole number were given, all of them count.
    """
    is_builtin = type(received) in (int, float, Decimal)
    if not isinstance(received, Number) or bool in (type(given), type(received)):
        return True
    try:
        number = Decimal(given) if isinstance(given, int) else Decimal(str(given))
    except InvalidOperation:  # a text such as "2 KB" or "1/3" for a type that reads it
        return not is_builtin
    is_whole = number.as_tuple().exponent == 0
    return number == received or (not is_whole and number == Decimal(repr(received)))


@functools.lru_cache(maxsize=512)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text, parse_float=Decimal)
    except ValueError:
        return text


def _read_infos(infos: Mapping[str, Any], config: Mapping[str, Any] | None) -> ModelFields:
    config = config or {}
    by_alias = config.get("validate_by_alias") is not False
    by_name = config.get("validate_by_name") or config.get("populate_by_name")
    paths: dict[str, list[Path]] = {}
    for name, info in infos.items():
        aliases = _alias_paths(getattr(info, "validation_alias", None) or info.alias)
        read = aliases if by_alias else []
        paths[name] = [*read, (name,)] if by_name or not aliases else read
    return ModelFields(paths, config.get("extra") == "allow")


def _alias_paths(alias: Any) -> list[Path]:
    match alias:
        case AliasChoices():
            return [path for each in alias.choices for path in _alias_paths(each)]
        case AliasPath():
            return [tuple(alias.path)]
        case str():
            return [(alias,)]
        case _:
            return []


def _used_paths(fields: ModelFields, given: Mapping[str, Any]) -> dict[str, Path]:
    """For each field that is given, the path at which its value is read. Indexes count from the start."""
    used: dict[str, Path] = {}
    for name, paths in fields.paths.items():
        exact = (_find_path(given, path) for path in paths)
        if (path := next((each for each in exact if each is not None), None)) is not None:
            used[name] = path
    if fields.takes_extra:
        read = {path[0] for path in used.values()} | fields.paths.keys()
        used.update({key: (key,) for key in given if key not in read})
    return used


def _find_path(given: Any, path: Path) -> Path | None:
    exact: list[str | int] = []
    for step in path:
        if isinstance(given, list) and isinstance(step, int):
            items = cast("list[Any]", given)
            if not -len(items) <= step < len(items):
                return None
            step %= len(items)
        elif not isinstance(given, dict) or step not in given:
            return None
        given = cast(Any, given)[step]
        exact.append(step)
    return tuple(exact)


def _value_at(given: Any, path: Path) -> Any:
    for step in path:
        given = given[step]
    return given


def _find_unused(value: Any, at: Path, used: frozenset[Path]) -> Iterator[Path]:
    if at in used:
        return
    inside = frozenset(path for path in used if path[: len(at)] == at)
    if not inside:
        yield at
        return
    steps = cast("Iterable[Any]", value if isinstance(value, dict) else range(len(value)))
    for step in steps:
        yield from _find_unused(value[step], (*at, step), inside)
