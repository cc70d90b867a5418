"""A value with some of its parts changed."""

from __future__ import annotations

import pytest

from hitl_core.forms.fast_replace import fast_replace
from hitl_core.forms.field import Field


def test_only_what_is_named_changes_and_the_value_itself_stays() -> None:
    before = Field("/x", "text", "X", hint="h")

    after = fast_replace(before, kind="json", hint=None)

    assert after == Field("/x", "json", "X")
    assert before == Field("/x", "text", "X", hint="h")


def test_a_part_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TypeError, match="Field has no colour"):
        fast_replace(Field("/x", "text", "X"), colour="red")
