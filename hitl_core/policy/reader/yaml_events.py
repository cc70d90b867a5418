"""Reads the events of PyYAML's parser as plain data, with the line of every key.

It is stricter than YAML: no aliases, anchors or tags, and no duplicate keys. Only the scalars of JSON have a
type, so `no`, `on` and `0123` are text. Keys are always text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, cast

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from hitl_core.policy.reader.report import KeyPath, Report

MAX_DEPTH = 32

_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
QUOTE_GLOB = "A name that begins with `*` needs quotes in YAML."


class YamlReader:
    """Reads the parser's events. At this stage no alias is followed and no object is built."""

    def __init__(self, text: str, report: Report) -> None:
        self._report = report
        self._events: Iterator[Event] = cast(Any, yaml).parse(text, Loader=yaml.SafeLoader)

    def document(self) -> object:
        next(self._events)  # the start of the stream
        if isinstance(next(self._events), StreamEndEvent):
            self._report.fail("The policy is empty. Add at least `default: review`.")
        value = self._value(next(self._events), (), 0)
        next(self._events)  # the end of the document
        after = next(self._events)
        if isinstance(after, DocumentStartEvent):
            self._report.fail(
                "A policy is one YAML document, but a second one begins here: remove it.",
                line=_line(after),
            )
        return value

    def _value(self, event: Event, path: KeyPath, depth: int) -> object:
        self._refuse_extras(event, path)
        if depth > MAX_DEPTH:
            self._report.fail(f"This is nested deeper than {MAX_DEPTH} levels.", line=_line(event))
        if isinstance(event, ScalarEvent):
            return self._scalar(event, path)
        if isinstance(event, MappingStartEvent):
            return self._mapping(path, depth)
        return self._sequence(path, depth)

    def _mapping(self, path: KeyPath, depth: int) -> dict[str, object]:
        mapping: dict[str, object] = {}
        while not isinstance(event := next(self._events), MappingEndEvent):
            self._refuse_extras(event, path)
            if not isinstance(event, ScalarEvent):
                self._report.fail("A key must be text.", line=_line(event), path=path)
            key = event.value
            here = (*path, key)
            if key in mapping:
                first = self._report.lines[here]
                self._report.add(
                    here,
                    f"This key appears twice: it is also on line {first}.",
                    line=_line(event),
                )
            self._report.lines.setdefault(here, _line(event))
            mapping[key] = self._value(next(self._events), here, depth + 1)
        return mapping

    def _sequence(self, path: KeyPath, depth: int) -> list[object]:
        items: list[object] = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            here = (*path, len(items))
            self._report.lines[here] = _line(event)
            items.append(self._value(event, here, depth + 1))
        return items

    def _scalar(self, event: ScalarEvent, path: KeyPath) -> object:
        text = event.value
        plain = event.implicit[0]
        if plain and text in _CONSTANTS:
            return _CONSTANTS[text]
        if not plain or not _NUMBER.fullmatch(text):
            return text
        if math.isinf(float(text)):
            self._report.add(path, "This number is too large.", line=_line(event))
            return None
        return json.loads(text)

    def _refuse_extras(self, event: Event, path: KeyPath) -> None:
        untyped = cast(Any, event)
        if isinstance(event, AliasEvent):
            self._report.fail(
                f"The alias `*{untyped.anchor}` is not allowed here. {QUOTE_GLOB}",
                line=_line(event),
                path=path,
            )
        if untyped.anchor:
            self._report.fail(
                f"The anchor `&{untyped.anchor}` is not allowed: repeat the value, or put text in quotes.",
                line=_line(event),
                path=path,
            )
        if untyped.tag:
            self._report.fail(
                f"The tag `{untyped.tag}` is not allowed: put text in quotes.",
                line=_line(event),
                path=path,
            )


def _line(event: Event) -> int:
    return cast(int, cast(Any, event).start_mark.line) + 1
