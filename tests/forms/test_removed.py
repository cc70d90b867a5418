"""What an edit removes: a missing value or null is never silently treated as empty."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hitl_core.forms import FormErrors, find_removed, make_form, name_removed
from hitl_core.jsonschema import format_path
from tests.forms.reading import read_answers
from tests.forms.test_round_trip import cases

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("before", "after", "gone"),
    [
        ({"to": "jo", "cc": "al"}, {"to": "jo"}, ("/cc",)),
        ({"cc": "al"}, {"cc": None}, ("/cc",)),
        ({"cc": "al"}, {"cc": ""}, ("/cc",)),
        ({"cc": ["al"]}, {"cc": []}, ("/cc",)),
        ({"cc": None}, {}, ("/cc",)),
        ({"cc": ""}, {"cc": None}, ()),
        ({"n": 0, "b": False}, {"n": 1, "b": False}, ()),
        ({"n": 0}, {"n": None}, ("/n",)),
        ({"a": {"b/c": 1, "d": 2}}, {"a": {"d": 3}}, ("/a/b~1c",)),
        ({"a": {"b": 1}}, {"a": {}}, ("/a",)),
        ({"a": [{"b": 1}, 2]}, {"a": [{"b": None}]}, ("/a/0/b", "/a/1")),
        ({}, {"new": None}, ()),
    ],
)
def test_what_an_edit_takes_away(before: Json, after: Json, gone: tuple[str, ...]) -> None:
    assert find_removed(before, after) == gone


@pytest.mark.parametrize(
    ("before", "after", "gone"),
    [
        (["a", "b", "c"], ["a"], ("/1", "/2")),
        (["a", "b", "c"], ["b", "c"], ("/0",)),
        (["a", "b", "a"], ["a", "b"], ("/2",)),
        (["a", "b"], ["b", "a"], ()),
        (["a", "b"], ["a", "x"], ()),
        (["a", "b", "c"], ["x", "a"], ("/2",)),
        (["a", "b"], ["a", " "], ("/1",)),
        ([1, True], [1], ("/1",)),
        ([["a", "b"], ["c"]], [["c"], ["a"]], ("/0/1",)),
        ([{"sku": 1}, {"sku": 2, "n": 3}], [{"sku": 2, "n": 3}], ("/0",)),
        ([{"sku": 1, "n": 1}], [{"n": 1}], ("/0/sku",)),
        ([None, "a"], ["a"], ("/0",)),
        ({"a": 1, "b": 2}, "x", ("",)),
        ({"a": 1}, 5, ("",)),
        ({"a": 1}, ["a"], ("",)),
        (["a"], {"a": 1}, ("",)),
        (["a"], "a", ("",)),
        ({}, "x", ()),
        ("abc", "   ", ("",)),
        ("abc", "\n\u200b\u3164", ("",)),
        ("  ", "", ()),
        ("abc", 5, ()),
        (True, False, ()),
    ],
)
def test_items_shapes_and_blanks(before: Any, after: Any, gone: tuple[str, ...]) -> None:
    """A list that got shorter, an object that became something else, and a text of blanks."""
    assert find_removed({"v": before}, {"v": after}) == tuple(f"/v{each}" for each in gone)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(cases(), st.data())
def test_no_null_takes_away_what_is_not_told(case: tuple[Json, Json], data: st.DataObject) -> None:
    """Slack-clients 3: given any form, when random fields are answered with null or not at all; then either
    that is refused, or all that is gone was null in the answer, and is no required field's; the rest is the
    same byte for byte."""
    schema, args = case
    fields = [field for field in make_form(schema, args).fields if not field.redraws]
    answers: dict[str, str | None] = {}
    for field in fields:
        match data.draw(st.sampled_from(["null", "absent", "same"])):
            case "null":
                answers[field.pointer] = None
            case "same":
                answers[field.pointer] = field.initial
            case _:
                pass
    try:
        after = read_answers(schema, args, answers)
    except FormErrors:
        return
    cleared = {p for p, answer in answers.items() if answer is None}
    required = {field.pointer for field in fields if field.required and field.initial}
    for gone in find_removed(args, after):
        behind = {p for p in cleared if p == gone or p.startswith(f"{gone}/")}
        assert behind, (gone, answers)
        assert not behind & required
    if not cleared:
        assert json.dumps(after, sort_keys=True) == json.dumps(args, sort_keys=True)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("cc", "cc"),
        ("nothing. Everything else stays", '"nothing. Everything else stays"'),
        ('a" and "b', r'"a\" and \"b"'),
        ("to.name", '"to.name"'),
        ("", '""'),
        ("0", "[0]"),
    ],
)
def test_an_agents_key_is_quoted_where_we_say_what_is_removed(key: str, name: str) -> None:
    """Given a key that reads like our text, or like another path, then our sentence quotes it."""
    assert name_removed({key: "x"}, {}, ()) == [name]
    outer = name if name.startswith("[") else f".{name}"
    assert name_removed({"o": {key: "x", "y": 1}}, {"o": {"y": 1}}, ()) == [f"o{outer}"]


def test_long_keys_and_paths_are_cut_and_none_is_left_out() -> None:
    before = {"k" * 60 + str(at): "x" for at in range(2)}
    assert name_removed(before, {}, ()) == [f'"{"k" * 39}…"'] * 2
    deep: dict[str, Any] = {"x": 1, "y": 2}
    for _ in range(30):
        deep = {"a": deep}
    assert name_removed({"o": deep}, {"o": {"a": 1}}, ()) == ["o.a"]
    assert format_path("/a" * 30) == ".".join("a" * 8) + "…"
    assert format_path(f"/{'1' * 50}") == f'"{"1" * 39}…"'
