"""Forms of Teams: a value that nobody changed comes back as it was, and what a person enters is what runs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.channels.teams.ids import OpenForm
from bot.channels.teams.render import TEAMS_LIMITS, form_card, read_entries
from bot.forms import AnswerForm, Entries, FormRef
from bot.forms.message_form import escalation_page, rejection_page, text_answer_page
from bot.inbox import ActionRef
from hitl_core.errors import Refused
from hitl_core.forms import FormErrors
from hitl_core.model import MessageRef, encode
from tests.channels.scenes import review_of
from tests.channels.slack.test_fields import PROPERTIES, keys
from tests.channels.teams.filling import PEN, Form, edit_form, fill_in, fill_pages, open_edit
from tests.channels.teams.reading import KEY, actions_of, check, to_text
from tests.channels.test_properties import long_text, value

Json = dict[str, Any]

TEXT = {"type": "string"}
slowly = settings(
    max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def schema_of(**properties: Any) -> Json:
    return {"type": "object", "properties": properties}


def submit(schema: Json | None, args: Json, **entered: Any) -> Json:
    """What runs, after a person entered this on the first page."""
    return fill_pages(open_edit(schema, args), **entered).session.value()


@slowly
@given(st.dictionaries(keys, st.one_of(value, long_text), max_size=6), st.data())
def test_what_nobody_touched_comes_back_as_it_was(args: Json, data: st.DataObject) -> None:
    """Given any schema and arguments, when a form is sent as it opens; then the call is the same."""
    properties = data.draw(st.dictionaries(keys, PROPERTIES, max_size=5))
    with suppress(FormErrors):
        assert encode(submit(schema_of(**properties), args)) == encode(args)


@slowly
@given(st.dictionaries(keys, st.one_of(value, long_text), max_size=30))
@example({f"key {n}": "日" * 2_900 for n in range(12)})
@example({f"{n}": "{{DATE(2026-01-01T00:00:00Z)}}" * 40 for n in range(9)})
@example({f"{n}" + "x" * 300: "\t\u200b" * 200 for n in range(9)})
def test_any_arguments_make_a_form_that_teams_takes(args: Json) -> None:
    form = open_edit(None, args)
    for page in range(form.session.page_count):
        drawn = check(form_card(form.at_page(page, draft="1").page("Wrong."), "s" * 60, PEN))
        assert "too large for Teams" not in str(drawn)


EVERY_KIND: Json = schema_of(
    word=TEXT,
    mail={"type": "string", "format": "email"},
    page={"type": "string", "format": "uri"},
    count={"type": "integer", "minimum": 0, "maximum": 10},
    rate={"type": "number"},
    sure={"type": "boolean"},
)
EVERY_CHOICE: Json = schema_of(
    one={"enum": ["EUR", 1, None, "a,b"]},
    many={"type": "array", "items": {"enum": ["x", "y, z", "w"]}},
    day={"type": "string", "format": "date"},
    clock={"type": "string", "format": "time"},
    at={"type": "string", "format": "date-time"},
)
EVERY_TEXT: Json = schema_of(
    prose={"type": "string", "maxLength": 900}, tags={"type": "array", "items": TEXT}
)


def test_each_kind_of_field_is_filled_in() -> None:
    """Given empty arguments; then what a person enters in each input is what runs, with its type."""
    first = submit(
        EVERY_KIND,
        {},
        word="w",
        mail="jo@example.com",
        page="https://example.com",
        count="7",
        rate="0.5",
        sure="0",
    )
    assert first == {
        "word": "w",
        "mail": "jo@example.com",
        "page": "https://example.com",
        "count": 7,
        "rate": 0.5,
        "sure": True,
    }
    second = submit(EVERY_CHOICE, {}, one="3", many=["0", "1"], day="2026-11-21", clock="14:30")
    assert second == {
        "one": "a,b",
        "many": ["x", "y, z"],
        "day": "2026-11-21",
        "clock": "14:30:00Z",
    }
    third = submit(EVERY_TEXT, {}, prose="two\nlines", tags="a\nb")
    assert third == {"prose": "two\nlines", "tags": ["a", "b"]}
    assert submit(schema_of(free={}), {}, free='{"a": [1]}') == {"free": {"a": [1]}}


def test_a_point_in_time_has_two_inputs_in_utc() -> None:
    """Given a time with a zone; then it is shown in UTC, and a change keeps its zone."""
    form = open_edit(
        schema_of(at={"type": "string", "format": "date-time"}), {"at": "2026-11-21T14:30:00+01:00"}
    )
    page = Form(form.page())
    day, clock = page.inputs
    assert (day["type"], day["value"]) == ("Input.Date", "2026-11-21")
    assert (clock["type"], clock["value"]) == ("Input.Time", "13:30")
    assert "time in UTC" in clock["label"]
    entries = page.send(**{clock["label"]: "15:00"})
    assert form.enter(entries).session.value() == {"at": "2026-11-21T16:00:00+01:00"}


@pytest.mark.parametrize("part", ["d_", "t_"])
def test_half_a_point_in_time_is_an_error(part: str) -> None:
    """Given a date without a time, or the other way round; then it is no value."""
    form = open_edit(schema_of(at={"type": "string", "format": "date-time"}), {})
    [id] = [one.id for one in form.page().fields]
    given = {"d_": "2026-11-21", "t_": "14:30"}[part]
    with pytest.raises(FormErrors):
        form.enter(read_entries({f"{part}{id}": given}, [id])).session.value()


def test_what_a_client_leaves_out_is_empty() -> None:
    """Given a client that leaves out empty inputs; then the person has cleared them."""
    form = open_edit(schema_of(note=TEXT), {"note": "x"})
    ids = [one.id for one in form.page().fields]
    entries = read_entries({}, ids)
    assert entries == Entries(dict.fromkeys(ids))
    assert form.enter(entries).session.value() == {}


@pytest.mark.parametrize("value", [7, 7.5, True, ["7"], {"value": "7"}])
def test_an_input_of_another_type_is_not_empty(value: object) -> None:
    """Given a client that sends something else than text, as Teams' clients do; then nobody knows what the
    person entered, and it is not taken for nothing."""
    for prefix in ("f_", "n_", "d_", "t_"):
        with pytest.raises(Refused):
            read_entries({f"{prefix}note": value}, ["note"])
    assert read_entries({"f_else": value}, ["note"]).answers == {"note": None}


def test_a_number_that_a_client_rounds_does_not_run() -> None:
    """Given an integer larger than a client's numbers, which it sends rounded; then it is an error, and the
    next input is a text.
    """
    form = open_edit(schema_of(account={"type": "integer"}), {"account": 1})
    entries = Form(form.page()).send(account="9007199254740993")
    filled = form.enter(entries)
    with pytest.raises(FormErrors):
        filled.session.value()
    again = Form(filled.at_page(0, draft="1").page())
    assert again.input("account")["type"] == "Input.Text"
    filled = form.enter(again.send(account="9007199254740993"))
    assert filled.session.value() == {"account": 9007199254740993}


@pytest.mark.parametrize(
    "number", [0.0, -0.0, 120.0, 0.1, -7, 1e-7, 123456789012345.5, 10**15, 2**60]
)
def test_a_number_that_nobody_touched_stays_as_it_was(number: float) -> None:
    """Given a number that a client may write in another way; then the call has the same bytes."""
    args = {"n": number}
    for schema in (None, schema_of(n={"type": "number"})):
        assert encode(submit(schema, args)) == encode(args)


def test_no_client_changes_a_number_to_its_limit() -> None:
    """Given a number outside its limits; then it arrives as it was typed, and is refused."""
    form = open_edit(EVERY_KIND, {"count": 5})
    with pytest.raises(FormErrors) as wrong:
        form.enter(Form(form.page()).send(count="99999")).session.value()
    assert wrong.value.fields["/count"]


def test_an_input_can_not_take_the_place_of_our_data() -> None:
    """Given arguments with the names of our data; then the form is still ours."""
    args = {"hitl": "press", "value": "approve.0-abc", "mac": "x", "verb": "send"}
    assert submit(None, args, value="other") == {**args, "value": "other"}


def test_an_error_is_below_its_field_and_what_was_entered_stays() -> None:
    """Given entries that the server refused; then the page has them, and what is wrong in attention."""
    form = open_edit(schema_of(name=TEXT, count={"type": "integer"}), {"name": "a", "count": 1})
    page = form.page()
    count = page.fields[1].id
    entries = Form(page).send(name="b", count="2")
    again = Form(page, entries, {count: "must be at most 1"})
    assert again.input("name")["value"] == "b"
    assert again.input("count")["value"] == 2
    body = again.card["body"]
    at = body.index(again.input("count"))
    [run] = body[at + 1]["inlines"]
    assert (run["text"], run["color"]) == ("✖ must be at most 1", "attention")
    assert "✖" not in to_text(Form(page, entries, {}).card)


def test_the_top_of_a_form_says_which_fields_have_errors() -> None:
    """Given a form that is longer than a phone's screen, with errors at its end; then its first line below
    the title says so, with the fields' names in the order of the form, as text."""
    names = ["first", *(f"f{number}" for number in range(5)), "a * {{DATE(x)}} [b](c)"]
    form = open_edit(schema_of(**dict.fromkeys(names, TEXT)), dict.fromkeys(names, "x"))
    page = form.page()
    wrong = {one.id: "must be longer" for one in page.fields if one.field.label != "first"}
    marked = "⚠ Not sent yet. Correct what is marked ✖ below:"
    assert second_line(Form(page, None, wrong)) == f"{marked} “f0”, “f1”, “f2” and 3 more."
    odd = page.fields[-1]
    shown = second_line(Form(page, None, {odd.id: "must be longer"}))
    assert shown == f"{marked} “{odd.field.label}”."


