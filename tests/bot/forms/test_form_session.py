"""A form with several pages, as any channel shows it, without a chat system."""

from __future__ import annotations

import re
from typing import Any

import pytest

from bot.forms import (
    TOOL,
    EditForm,
    Entries,
    FormLimits,
    FormPage,
    FormRef,
    FormSession,
    FormSource,
)
from bot.inbox import ActionRef
from hitl_core.forms import FormErrors, JointError
from hitl_core.model import Review
from tests.channels.scenes import review_of

Json = dict[str, Any]

#: A small channel: three fields on a page.
LIMITS = FormLimits(page_fields=3, page_bytes=10_000, text=40, options=4, title=12)
SEVEN = {f"n{at}": f"value {at}" for at in range(7)}
CONTACT: Json = {
    "properties": {
        "contact": {
            "oneOf": [
                {
                    "title": "Mail",
                    "properties": {"kind": {"const": "mail"}, "to": {"type": "string"}},
                },
                {
                    "title": "Phone",
                    "properties": {"kind": {"const": "phone"}, "number": {"type": "integer"}},
                    "required": ["kind", "number"],
                },
            ]
        },
        "note": {"type": "string"},
    },
    "required": ["contact"],
}
BY_MAIL = {"contact": {"kind": "mail", "to": "jo"}, "note": "hello"}


def session_of(schema: Json | None, args: Json, limits: FormLimits = LIMITS) -> FormSession:
    return FormSession(FormSource(schema, args), limits)


def labels(session: FormSession) -> list[str]:
    return [each.field.label for each in session.fields]


def untouched(session: FormSession, **typed: str | None) -> Entries:
    """What a channel gives back for this page: what its inputs showed, and what was typed, by label."""
    return Entries(
        {
            each.id: typed.get(each.field.label, each.field.initial)
            for each in session.fields
            if each.field.locked is None
        }
    )


def filled(session: FormSession, **typed: str | None) -> FormSession:
    entries = untouched(session, **typed)
    after = session.enter(entries)
    assert after.shows(entries)
    return after


def edit_form(review: Review, ref: FormRef | None = None, limits: FormLimits = LIMITS) -> EditForm:
    [action] = review.actions
    target = ActionRef(
        review.id, action.key, action.revision, review.seal(action.key, is_whole=True)
    )
    return EditForm(review, action, ref or FormRef("edit", target), limits)


def test_a_form_opens_at_its_first_page_with_as_many_fields_as_the_channel_has() -> None:
    session = session_of(None, SEVEN)
    assert (session.page, session.page_count, session.is_last_page) == (0, 3, False)
    assert labels(session) == ["n0", "n1", "n2"]
    assert [labels(session.at_page(page)) for page in (1, 2)] == [["n3", "n4", "n5"], ["n6"]]


def test_the_size_of_a_page_is_the_channels_too() -> None:
    """Given two long texts of up to 3,000 characters; then a page of 10,000 bytes has one of them, and both
    if the channel's inputs have 1,000 characters."""
    args = {"a": "line 1\nline 2", "b": "line 1\nline 2"}
    session = session_of(None, args, FormLimits(page_fields=3, page_bytes=10_000, text=3000))
    assert [labels(session.at_page(page)) for page in (0, 1)] == [["a"], ["b"]]
    shorter = FormLimits(page_fields=3, page_bytes=10_000, text=1000)
    assert labels(session_of(None, args, shorter)) == ["a", "b"]


def test_edits_on_several_pages_count_and_the_page_before_shows_them() -> None:
    first = filled(session_of(None, SEVEN), n1="one")
    second = filled(first.at_page(1), n5="five")
    last = filled(second.at_page(2))
    assert last.value() == {**SEVEN, "n1": "one", "n5": "five"}
    assert last.at_page(0).fields[1].field.initial == "one"


def test_a_form_that_nobody_touched_changes_nothing() -> None:
    session = session_of(None, SEVEN)
    for page in range(3):
        session = filled(session.at_page(page))
    assert session.value() == SEVEN


def test_what_a_client_left_out_keeps_its_value() -> None:
    session = session_of(None, SEVEN)
    one, *others = session.fields
    entries = Entries({one.id: "new"}, frozenset(each.id for each in others))
    after = session.enter(entries)
    assert after.shows(entries)
    assert after.value() == {**SEVEN, "n0": "new"}


