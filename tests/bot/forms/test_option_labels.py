"""The options of a choice can be told apart, however long their texts are."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from bot.forms.fields import fit_pages, is_cut, shows_all
from bot.forms.limits import FormLimits
from hitl_core.forms import Field, Option

LIMITS = FormLimits(page_fields=40, page_bytes=200_000)
START, END = "Pay the invoice of the supplier " * 8, " to the account of the company" * 8


def labels_of(*texts: str) -> list[str]:
    """The labels of a choice with these options on a page of a form."""
    field = Field("/way", "choice", "Way", required=True, options=tuple(map(Option, texts)))
    [[fitted]] = fit_pages([field], LIMITS)
    assert all(len(one.label) <= LIMITS.option_label for one in fitted.options)
    assert not shows_all([fitted])
    return [one.label for one in fitted.options]


def test_options_that_differ_in_their_middle_say_where_they_differ() -> None:
    """Given two long options that differ only in the middle, which is cut; then the labels show that part,
    and how much is missing before it: they had numbers, which don't say what they choose."""
    ann, bob = labels_of(f"{START}ann{END}", f"{START}bob{END}")
    assert "ann" in ann
    assert "bob" in bob
    assert "bob" not in ann
    assert re.match(r"⟦2\d\d more characters⟧", ann)


def test_options_of_which_only_some_look_the_same_keep_their_beginnings() -> None:
    other, ann, bob = labels_of(f"Nothing {END}{END}", f"{START}ann{END}", f"{START}bob{END}")
    assert other.startswith("Nothing")
    assert ("ann" in ann, "bob" in bob) == (True, True)


def test_options_that_differ_at_several_places_are_told_apart_at_each() -> None:
    """Given three options of which two differ only much later than the third; then each label is another."""
    first, second, third = labels_of(
        f"{START}x{END}", f"{START}y{START}1{END}", f"{START}y{START}2{END}"
    )
    assert "x" in re.sub("⟦[^⟧]*⟧", "", first)
    assert "1" in re.sub("⟦[^⟧]*⟧", "", second)
    assert "2" in re.sub("⟦[^⟧]*⟧", "", third)


def test_options_with_the_same_text_have_numbers() -> None:
    """Given two values with the same title; then nothing tells them apart but a number."""
    same = f"{START}{END}"
    assert [one[:3] for one in labels_of(same, same)] == ["1. ", "2. "]


def test_a_locked_choice_shows_its_option_as_the_choice_would() -> None:
    """Given a choice that can't be changed, whose option is cut and has an invisible character; then the mark
    of each is shown as it is, and the page says that it is cut.
    """
    text = f"\u202e{START}{END}"
    field = Field("/way", "choice", "Way", locked="Fixed.", initial="0", options=(Option(text),))
    [[fitted]] = fit_pages([field], LIMITS)
    assert fitted.initial == fitted.options[0].label
    assert "⟦U+202E⟧" in (fitted.initial or "")
    assert is_cut([fitted])


@given(st.lists(st.sampled_from(["a" * 60, "b" * 60, "⟦", "\u202e", "é" * 60, "<&"]), max_size=8))
def test_no_mark_of_an_option_is_cut_into_two(parts: list[str]) -> None:
    """Given options of parts that are shown as marks; then each label has only whole marks, and no two are
    the same."""
    begin = "".join(parts)
    labels = labels_of(f"{START}{begin}x{END}", f"{START}{begin}y{END}")
    assert len(set(labels)) == 2
    for label in labels:
        assert re.sub("⟦[^⟦⟧]*⟧", "", label).count("⟦") == 0
        assert re.sub("⟦[^⟦⟧]*⟧", "", label).count("⟧") == 0