def second_line(form: Form) -> str:
    line = form.card["body"][1]
    assert line["type"] == "RichTextBlock"  # without markup
    return "".join(run["text"] for run in line["inlines"])


def test_a_form_of_one_field_says_its_error_once() -> None:
    page = open_edit(schema_of(name=TEXT), {"name": "a"}).page()
    shown = to_text(Form(page, None, {page.fields[0].id: "must be longer"}).card)
    assert (shown.count("must be longer"), shown.count("✖")) == (1, 1)


@pytest.mark.parametrize(
    "answer", ["99", "x", "-1", "0,99", "2026-13-01x", "{{DATE(2026-01-01T00:00:00Z)}}"]
)
def test_entries_that_no_client_sends_are_drawn(answer: str) -> None:
    """Given any text for each input; then the page with it is Teams' to take."""
    for schema in (EVERY_KIND, EVERY_CHOICE, EVERY_TEXT, schema_of(free={})):
        page = open_edit(schema, {}).page()
        Form(page, Entries({one.id: answer for one in page.fields}))


def test_a_choice_that_changes_the_fields_has_a_button() -> None:
    """Given a choice between branches; then a button shows the fields of the other one."""
    branches = [
        {"title": "By mail", "properties": {"to": TEXT}, "required": ["to"]},
        {
            "title": "By phone",
            "properties": {"number": {"type": "integer"}},
            "required": ["number"],
        },
    ]
    schema = schema_of(contact={"oneOf": branches})
    form = open_edit(schema, {"contact": {"to": "jo"}})
    page = Form(form.page())
    choice = page.input("contact")
    [redraw] = [one for one in actions_of(page.card) if one.get("verb") == "redraw"]
    at = page.card["body"].index(choice)
    assert redraw in page.card["body"][at + 1]["actions"]
    chosen = form.enter(page.send("redraw", contact="1"))
    labels = [one["label"] for one in Form(chosen.page()).inputs]
    assert any("number" in label for label in labels)
    assert not any(label.startswith("contact › to") for label in labels)  # noqa: RUF001


