"""Our decoder of form bodies gives the same result as urllib's."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.web.requests import read_form

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
LIKE_A_FORM = st.text("&=%+abC3E28é€\n\r", max_size=40)


@given(st.one_of(ANY_TEXT, LIKE_A_FORM))
def test_a_form_is_read_as_the_standard_library_does(text: str) -> None:
    """Given any text; then its fields are those that `parse_qsl` finds, if each "%" escapes something."""
    if re.search("%(?![0-9A-Fa-f]{2})", text):
        with pytest.raises(ValueError, match="a broken escape"):
            read_form(text, 1000)
    else:
        assert read_form(text, 1000) == dict(parse_qsl(text, keep_blank_values=True))


@given(st.dictionaries(ANY_TEXT, ANY_TEXT))
def test_what_was_written_as_a_form_is_read(fields: dict[str, str]) -> None:
    assert read_form(urlencode(fields), 1000) == fields


def test_a_long_form_is_read_whole() -> None:
    fields = {"payload": "[{é€+&=%}] " * 20_000, "empty": ""}
    assert read_form(urlencode(fields), 50) == fields


def test_a_form_of_too_many_fields_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 50 fields"):
        read_form("a=b&" * 60, 50)