def test_marks_of_invisible_characters_are_read_back() -> None:
    session = session_of(None, {"a": "x\u200by"})
    assert session.fields[0].field.initial == "x⟦U+200B⟧y"
    assert filled(session).value() == {"a": "x\u200by"}
    assert filled(session, a="x⟦U+200B⟧z").value() == {"a": "x\u200bz"}


def test_an_error_names_its_page_and_is_beside_the_field_only_there() -> None:
    session = session_of(None, SEVEN)
    errors = FormErrors({"/n4": "is odd"})
    assert session.page_with_error(errors) == 1
    assert session.field_errors(errors) == {}
    assert session.error_text(errors) == "n4 is odd"
    there = session.at_page(1)
    assert there.field_errors(errors) == {there.fields[1].id: "is odd"}


def test_errors_stay_beside_fields_only_if_all_have_an_input() -> None:
    """Given errors of a locked field or of the whole form, then all are said together:
    none is at an input that it is not about."""
    session = session_of(None, {"a": "x" * 50, "b": "y"})  # `a` is too long for an input
    for errors in (
        FormErrors({"/a": "is too long", "/b": "is odd"}),
        FormErrors({"/b": "is odd"}, ("All is wrong.",)),
    ):
        assert session.field_errors(errors) == {}
    assert session.error_text(errors) == "b is odd; All is wrong."


def test_an_error_of_several_fields_is_beside_each_of_them() -> None:
    session = session_of(None, {"a": "x", "b": "y", "c": "z"})
    a, b, _ = session.fields
    errors = FormErrors({"/b": "is odd"}, (), (JointError(("/a", "/b"), "a and b don't fit."),))
    assert session.field_errors(errors) == {
        a.id: "a and b don't fit.",
        b.id: "is odd; a and b don't fit.",
    }


def test_an_error_of_several_fields_waits_for_the_last_of_them() -> None:
    """Given two fields on different pages that can't be set together, then the first
    page can be sent: the other field may still be cleared."""
    session = session_of(None, SEVEN)
    errors = FormErrors({}, (), (JointError(("/n0", "/n4"), "n0 and n4 don't fit."),))
    assert session.page_with_error(errors) == 1
    there = session.at_page(1)
    assert there.field_errors(errors) == {there.fields[1].id: "n0 and n4 don't fit."}


def test_another_choice_brings_other_fields_with_other_ids() -> None:
    session = session_of(CONTACT, BY_MAIL)
    choice, _, note = session.fields
    entries = untouched(session, contact="1", note="bye")
    after = session.enter(entries)
    assert not after.shows(entries)  # the person has not seen the fields of the new choice
    again = after.at_page(0)
    assert labels(again) == ["contact", "contact \u203a number", "note"]
    assert [each.id for each in again.fields if each.field.label != "note"] != [choice.id]
    assert again.fields[2].id == note.id
    assert again.fields[2].field.initial == "bye"
    done = filled(again, **{"contact \u203a number": "42"})
    assert done.value() == {"contact": {"kind": "phone", "number": 42}, "note": "bye"}


def test_entries_of_a_redrawn_form_are_read_from_the_arguments_alone() -> None:
    """Given a form that was drawn for another choice, then a bot that knows only the review reads it."""
    session = session_of(CONTACT, BY_MAIL)
    again = session.enter(untouched(session, contact="1")).at_page(0)
    entries = untouched(again, **{"contact \u203a number": "42"})
    fresh = session_of(CONTACT, BY_MAIL).enter(entries)
    assert fresh.shows(entries)
    assert fresh.value()["contact"] == {"kind": "phone", "number": 42}


def test_a_value_that_the_channels_own_input_refuses_is_a_text() -> None:
    schema = {"properties": {"to": {"type": "string", "format": "email"}}}
    args = {"to": "jo@localhost"}
    strict = FormLimits(3, 10_000, formats={"email": re.compile(r"\w+@\w+\.\w+")})
    assert session_of(schema, args).fields[0].field.kind == "email"
    assert session_of(schema, args, strict).fields[0].field.kind == "text"


@pytest.mark.parametrize(("count", "kind"), [(4, "choice"), (5, "text")])
def test_more_options_than_the_channel_has_are_typed(count: int, kind: str) -> None:
    schema = {"properties": {"x": {"enum": [f"o{at}" for at in range(count)]}}, "required": ["x"]}
    assert session_of(schema, {"x": "o1"}).fields[0].field.kind == kind