def test_pages_go_forward_and_back() -> None:
    """Given more fields than one page has; then each page says which it is, and leads back."""
    args = {f"field-{n:02}": f"value {n}" for n in range(25)}
    form = open_edit(None, args)
    assert form.session.page_count > 1
    filled = fill_in(form, **{"field-03": "three"})
    second = Form(filled.at_page(1, draft="1").page())
    text = to_text(second.card)
    assert "Page 2 of" in text
    assert "[◀ Back to page 1]" in text
    assert second.send("back").answers.keys() == {one.id for one in second.page.fields}
    again = Form(filled.at_page(0, draft="1").page())
    assert again.input("field-03")["value"] == "three"
    assert submit(None, args, **{"field-03": "three"}) == {**args, "field-03": "three"}


def test_no_field_keeps_a_person_from_going_back() -> None:
    """Given a required field; then the client sends the page also if it is empty: we say what is wrong."""
    schema = {**schema_of(a=TEXT), "required": ["a"]}
    page = Form(open_edit(schema, {"a": "x"}).page())
    assert not any(one.get("isRequired") for one in page.inputs)
    assert page.send(a="").answers == {page.page.fields[0].id: None}
    assert page.input("a")["label"] == "a"


def test_to_cancel_needs_no_entries() -> None:
    page = Form(open_edit(None, {"a": "x"}).page())
    cancel = next(one for one in actions_of(page.card) if one["title"] == "Cancel")
    assert cancel["associatedInputs"] == "none"
    assert KEY.read(cancel["data"]) == ("close", page.page.ref.target.review_id)


