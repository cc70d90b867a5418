"""A form's fields as inputs of a modal: a value that nobody changed comes back exactly as it was."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.forms.fields import field_ids
from hitl_core.forms import Field, FormErrors
from hitl_core.model import encode
from tests.channels.filled import Page, entries_of, open_page, submit
from tests.channels.test_properties import long_text, text, value

Json = dict[str, Any]

#: One schema of each kind, and what is not valid by it as well.
PROPERTIES = st.one_of(
    st.builds(lambda n: {"type": "string", "maxLength": n}, st.integers(0, 4000)),
    st.builds(lambda n: {"type": "string", "minLength": n}, st.integers(0, 9)),
    st.builds(lambda n: {"type": "integer", "minimum": n}, st.integers(-9, 9)),
    st.builds(lambda n: {"type": "number", "maximum": n}, st.integers(-9, 9)),
    st.builds(
        lambda low, high: {"type": "number", "minimum": low, "maximum": high},
        st.floats(-1e9, 1e9),
        st.floats(-1e9, 1e9),
    ),
    st.just({"type": "boolean"}),
    st.just({"type": "boolean", "readOnly": True}),
    st.builds(lambda only: {"const": only}, text),
    st.just({"type": ["string", "null"]}),
    st.just({}),
    st.builds(lambda options: {"enum": options}, st.lists(text, min_size=1, unique=True)),
    st.builds(
        lambda options: {"type": "array", "items": {"enum": options}},
        st.lists(text, min_size=1, max_size=30, unique=True),
    ),
    st.just({"type": "array", "items": {"type": "string"}}),
    st.sampled_from(["email", "uri", "date", "time", "date-time", "password"]).map(
        lambda name: {"type": "string", "format": name}
    ),
    st.just({"type": "object", "properties": {"in": {"type": "string"}, "n": {"type": "number"}}}),
)
keys = st.sampled_from(["a", "b", "to", "pa\u200bss", "x" * 300, "/~1", "", "~"])
formatted = st.sampled_from(
    [
        "jo@example.com",
        "jo@localhost",
        "ftp://x/y",
        "https://example.com/a?b",
        "2026-11-21",
        "14:30:00Z",
        "2026-11-21T14:30:00Z",
        "2026-11-21T14:30:59.25+02:00",
        True,
        [],
        ["a", "a\nb"],
        {"in": "x", "n": 1.0},
    ]
)


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.dictionaries(keys, PROPERTIES, max_size=5),
    st.dictionaries(keys, st.one_of(value, text, long_text, formatted), max_size=6),
    st.booleans(),
    st.booleans(),
)
def test_promise_8_an_untouched_form_gives_back_the_same_bytes(
    properties: Json, args: Json, declared: bool, required: bool
) -> None:
    """Given any schema and arguments, when Slack sends the untouched state, then the arguments are the same,
    byte for byte, or what was wrong before is said."""
    schema = {"type": "object", "properties": properties} if declared else None
    if declared and required:
        schema = {**(schema or {}), "required": [key for key in properties if key in args]}
    page = open_page(schema, args)
    state = page.state() if not _has_empty_required(page) else None
    if state is None:
        return  # Slack lets nobody send a required input that is empty
    filled = page.session.enter(entries_of(state))
    while not filled.is_last_page:
        after = Page(filled.at_page(filled.page + 1))
        if _has_empty_required(after):
            return
        filled = after.sent()
    with suppress(FormErrors):
        assert encode(filled.value()).data == encode(args).data


def _has_empty_required(page: Page) -> bool:
    return any(
        field.required and not field.initial
        for field in (each.field for each in page.session.fields)
    )


@pytest.mark.parametrize(
    "secret",
    ["a\u202eb", "a\r\nb", "a\u200b", "\u00a0x", "⟦U+202E⟧", "x\x1b[2K", "a\n", "\ufeffy"],
)
def test_promise_8_an_edit_elsewhere_keeps_what_can_not_be_seen(secret: str) -> None:
    """Given a value with hidden characters, when another field is edited, then it is kept; and in its
    own field, the text beside the mark can be edited without losing it."""
    args = {"hidden": secret, "other": "old"}
    new = {"value": "new"}
    assert submit(None, args, other=new) == {"hidden": secret, "other": "new"}
    shown = open_page(None, args).element("hidden")["initial_value"]
    more = submit(None, args, hidden={"value": shown + "!"})
    assert more == {"hidden": secret + "!", "other": "old"}


def test_promise_8_a_person_can_take_a_hidden_character_away() -> None:
    assert submit(None, {"hidden": "a\u202eb"}, hidden={"value": "ab"}) == {"hidden": "ab"}


def test_a_value_with_too_many_marks_for_an_input_is_locked() -> None:
    """Given 3,000 hidden characters, then the field is text, says why, and is kept."""
    args = {"hidden": "\u200b" * 3000, "other": "old"}
    locked = next(block for block in open_page(None, args).blocks if block["type"] == "rich_text")
    assert "can't be changed here" in str(locked)
    after = submit(None, args, other={"value": "new"})
    assert after == {**args, "other": "new"}


def test_a_long_value_is_locked_and_says_how_much_is_not_shown() -> None:
    args = {"body": "x" * 5000, "to": "jo"}
    assert "more characters⟧" in str(open_page(None, args).blocks)
    assert submit(None, args, to={"value": "al"}) == {"body": "x" * 5000, "to": "al"}


def test_a_text_of_3000_characters_can_be_edited() -> None:
    args = {"body": "é" * 2990 + "😀" * 5}
    assert open_page(None, args).session.form.fields[0].locked is None


def test_promise_8_a_locked_choice_shows_its_value() -> None:
    schema = {"properties": {"mode": {"enum": ["dry", "wet"], "readOnly": True}}}
    assert "'text': 'wet'" in str(open_page(schema, {"mode": "wet"}).blocks[0])


@pytest.mark.parametrize(
    ("count", "kind"),
    [
        (5, "radio_buttons"),
        (6, "static_select"),
        (100, "static_select"),
        (101, "static_select"),
        (500, "static_select"),
        (501, "plain_text_input"),
    ],
)
def test_few_options_are_buttons_many_a_menu_and_very_many_are_typed(count: int, kind: str) -> None:
    """Given an enum of any size, then each value can be chosen, and one that is none of them is refused."""
    options = [f"option {n} {'日' * 20}" for n in range(count)]
    schema = {"type": "object", "properties": {"x": {"enum": options}}, "required": ["x"]}
    page = open_page(schema, {"x": options[3]})
    element = page.element("x")
    assert element["type"] == kind
    if kind == "plain_text_input":
        assert page.sent(x={"value": options[-1]}).value() == {"x": options[-1]}
        with pytest.raises(FormErrors, match="must be one of"):
            page.sent(x={"value": "option 9999"}).value()
        return
    offered = element.get("options") or [
        one for group in element["option_groups"] for one in group["options"]
    ]
    assert page.sent(x={"selected_option": offered[-1]}).value() == {"x": options[-1]}


def test_options_that_begin_alike_can_be_told_apart() -> None:
    """Given options that Slack's 75 characters would make the same, then each label is another one, and
    the one that is chosen is the one that runs."""
    options = [f"{'the same beginning ' * 9}{n}{' the same end' * 9}" for n in (1, 2)]
    options += ["", " ", "\u200b"]
    schema = {"type": "object", "properties": {"x": {"enum": options}}, "required": ["x"]}
    page = open_page(schema, {"x": options[0]})
    offered = page.element("x")["options"]
    assert len({option["text"]["text"] for option in offered}) == 5
    assert all(option["text"]["text"].strip() for option in offered)
    assert page.sent(x={"selected_option": offered[1]}).value() == {"x": options[1]}


def test_every_kind_has_its_own_input_and_is_read_back() -> None:
    """Given a schema with every kind, when each is changed, then each new value runs with its own type."""
    schema = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "body": {"type": "string", "maxLength": 2000},
            "mail": {"type": "string", "format": "email"},
            "link": {"type": "string", "format": "uri"},
            "count": {"type": "integer"},
            "price": {"type": "number"},
            "yes": {"type": "boolean"},
            "mode": {"enum": ["a", 1, None]},
            "tags": {"type": "array", "items": {"enum": ["x", "y", "z"]}},
            "many": {"type": "array", "items": {"enum": [f"m{n}" for n in range(120)]}},
            "names": {"type": "array", "items": {"type": "string"}},
            "day": {"type": "string", "format": "date"},
            "hour": {"type": "string", "format": "time"},
            "at": {"type": "string", "format": "date-time"},
            "raw": {"type": "array", "items": {"type": "object"}},
        },
    }
    schema["required"] = list(schema["properties"])
    args: Json = {
        "text": "a", "body": "b", "mail": "a@example.com", "link": "https://a.example", "count": 1,
        "price": 1.5, "yes": False, "mode": "a", "tags": ["x"], "many": ["m7"], "names": ["n"],
        "day": "2026-11-21", "hour": "14:30:00Z", "at": "2026-11-21T14:30:00Z", "raw": [{}],
    }  # fmt: skip
    page = open_page(schema, args)
    kinds = {b["label"]["text"]: b["element"]["type"] for b in page.blocks}
    assert kinds == {
        "text": "plain_text_input", "body": "plain_text_input", "mail": "email_text_input",
        "link": "url_text_input", "count": "number_input", "price": "number_input",
        "yes": "radio_buttons", "mode": "radio_buttons", "tags": "checkboxes",
        "many": "multi_static_select", "names": "plain_text_input", "day": "datepicker",
        "hour": "timepicker", "at": "datetimepicker", "raw": "plain_text_input",
    }  # fmt: skip
    option = lambda at: {"value": str(at)}  # noqa: E731
    after = page.sent(
        text={"value": "A"},
        body={"value": "B\nC"},
        mail={"value": "b@example.com"},
        link={"value": "https://b.example"},
        count={"value": "2"},
        price={"value": "0.1"},
        yes={"selected_option": option(0)},
        mode={"selected_option": option(2)},
        tags={"selected_options": [option(2), option(0)]},
        many={"selected_options": [option(119)]},
        names={"value": "n\nm"},
        day={"selected_date": "2026-12-01"},
        hour={"selected_time": "09:05"},
        at={"selected_date_time": 1_795_356_000},
        raw={"value": '[{"a": 1}]'},
    ).value()
    assert after == {
        "text": "A", "body": "B\nC", "mail": "b@example.com", "link": "https://b.example",
        "count": 2, "price": 0.1, "yes": True, "mode": None, "tags": ["x", "z"], "many": ["m119"],
        "names": ["n", "m"], "day": "2026-12-01", "hour": "09:05:00Z",
        "at": "2026-11-22T14:00:00Z", "raw": [{"a": 1}],
    }  # fmt: skip
    assert page.sent().value() == args


@pytest.mark.parametrize(
    ("format", "odd"),
    [
        ("email", "jo@localhost"),
        ("email", "jo\u200b@example.com"),
        ("uri", "ftp://files.example/x"),
        ("uri", "https://exa\u202emple.com"),
        ("uri", ""),
    ],
)
def test_what_slacks_own_input_would_refuse_is_a_text(format: str, odd: str) -> None:
    """Given an address that Slack's client finds wrong, then the form can be sent untouched."""
    schema = {"type": "object", "properties": {"x": {"type": "string", "format": format}, "y": {}}}
    page = open_page(schema, {"x": odd, "y": "b"})
    assert page.element("x")["type"] == "plain_text_input"
    page.sent()