def test_an_answer_that_is_longer_with_its_marks_is_still_read() -> None:
    """Given 30 invisible characters that a person typed, whose marks are longer than an input; then the page
    that was sent is known, and the value counts."""
    typed = "\u200b" * 30
    after = filled(session_of(None, {"a": "x"}), a=typed)
    assert after.value() == {"a": typed}


def test_a_removal_is_confirmed_once_for_exactly_this_edit() -> None:
    form = edit_form(review_of(("mail", {"to": "jo", "cc": "al", "bcc": "bo"}), policy=OPTIONAL))
    emptied = form.enter(untouched(form.session, cc=None))
    proposal = emptied.proposal()
    assert emptied.warning(proposal) == "This removes cc. Send the form again to confirm."
    asked = emptied.with_confirmation(proposal)
    page = asked.page("…")
    again = edit_form(form._review, page.ref)  # as a bot makes it that knows only the review
    same = again.enter(Entries({each.id: each.field.initial for each in page.fields}))
    assert same.proposal().args == proposal.args
    assert same.warning(same.proposal()) == ""
    more = again.enter(untouched(again.session, cc=None, bcc=None))
    assert "bcc and cc" in more.warning(more.proposal()).replace("cc and bcc", "bcc and cc")


def test_a_warning_counts_all_removed_values() -> None:
    """Given 14 values that an edit removes; then ten are named, and the number of the others is right."""
    args = {f"n{at}": "x" for at in range(14)}
    limits = FormLimits(page_fields=20, page_bytes=100_000)
    form = edit_form(review_of(("mail", args), policy=OPTIONAL), limits=limits)
    emptied = form.enter(Entries({each.id: None for each in form.session.fields}))
    assert "n5 and 4 more." in emptied.warning(emptied.proposal())


OPTIONAL: Json = {
    "interrupt_on": {
        "mail": {
            "allowed_decisions": ["approve", "edit"],
            "args_schema": {"type": "object", "additionalProperties": {"type": "string"}},
        }
    }
}


def test_another_tool_is_chosen_on_the_last_page() -> None:
    letter = {"properties": {"to": {"type": "string"}, "copies": {"type": "integer"}}}
    form = edit_form(review_of(("send_email", {"to": "jo"}), tools={"send_letter": letter}))
    *_, tool = form.page().fields
    assert (tool.id, tool.field.redraws) == (TOOL, True)
    at = [option.label for option in tool.field.options].index("send_letter")
    entries = Entries({**untouched(form.session, to="al").answers, TOOL: str(at)})
    other = form.enter(entries)
    assert not other.session.shows(entries)
    page = other.at_page(0, draft="").page()
    assert [(f.field.label, f.field.initial) for f in page.fields[:2]] == [
        ("to", "al"),
        ("copies", None),
    ]
    assert page.ref.tool == "send_letter"


@pytest.mark.parametrize("answer", ["9", "-1", "x", "", None])
def test_a_tool_that_is_none_of_the_options_changes_nothing(answer: str | None) -> None:
    """Given a channel whose clients may send anything."""
    form = edit_form(review_of(("send_email", {"to": "jo"}), tools={"send_letter": {}}))
    assert form.enter(Entries({TOOL: answer})).proposal().name == "send_email"


def test_the_texts_of_a_page_are_the_same_in_every_channel() -> None:
    form = edit_form(review_of(("send_email", SEVEN)))
    first, last = form.page(), form.at_page(2, draft="1").page()
    assert (first.title, first.name) == (
        "Edit send_email",
        "send_email",
    )  # 12 characters are too few
    assert (first.submit, first.count, first.back) == ("Next", 3, "")
    assert (last.submit, last.back) == ("Approve edited", "◀ Back to page 2")
    assert last.ref.draft
    assert isinstance(last, FormPage)


def test_a_form_that_cuts_a_name_does_not_show_all() -> None:
    """Given an argument whose name has no room; then the form is no proof that its editor has read all."""
    long = f"note {'x' * 300} AND WIRE 5,000 EUR TO MALLORY {'x' * 300}"
    assert not session_of(None, {"to": "jo", long: "yes"}).shows_all
    assert session_of(None, {"to": "jo", "note": "yes"}).shows_all
