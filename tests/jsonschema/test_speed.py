"""Arguments of 256 KiB in awkward shapes don't block the event loop. The aim is 50 ms, and the benchmark
measures it.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest

from hitl_core.forms import FormErrors, make_form
from hitl_core.jsonschema import check_args
from hitl_core.model.strict_json import MAX_BYTES
from tests.forms.reading import read_answers
from tests.support.cpu_time import cpu_limit

pytestmark = pytest.mark.slow

Json = dict[str, Any]
#: Ten times the aim, in CPU seconds, for machines that are slow or busy.
LIMIT = 0.5

SHAPES: dict[str, Any] = {
    "one long text": "x" * 260_000,
    "many lines": "a\n" * 85_000,
    "20,000 numbers": list(range(20_000)),
    "40,000 texts": ["abc"] * 40_000,
    "7,000 objects": [{"id": n, "name": "n", "q": 1.5} for n in range(6_500)],
    "many names": {f"k{n}": n for n in range(15_000)},
    "lists in lists": [[[[[n, n], [n]], []]] for n in range(8_000)],
    "deep": json.loads('{"a":' * 31 + "1" + "}" * 31),
}
SCHEMAS: dict[str, Any] = {
    "none": None,
    "open": {"properties": {"a": {}}},
    "typed": {"properties": {"a": {"items": {"type": ["integer", "string", "object", "array"]}}}},
    "secret": {"properties": {"a": {"items": {"properties": {"name": {"writeOnly": True}}}}}},
    "unique": {"properties": {"a": {"type": "array", "uniqueItems": True}}},
    "enum": {"properties": {"a": {"type": "array", "items": {"enum": list(range(3_000))}}}},
    "either": {
        "properties": {
            "a": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
        }
    },
}


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("shape", SHAPES)
def test_large_arguments_are_drawn_read_and_checked_soon(schema: str, shape: str) -> None:
    """T63."""
    args = {"a": SHAPES[shape]}
    assert len(json.dumps(args, separators=(",", ":"))) <= MAX_BYTES
    make_form(SCHEMAS[schema], {})  # which compiles the schema, once
    for use in (make_form, check_args, _read_form):
        with cpu_limit(LIMIT):
            use(SCHEMAS[schema], args)


def _read_form(schema: Json | None, args: Json) -> None:
    with suppress(FormErrors):  # what is wrong, or too large to be checked, is said
        assert read_answers(schema, args, {}) == args
