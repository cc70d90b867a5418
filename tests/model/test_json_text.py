"""JSON for people takes as few lines as can be read well."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hitl_core.json_text import MAX_LINE, indent_json

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def test_each_short_part_is_on_one_line():
    """Given a list of small objects; then each object is one line."""
    lines = [{"gift": True, "quantity": 2, "sku": "AB-12"}, {"quantity": 1, "sku": "ZZ-1"}]

    assert indent_json({"lines": lines}) == (
        "{\n"
        '  "lines": [\n'
        '    {"gift": true, "quantity": 2, "sku": "AB-12"},\n'
        '    {"quantity": 1, "sku": "ZZ-1"}\n'
        "  ]\n"
        "}"
    )


def test_a_short_value_is_on_one_line():
    assert indent_json(["vip"]) == '["vip"]'
    assert indent_json({"address": {"city": "Berlin"}}) == '{"address": {"city": "Berlin"}}'
    assert indent_json([]) == "[]"


def test_a_part_that_is_too_long_for_a_line_is_split():
    at_limit = ["x" * (MAX_LINE - len('[""]'))]

    assert "\n" not in indent_json(at_limit)
    assert "\n" in indent_json(["x" + at_limit[0]])


@given(JSON)
def test_it_is_the_same_value(value: Any):
    assert json.loads(indent_json(value)) == value