def test_locked_values_are_shown_with_the_reason() -> None:
    form = open_edit(schema_of(id={"const": "x-1"}, note=TEXT), {"id": "x-1", "note": "n"})
    text = to_text(Form(form.page()).card)
    assert "*id*" in text
    assert "  | x-1" in text


REVIEW = review_of(("tool", {"a": 1}))
TARGET = ActionRef(REVIEW.id, "1", 1, "5eal")


def test_the_forms_with_one_text() -> None:
    """Given the forms to reject, answer and escalate; then each has its fact, its effect and one input."""
    action = REVIEW.actions[0]
    card = MessageRef(channel="teams", conversation="19:x@thread.tacv2", ts="17", service_url="u")
    pages = [
        rejection_page(REVIEW, action, FormRef("reject", TARGET)),
        text_answer_page(REVIEW, action, FormRef("respond", TARGET)),
        escalation_page(REVIEW, [action], FormRef("escalate", TARGET, card=card), "Ops"),
    ]
    for page in pages:
        form = Form(page)
        [element] = form.inputs
        assert element["isMultiline"]
        assert form.send(**{element["label"]: "why\nnot"}).answers == {"message": "why\nnot"}
        assert page.effect in to_text(form.card)
    assert "[!Reject]" in to_text(Form(pages[0]).card)


def test_an_answer_with_a_schema() -> None:
    schema = {"type": "object", "properties": {"colour": {"enum": ["red", "blue"]}}}
    rule = {"allowed_decisions": ["respond"], "answer_schema": schema, "description": "Which?"}
    review = review_of(("ask", {"n": 1}), policy={"interrupt_on": {"ask": rule}})
    ref = FormRef("respond", ActionRef(review.id, "1", 1))
    form = AnswerForm(review, review.actions[0], ref, TEAMS_LIMITS)
    assert fill_in(form, colour="1").session.value() == {"colour": "blue"}


def test_a_form_says_where_it_was_opened() -> None:
    form = Form(edit_form(review_of(("tool", {"a": 1}))).page())
    send = next(one for one in actions_of(form.card) if one.get("verb") == "send")
    assert OpenForm.parse(send["data"]["value"]).session_id == "session-1"


def test_what_is_too_large_says_so() -> None:
    """Given a page that no card can have; then a notice says where to decide."""
    page = open_edit(None, {"a": "x"}).page()
    large = replace(page, effect="日" * 20_000)
    assert "hitl reviews decide" in to_text(check(form_card(large, "s", PEN)))
