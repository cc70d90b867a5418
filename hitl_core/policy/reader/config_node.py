"""A value in a configuration, with its path, its typed readers and the report of its problems."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar, cast, overload

from hitl_core.policy.reader.report import KeyPath, Report
from hitl_core.sentences import join_names

T = TypeVar("T", bound=str)
R = TypeVar("R")
D = TypeVar("D")

_SURROGATE = re.compile("[\ud800-\udfff]")
#: The limit for entries in a mapping or list of a run's context. Each costs time, and an agent could send
#: many.
MAX_ENTRIES = 100
_LONG_NAME = 100  # characters; for a longer name no similar key is suggested


@dataclass(frozen=True, slots=True)
class ConfigNode:
    """A value with its path. Its readers report a problem and return None if the value has the wrong type."""

    value: object
    path: KeyPath
    report: Report

    @property
    def line(self) -> int | None:
        return self.report.line(self.path)

    def __str__(self) -> str:
        return format_value(self.value)

    def add_problem(self, message: str) -> None:
        self.report.add(self.path, message)

    def fields(
        self, known: Iterable[str], *, required: Iterable[str] = ()
    ) -> dict[str, ConfigNode]:
        """The entries of a mapping by key. Keys that are not `known` are reported and left out."""
        entries = self.entries()
        if entries is None:
            return {}
        for key, node in entries.items():
            if key not in known:
                node.add_problem(_explain_unknown(key, known))
        for key in required:
            if key not in entries:
                self.add_problem(f"`{key}` is missing.")
        return {key: entries[key] for key in entries if key in known}

    def entries(self) -> dict[str, ConfigNode] | None:
        mapping = self.value
        if not isinstance(mapping, Mapping):
            return self.add_problem(f"This must be a mapping, not {self}.")
        self._check_count(len(cast(Mapping[object, object], mapping)))
        nodes: dict[str, ConfigNode] = {}
        for key, value in cast(Mapping[object, object], mapping).items():
            if isinstance(key, str):
                nodes[key] = ConfigNode(value, (*self.path, key), self.report)
            else:
                self.add_problem(f"The key {format_value(key)} must be text.")
        return nodes

    def items(self, example: str) -> list[ConfigNode] | None:
        values = self.value
        if not isinstance(values, list | tuple):
            return self.add_problem(f"This must be a list such as {example}, not {self}.")
        self._check_count(len(cast(list[object], values)))
        each = enumerate(cast(list[object], values))
        return [ConfigNode(value, (*self.path, index), self.report) for index, value in each]

    def _check_count(self, count: int) -> None:
        if self.report.bounded and count > MAX_ENTRIES:
            message = (
                f"A run's own configuration may have {MAX_ENTRIES} entries here, not {count:,}."
            )
            self.report.fail(message, path=self.path)

    def text(self) -> str | None:
        if not isinstance(self.value, str):
            return self.add_problem(f"This must be text, not {self}.")
        if not self.value.isascii() and _SURROGATE.search(self.value):
            return self.add_problem("This contains half a surrogate pair, which is not valid text.")
        return self.value

    def one_of(self, choices: tuple[T, ...]) -> T | None:
        match = next((choice for choice in choices if choice == self.value), None)
        if match is None:
            hint = suggest(self.value, choices)
            self.add_problem(f"This must be {join_choices(choices)}, not {self}.{hint}")
        return match

    def boolean(self) -> bool | None:
        if not isinstance(self.value, bool):
            quoted = " Remove the quotes." if self.value in ("true", "false") else ""
            return self.add_problem(f"This must be true or false, not {self}.{quoted}")
        return self.value


@overload
def read_field(
    fields: dict[str, ConfigNode], key: str, read: Callable[[ConfigNode], R]
) -> R | None: ...
@overload
def read_field(
    fields: dict[str, ConfigNode], key: str, read: Callable[[ConfigNode], R], default: D
) -> R | D: ...
def read_field(
    fields: dict[str, ConfigNode], key: str, read: Callable[[ConfigNode], R], default: object = None
) -> object:
    """The result of `read` for a field; the default if there is no such field."""
    return read(fields[key]) if key in fields else default


def format_value(value: object) -> str:
    """A short text for the value, in terms of YAML."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"`{value}`" if len(value) <= 40 else f"`{value[:39]}…`"
    if isinstance(value, int | float):
        return str(value) if abs(value) < 1e20 else "a large number"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    return f"of type {type(value).__name__}"


def join_choices(names: Iterable[str]) -> str:
    """`a`, `b` or `c`."""
    return join_names((f"`{name}`" for name in names), "or", most=MAX_ENTRIES)


def suggest(value: object, known: Iterable[str]) -> str:
    """ " Did you mean …?" if a known name is similar, or ""."""
    text = value.lower() if isinstance(value, str) and len(value) <= _LONG_NAME else ""
    near = difflib.get_close_matches(text, list(known), 1)
    return f" Did you mean `{near[0]}`?" if near else ""


def _explain_unknown(key: str, known: Iterable[str]) -> str:
    snake_case = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower()
    if snake_case != key and snake_case in known:
        return f"`{key}` is the spelling of another system; write `{snake_case}`."
    return (
        f"`{key}` is not allowed here.{suggest(key, known) or f' Allowed: {join_choices(known)}.'}"
    )
