"""A form with several pages, and a form in which a choice decides which fields follow."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from bot.channels.slack.modals.form_modal import ACTION_ID
from bot.channels.slack.modals.modal import MODAL_LIMITS
from bot.forms import TOOL, Entries, FormSession, FormSource
from hitl_core.errors import Refused
from hitl_core.forms import FormErrors
from hitl_core.jsonschema import SchemaError
from tests.channels.filled import Page, edit_form, entries_of, modal_of, open_page
from tests.channels.scenes import review_of
from tests.support.cpu_time import cpu_limit

Json = dict[str, Any]

TEXT = {"type": "string"}
NINETY = {f"field-{n}": f"value {n}" for n in range(90)}
CONTACT: Json = {
    "type": "object",
    "properties": {
        "contact": {
            "oneOf": [
                {
                    "title": "By mail",
                    "properties": {"kind": {"const": "mail"}, "to": {"type": "string"}},
                    "required": ["kind", "to"],
                },
                {
                    "title": "By phone",
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
CHOICE, NUMBER = "contact", "contact \u203a number"


def test_ninety_fields_stand_on_pages_and_an_edit_on_each_counts() -> None:
    first = open_page(None, NINETY)
    assert [len(first.blocks), first.session.page_count] == [45, 2]
    filled = first.sent(**{"field-3": {"value": "three"}})
    second = Page(filled.at_page(1))
    filled = second.sent(**{"field-88": {"value": "eighty-eight"}})
    assert filled.is_last_page
    assert filled.value() == {**NINETY, "field-3": "three", "field-88": "eighty-eight"}


def test_the_page_before_shows_what_was_entered_there() -> None:
    filled = open_page(None, NINETY).sent(**{"field-3": {"value": "three"}})
    again = Page(Page(filled.at_page(1)).sent().at_page(0))
    assert again.element("field-3")["initial_value"] == "three"


def test_long_texts_that_are_entered_move_no_field_to_another_page() -> None:
    """Given a form that just fits a page, when its inputs are filled with all that they hold, then it is read
    as the page that it was."""
    args = {f"f{n}": "x" * 100 for n in range(25)}
    page = open_page(None, args)
    typed = {f"f{n}": {"value": "日" * 2900} for n in range(18)}
    assert page.sent(**typed).page_count == page.session.page_count


def test_a_choice_brings_other_fields_with_ids_of_their_own() -> None:
    """Given a value with two possible forms, when the other one is chosen, then its fields are drawn, and
    what they hold runs in its shape."""
    page = open_page(CONTACT, BY_MAIL)
    assert page.block(CHOICE)["dispatch_action"] is True
    chosen = page.session.enter(page.entries(contact={"selected_option": {"value": "1"}}))
    redrawn = Page(chosen.at_page(0))
    assert "to" not in str([b.get("label") for b in redrawn.blocks])
    after = redrawn.session.enter(redrawn.entries(**{NUMBER: {"value": "42"}}))
    assert after.value() == {"contact": {"kind": "phone", "number": 42}, "note": "hello"}


def test_what_was_entered_below_a_choice_is_read_from_the_arguments_alone() -> None:
    """Given a form that was opened for one choice and drawn again for another, when it is sent by a bot that
    knows only the review and the view, then what was entered below the new choice counts."""
    page = open_page(CONTACT, BY_MAIL)
    redrawn = Page(
        page.session.enter(page.entries(contact={"selected_option": {"value": "1"}})).at_page(0)
    )
    entries = redrawn.entries(**{NUMBER: {"value": "42"}, "note": {"value": "bye"}})
    fresh = FormSession(FormSource(CONTACT, BY_MAIL), MODAL_LIMITS).enter(entries)
    assert fresh.shows(entries)
    assert fresh.value() == {"contact": {"kind": "phone", "number": 42}, "note": "bye"}


def test_a_form_that_is_sent_before_it_was_drawn_again_is_known() -> None:
    page = open_page(CONTACT, BY_MAIL)
    entries = page.entries(contact={"selected_option": {"value": "1"}}, note={"value": "bye"})
    filled = page.session.enter(entries)
    assert not filled.shows(entries)
    assert Page(filled.at_page(0)).element("note")["initial_value"] == "bye"


def test_an_answer_never_becomes_that_to_another_question() -> None:
    """Given two forms of a value with a field of the same name, once a menu and once a text, when the form
    is changed, then the menu's number is not the text."""
    schema: Json = {
        "properties": {
            "x": {
                "oneOf": [
                    {"title": "A", "properties": {"k": {"const": "a"}, "v": {"enum": ["p", "q"]}}},
                    {"title": "B", "properties": {"k": {"const": "b"}, "v": {"type": "string"}}},
                ]
            }
        },
        "required": ["x"],
    }
    page = open_page(schema, {"x": {"k": "a", "v": "p"}})
    label = "x \u203a v"
    chosen = {"selected_option": {"value": "1"}}
    filled = page.session.enter(page.entries(**{"x": chosen, label: chosen}))
    assert Page(filled.at_page(0)).element(label).get("initial_value") != "1"