def test_slack_itself_refuses_nothing_of_an_untouched_form() -> None:
    """Given values that break their own limits, then an untouched form can still be sent."""
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 5},
            "s": {"type": "string", "minLength": 5, "maxLength": 7},
            "e": {"type": "string"},
            "t": {"type": "array", "maxItems": 1, "items": {"enum": [*range(30)]}},
        },
        "required": ["n", "s", "e", "t"],
    }
    open_page(schema, {"n": 1, "s": "x" * 50, "e": "", "t": [1, 2]}).state()


def test_a_new_revision_has_new_ids() -> None:
    """Slack keeps what was typed where ids stay (docs.slack.dev/reference/views/modal-views)."""

    def id_of(pointer: str, revision: int, edition: str = "") -> str:
        return field_ids([Field(pointer, "text", "x")], revision, edition)[pointer]

    assert len({id_of("/to", 1), id_of("/to", 2), id_of("/to", 1, "1")}) == 3
    assert len({id_of("/" + "x" * n, 1) for n in range(300, 310)}) == 10
    assert len(id_of("/" + "x" * 9000, 12)) <= 255


def test_options_never_outgrow_a_view() -> None:
    """Given menus that no view holds together, then they are on several pages."""
    shared = {"many": {"enum": [f"{n} {'日' * 35}" for n in range(480)]}}
    properties = {f"menu {n}": {"$ref": "#/$defs/many"} for n in range(6)}
    page = open_page({"type": "object", "$defs": shared, "properties": properties}, {})
    shown = [len(Page(page.session.at_page(n)).blocks) for n in range(page.session.page_count)]
    assert sum(shown) == 6
    assert len(shown) > 1
