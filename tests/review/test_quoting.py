"""What an agent says of a call may quote what nobody is to see of it, in any written form (attack A2)."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_core.model import ToolCall
from hitl_core.policy import Policy
from hitl_core.review.quoting import Quoting
from tests.support.builders import review_of

KEY = "-----BEGIN KEY-----\nMIIEsecretsecret\n-----END KEY-----"
WAYS: dict[str, Callable[[Any], str]] = {
    "plain": str,
    "repr": repr,
    "json": json.dumps,
    "json as it is": lambda value: json.dumps(value, ensure_ascii=False),
    "json in lines": lambda value: json.dumps({"a": {"b": [value]}}, indent=2),
    "address": lambda value: quote(str(value), safe=""),
    "html": lambda value: html.escape(str(value)),
    "loud": lambda value: str(value).upper(),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "value",
    [KEY, "hunter2", "Größe 5\"", "C:\\keys\\prod", "a&b<c>", "it's\ttabbed", "日本語のパスワード"],
)  # fmt: skip
def test_a2_no_written_form_of_a_hidden_text_is_missed(value: str, way: str) -> None:
    said = f"Tool deploy with {WAYS[way](value)} now"
    assert Quoting([value]).may_be_in(said)
    assert Quoting([{"deep": [value]}]).may_be_in(said)


@pytest.mark.parametrize("said", ["the key MIIEsecretsecret", "…secretsecret\\n-----END KEY-----"])
def test_a2_a_part_of_a_hidden_text_is_a_quote(said: str) -> None:
    assert Quoting([KEY]).may_be_in(said)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1234567, "pays 1,234,567 now"),
        (1234567, "pays 1.234.567,00"),
        (1234567, "pays 1 234 567"),
        (1200.5, "pays 1,200.50"),
        (1200.0, "pays 1200"),
        (-1234, "minus 1234"),
    ],
)
def test_a2_a_hidden_number_is_found_however_it_is_written(value: float, said: str) -> None:
    assert Quoting([value]).may_be_in(said)


@pytest.mark.parametrize("value", ["123", "ok", 7, 1.0, 0.5, True, False, "0"])
def test_a2_what_is_too_short_to_be_looked_for_may_be_in_any_text(value: Any) -> None:
    assert Quoting([value]).may_be_in("Yes.")
    assert not Quoting([value]).may_be_in(" \n")


@pytest.mark.parametrize("value", [KEY, "hunter2", 1234567, None, "", {"number": None}, []])
def test_a_text_that_quotes_nothing_is_shown(value: Any) -> None:
    assert not Quoting([value]).may_be_in("Deploys the new version to web1, as number 12 asked.")


def test_a2_a_quote_is_found_wherever_it_stands_in_a_long_text() -> None:
    assert Quoting([KEY]).may_be_in(" " * 50_000 + "MIIEsecretsecret\\n---")
    assert Quoting([KEY]).may_be_in("x" * 100_001), "which is too long to be looked through"
    assert not Quoting([KEY]).may_be_in("x" * 100_000)
    assert not Quoting([None]).may_be_in("x" * 100_001)


@given(st.text(min_size=20), st.integers(0, 400), st.data())
def test_a2_twenty_characters_of_a_hidden_text_are_always_found(
    value: str, before: int, data: st.DataObject
) -> None:
    """Wherever the quote begins."""
    value = value.strip().casefold()
    if len(value) < 20 or value != value.casefold():
        return
    start = data.draw(st.integers(0, len(value) - 20))
    assert Quoting([value]).may_be_in("x" * before + value[start : start + 20] + "x")


def test_the_policys_own_text_is_shown_without_what_it_quotes() -> None:
    quoting = Quoting(["hunter2", 41112222, "123", "ok"])
    said = quoting.without("Says HUNTER2 to 41112222, pin 123 of 1234, all ok.")
    assert said == "Says … to …, pin … of 1234, all ok."


@pytest.mark.parametrize("schema", [{"redact": ["/key"]}, {}])
def test_a2_the_outline_of_a_review_shows_no_text_that_may_quote(schema: dict[str, Any]) -> None:
    """Given a review without its arguments, as lists load it, then a text of the agent is shown only where
    the policy hides nothing."""
    rule = {"allowed_decisions": ["approve"], **schema}
    by = Policy.from_mapping({"default": "allow", "interrupt_on": {"ask": rule}})
    review = review_of([ToolCall("c1", "ask", {"key": "hunter2"})], by=by)[0]
    quoting = Quoting.of(review.model_copy(update={"args": {}}), review.actions[0])

    assert quoting.may_be_in("Sends hunter2") is bool(schema)
    assert quoting.without("Sends hunter2") == ("…" if schema else "Sends hunter2")