@pytest.mark.parametrize("page", [0, 1])
def test_errors_name_their_page(page: int) -> None:
    """Given a form of two pages, then an error names its page, and one without a field is shown at the first
    input."""
    session = open_page(None, NINETY).session.at_page(page)
    wrong = FormErrors({"/field-50": "is odd"}, ())
    assert session.page_with_error(wrong) == 1
    assert session.error_text(wrong) == "field-50 is odd"
    assert bool(session.field_errors(wrong)) == (page == 1)
    assert session.page_with_error(FormErrors({}, ("All is wrong.",))) is None


def test_promise_8_what_is_hidden_stands_in_no_input() -> None:
    """Given a password and a redacted value, then the form names them and shows neither, and keeps both."""
    schema = {"properties": {"pass": {"type": "string", "format": "password"}, "to": TEXT}}
    args = {"pass": "s3cret-a", "token": {"key": "s3cret-b"}, "to": "jo"}
    page = open_page(schema, args, "/token/key")
    assert "s3cret" not in str(page.blocks)
    assert "hidden" in str(page.blocks)
    assert page.sent(to={"value": "al"}).value() == {**args, "to": "al"}


def test_another_tool_has_its_own_form_and_keeps_what_was_typed() -> None:
    """Given a call that may become another one, when that tool is chosen, then its form is drawn, with what
    was typed where it means the same; sending it names the tool."""
    schema = {"properties": {"to": TEXT, "copies": {"type": "integer"}}}
    review = review_of(("send_email", {"to": "jo"}), tools={"send_letter": schema})
    form = edit_form(review)
    view = modal_of(form)
    typed, choice = [one for one in view["blocks"] if one["type"] == "input"]
    offered = [o["text"]["text"] for o in choice["element"]["options"]]
    other = str(offered.index("send_letter"))
    state = {
        TOOL: {ACTION_ID: {"selected_option": {"value": other}}},
        typed["block_id"]: {ACTION_ID: {"type": "plain_text_input", "value": "al"}},
    }
    chosen = form.enter(entries_of(state))
    assert not chosen.session.shows(entries_of(state))
    drawn = modal_of(chosen.at_page(0, draft=""))
    assert "copies" in str(drawn)
    assert "'initial_value': 'al'" in str(drawn)
    proposal = chosen.proposal()
    assert (proposal.name, proposal.args and proposal.args.parse()) == ("send_letter", {"to": "al"})


def test_the_choice_between_tools_is_the_last_thing_in_the_form() -> None:
    """Given a form of two pages; then only the last one offers another tool, whose own form is then read from
    its first page."""
    fields: Json = {f"field-{n}": TEXT for n in range(90)}
    letter = {"properties": fields}
    form = edit_form(review_of(("send_email", NINETY), tools={"send_letter": letter}))
    first, last = (form.at_page(page, draft="") for page in (0, 1))
    assert "Tool" not in str(modal_of(first)["blocks"])
    assert modal_of(last)["blocks"][-2]["block_id"] == TOOL
    chosen = last.enter(Entries({TOOL: "1"}))
    assert (chosen.ref.tool, chosen.session.page) == ("send_letter", 0)


@pytest.mark.parametrize(
    ("reviewers", "text", "submit"),
    [
        (
            {},
            (
                "“Approve edited” approves what you send: the tool runs with it, unless the policy"
                " wants other people to approve it."
            ),
            "Approve edited",
        ),
        ({"quorum": 2}, "other people are asked to approve what you send", "Send edited"),
        (
            {"quorum": 2, "editor_approves": True},
            "one other person must approve it",
            "Approve edited",
        ),
    ],
)
def test_an_edit_says_what_it_does(reviewers: Json, text: str, submit: str) -> None:
    rule = {"reviewers": {"channel_members": True, **reviewers}}
    review = review_of(("tool", {"a": 1}), policy={"interrupt_on": {"tool": rule}})
    view = modal_of(edit_form(review))
    assert text in str(view["blocks"][:2])
    assert view["submit"]["text"] == submit


BOMB: Json = {"type": "object"}
for _ in range(10):
    BOMB = {"anyOf": [BOMB, BOMB, {"type": "string"}]}


@pytest.mark.parametrize(
    ("schema", "args"),
    [
        ({"$ref": "#"}, {"x": 1}),
        ({"properties": {"x": {"$ref": "#"}}}, {"x": {"x": {"x": {}}}}),
        ({"properties": {"x": BOMB}}, {"x": {"a": 1}}),
        ({"properties": {"x": {"uniqueItems": True}}}, {"x": [{"n": n} for n in range(3000)]}),
        ({"properties": {"x": {"type": "string", "pattern": "^(a+)+$"}}}, {"x": "a" * 40 + "!"}),
    ],
)
def test_a_schema_that_could_take_long_takes_no_time(schema: Json, args: Json) -> None:
    """T63: given a schema that takes seconds elsewhere, then its form is made or refused within 300 ms of our
    own time, and so is what is sent."""
    with cpu_limit(0.3), suppress(Refused, FormErrors, SchemaError):
        page = open_page(schema, args)
        page.session.enter(page.entries()).value()


def test_a_form_opens_where_a_part_of_a_choice_is_hidden() -> None:
    tags = {"type": "array", "items": {"enum": ["a", "s3cret"]}}
    schema = {"properties": {"tags": tags, "to": TEXT}}
    page = open_page(schema, {"tags": ["a", "s3cret"], "to": "jo"}, "/tags/1")
    assert "s3cret" not in str(page.blocks)
    assert page.sent(to={"value": "al"}).value() == {"tags": ["a", "s3cret"], "to": "al"}
