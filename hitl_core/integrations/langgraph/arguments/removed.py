"""Finds values that an edit removed and that the tool would replace by a default: people decided on a call
without them.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from langchain_core.tools import BaseTool

from hitl_core.integrations.langgraph.arguments.conversion import (
    ModelFields,
    Path,
    pointer,
    read_fields,
)
from hitl_core.integrations.langgraph.arguments.delivery import (
    is_filtered,
    receive_args,
    signatures_of,
    would_raise,
)

#: What pydantic makes of a JSON array.
_ITEMS = (list, tuple, deque)
#: With this many items that are not there any more, a changed item is compared.
MAX_GONE = 20


def removal_problem(
    tools: Iterable[BaseTool], before: Mapping[str, Any], decided: Mapping[str, Any]
) -> str | None:
    """An error text if one of these tools would use a default for a value that an edit removed."""
    paths = [path for tool in tools for path in find_replaced_by_defaults(tool, before, decided)]
    if not paths:
        return None
    listed = ", ".join(f"`{pointer(path)}`" for path in paths)
    return (
        f"an edit removed {listed}, and the tool would use its default for that. Edit the value in place of"
        " removing it."
    )


def find_replaced_by_defaults(
    tool: BaseTool, before: Mapping[str, Any], decided: Mapping[str, Any]
) -> list[Path]:
    """The paths of values in `before` that `decided` lacks, and for which the tool's function would get a
    default. None as a default is the same as nothing.
    """
    removed = list(_find_removed(before, decided))
    if not removed:
        return []
    try:
        received = receive_args(tool, decided)
    except Exception as error:
        return [] if would_raise(tool, error) else removed
    defaults = {
        name: each.default
        for signature in signatures_of(tool)
        for name, each in signature.parameters.items()
        if each.default is not each.empty
    }
    fields = read_fields(cast(Any, tool.args_schema)) if is_filtered(tool) else None
    values = {**defaults, **received}
    return [path for path in removed if _value_at(values, path, fields) is not None]


def _find_removed(before: Any, decided: Any, at: Path = ()) -> Iterator[Path]:
    if isinstance(before, list) and isinstance(decided, list):
        yield from _find_removed_items(cast("list[Any]", before), cast("list[Any]", decided), at)
    if not isinstance(before, dict) or not isinstance(decided, dict):
        return
    entries = cast("dict[str, Any]", decided)
    for key, value in cast("dict[str, Any]", before).items():
        if key not in entries:
            yield (*at, key)
        else:
            yield from _find_removed(value, entries[key], (*at, key))


def _find_removed_items(before: list[Any], decided: list[Any], at: Path) -> Iterator[Path]:
    """What the changed items lack. If items were added or removed, it is not known which was which: then only
    what all of the items had that are not there any more.
    """
    old, new = Counter(map(_as_text, before)), Counter(map(_as_text, decided))
    dropped, changed = old - new, new - old
    gone = [item for item in before if _as_text(item) in dropped][:MAX_GONE]
    for index, item in enumerate(decided):
        earlier = [before[index]] if len(before) == len(decided) else gone
        if _as_text(item) in changed and earlier:
            first, *others = [list(_find_removed(each, item, (*at, index))) for each in earlier]
            yield from (path for path in first if all(path in each for each in others))


def _as_text(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _value_at(value: Any, path: Path, fields: ModelFields | None) -> Any:
    """The value at these keys; None if there is none. `fields`: of the model that read the first key."""
    for key in path:
        name = _field_name(fields, str(key))
        if isinstance(key, int):
            items = list(cast("Iterable[Any]", value)) if isinstance(value, _ITEMS) else []
            value = items[key] if key < len(items) else None
        elif isinstance(value, Mapping):
            value = cast("Mapping[str, Any]", value).get(name)
        else:
            value = getattr(value, name, None)
        fields = read_fields(cast(Any, type(value)))
    return value


def _field_name(fields: ModelFields | None, key: str) -> str:
    """The name of the field that reads this key."""
    named = fields.paths.items() if fields else ()
    return next((name for name, paths in named if (key,) in paths), key)
