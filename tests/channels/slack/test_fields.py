"""A form's fields as inputs of a modal: a value that nobody changed comes back exactly as it was."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.forms import EditForm
from bot.forms.fields import field_ids
from hitl_core.forms import Field, FormErrors
from hitl_core.model import encode
from tests.channels.filled import Page, edit_form, entries_of, modal_of, open_page, submit
from tests.channels.reading import to_text
from tests.channels.scenes import review_of
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


LOOK_ALIKE = "jo@p\u0430ypal.com"


def blocks_of(policy: Json, args: Json, problem: str = "") -> list[Json]:
    review = review_of(("mail", args), policy={"interrupt_on": {"*": policy}})
    return modal_of(edit_form(review), problem)["blocks"]


def test_cards_change_7_an_odd_value_is_warned_about_above_its_field() -> None:
    """Given an odd value among plain ones, and one in a list; then the form has the card's words directly
    above their fields, and above no other."""
    blocks = blocks_of({}, {"note": "Hi", "to": LOOK_ALIKE, "cc": ["a", LOOK_ALIKE]})
    warned = {
        below["label"]["text"]: to_text([above])
        for above, below in pairwise(blocks)
        if above["block_id"].startswith("odd:")
    }
    assert warned.keys() == {"to", "cc"}
    assert warned["to"] == (
        "*⚠ *“to” is *not* jo@paypal.com: it has Cyrillic letters (xn--pypal-4ve.com).\n"
    )


def test_cards_change_7_a_hidden_value_has_no_warning() -> None:
    """Given odd values that the policy hides, alone and in a list; then the form says nothing of them."""
    rule = {"redact": ["/token", "/keys/0"]}
    drawn = str(blocks_of(rule, {"token": LOOK_ALIKE, "keys": [LOOK_ALIKE], "to": "jo"}))
    assert "⚠" not in drawn


def test_cards_change_7_a_form_of_odd_values_only_is_a_modal_that_slack_takes() -> None:
    """Given as many odd values as a page can have; then it is within Slack's limits, which `modal_of`
    checks."""
    odd = {f"{n}\u202e{LOOK_ALIKE * 20}": f"\u202e {LOOK_ALIKE * 100} ⅠⅡ²" for n in range(60)}
    assert len(blocks_of({}, odd)) <= 100


def test_cards_change_7_what_a_person_enters_is_confirmed_if_it_is_odd() -> None:
    """Given an edit to an address in look-alike letters, when it is sent; then the form says what is odd, and
    counts when the same is sent again. What was odd before is not asked about."""
    review = review_of(("mail", {"to": "jo@example.com", "from": LOOK_ALIKE}))
    form = edit_form(review)
    filled = form.enter(entries_of(Page(form.session).state(to={"value": LOOK_ALIKE})))
    assert isinstance(filled, EditForm)
    proposal = filled.proposal()

    warning = filled.warning(proposal)
    assert warning.startswith("“to” is not jo@paypal.com")
    assert warning.endswith(" Send the form again to confirm.")
    assert "from" not in warning
    asked = filled.with_confirmation(proposal)
    assert asked.warning(proposal) == ""
    (field,) = (each for each in asked.page(warning).fields if each.field.label == "to")
    assert field.warnings


@pytest.mark.parametrize(
    ("allowed", "how"),
    [
        (["approve", "edit", "reject"], "press “Reject” and say what should change"),
        (["approve", "edit"], "on the command line"),
    ],
)
def test_a_locked_value_says_how_it_can_be_changed(allowed: list[str], how: str) -> None:
    """Given a value that is too long for an input, and one that may not be changed at all; then the first
    says why, and what to do instead; the other only why."""
    schema = {"properties": {"id": {"type": "string", "readOnly": True}}}
    rule = {"allowed_decisions": allowed, "args_schema": schema}
    blocks = blocks_of(rule, {"body": "x" * 5000, "id": "7", "to": "jo"})
    (body,) = (each for each in blocks if "longer than" in str(each))
    (fixed,) = (each for each in blocks if "This can't be changed." in str(each))
    assert how in str(body)
    assert how not in str(fixed)


def labels_of(blocks: list[Json]) -> dict[str, str]:
    """The labels of the inputs, each with its hint."""
    inputs = (block for block in blocks if block["type"] == "input")
    return {one["label"]["text"]: one.get("hint", {}).get("text", "") for one in inputs}


def test_cards_fool_2_a_key_that_could_be_a_line_of_ours_is_quoted() -> None:
    """Given keys that pretend to be ours, with and without a schema; then their labels are quoted, and the
    form says which keys the schema does not have."""
    args = {"Approved by": "Bob", "to": "jo"}
    schema = {"properties": {"to": {"type": "string"}}}

    assert labels_of(blocks_of({}, args)) == {'"Approved by"': "", "to": ""}
    assert labels_of(blocks_of({"args_schema": schema}, args)) == {
        "to": "",
        '"Approved by"': "Not in the tool's schema.",
    }


def test_a_form_without_a_schema_has_the_order_of_the_card_and_says_so() -> None:
    args = {"body": "Hi\nJo", "subject": "Hello", "to": "jo"}
    blocks = blocks_of({}, args)
    assert [*labels_of(blocks)] == ["subject", "to", "body"]
    assert "This tool has no schema" in str(blocks[1])
