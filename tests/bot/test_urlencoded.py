"""A form body is read in pieces, with the same result as the standard library."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.web import requests
from bot.web.requests import read_form

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
LIKE_A_FORM = st.text("&=%+abC3E28é€", max_size=40)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.one_of(ANY_TEXT, LIKE_A_FORM), st.integers(3, 9))
def test_a_form_is_read_as_the_standard_library_does(
    monkeypatch: pytest.MonkeyPatch, text: str, piece: int
) -> None:
    """Given any text, cut at any place; then its fields are those that `parse_qsl` finds."""
    monkeypatch.setattr(requests, "PIECE", piece)
    assert read_form(text, 1000) == dict(parse_qsl(text, keep_blank_values=True))


def test_a_long_form_is_read_whole() -> None:
    fields = {"payload": "[{é€+&=%}] " * 20_000, "empty": ""}
    assert read_form(urlencode(fields), 50) == fields


def test_a_form_of_too_many_fields_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 50 fields"):
        read_form("a=b&" * 60, 50)
