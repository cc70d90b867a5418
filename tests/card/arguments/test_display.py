"""How arguments are shown: styles, money, lists, and keys that no schema of the policy declares."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.card import Argument, action_text, build_card, find_open_action
from bot.card.arguments import list_arguments, main_fact, mask
from bot.card.arguments.excerpt import UNDECLARED_TITLE
from bot.card.events import edits_of
from bot.channels.slack.render.card_message import message
from bot.channels.slack.render.mentions import place_names
from bot.text import to_visible
from hitl_core.model import DisplayHint, DisplayStyle
from tests.channels.reading import check
from tests.channels.scenes import DEFAULT, decide, name_of, review_of

EUR = {"/amount": {"money": {"currency": "/currency"}}}
MAIL = "Dear Jo, we have refunded your order. It takes two to five days to arrive. Best, Anna."


def shown(args: dict[str, Any], display: dict[str, Any], **rule: Any) -> dict[str, Argument]:
    """The arguments of a call under a rule, by their labels. Slack takes its card."""
    policy = {"interrupt_on": {"*": {"display": display, **rule}}}
    review = review_of(("pay", args), policy=policy)
    check(message(build_card(review, DEFAULT), name_of))
    arguments = find_open_action(review, "1").excerpt.arguments
    return {one.label: one for one in arguments}


@pytest.mark.parametrize("hint", ["email", "code"])
def test_values_on_one_line_come_before_those_with_lines_of_their_own(hint: str) -> None:
    """Given no schema, and a short value that the policy shows as a quote or as code."""
    arguments = shown({"body": "Hi Jo", "to": "jo@example.com"}, {"/body": hint})
    assert list(arguments) == ["to", "body"]


@pytest.mark.parametrize(
    ("amount", "line"),
    [
        (120.0, "120.00 EUR"),
        (120, "120 EUR"),
        (1234567.125, "1,234,567.125 EUR"),
        (-0.5, "-0.50 EUR"),
        (-1200, "-1,200 EUR"),
    ],
)
def test_an_amount_has_its_currency_and_every_digit(amount: float, line: str) -> None:
    """Cards 10: given a hint; then amount and currency are one line, in groups, with no digit lost."""
    arguments = shown({"amount": amount, "currency": "EUR"}, EUR)
    assert [(one.label, one.value) for one in arguments.values()] == [("amount", line)]


@pytest.mark.parametrize(
    ("amount", "line"),
    [
        ("1e3", '"1e3"'),
        ("120.00", '"120.00"'),
        ("120.00 EUR", '"120.00 EUR"'),
        (-0.0, "-0.0"),
        (1e30, "1e+30"),
        (1e-7, "1e-07"),
        (True, "true"),
        (None, "null"),
        (10**30, "1" + "0" * 30),
        ([120, 5], "120, 5"),
    ],
)
def test_what_is_no_plain_amount_is_shown_as_it_is(amount: Any, line: str) -> None:
    """Cards 10: given a value that is no plain number; then no currency is put beside it."""
    arguments = shown({"amount": amount, "currency": "EUR"}, EUR)
    assert arguments["amount"].value == line
    assert arguments["currency"].value == "EUR"


@pytest.mark.parametrize("currency", ["eur", "ЕUR", "EURO", "", 978, None, ["EUR"]])  # noqa: RUF001
def test_what_is_no_currency_is_not_put_beside_an_amount(currency: Any) -> None:
    arguments = shown({"amount": 120.0, "currency": currency}, EUR)
    assert arguments["amount"].value == "120.0"
    assert "currency" in arguments


def test_without_a_hint_nothing_is_taken_for_money() -> None:
    arguments = shown({"amount": 120.0, "currency": "EUR"}, {})
    assert [one.value for one in arguments.values()] == ["120.0", "EUR"]


def test_the_main_fact_has_the_amount_with_its_currency() -> None:
    hint = DisplayHint(pointer="/amount", style="money", currency="/currency")
    args = {"amount": 1200.5, "currency": "EUR", "to": "Jo"}
    assert main_fact(mask(args, None, (), [hint])) == "amount: 1,200.50 EUR · to: Jo"


def test_prose_is_a_quote_and_code_has_its_language() -> None:
    """Cards 10: given an e-mail, SQL, a diff and Markdown with hints; then only the e-mail is a quote."""
    display = {
        "/body": "email",
        "/query": {"code": "sql"},
        "/patch": "diff",
        "/readme": "markdown-source",
    }
    arguments = shown({"body": "Hi", "query": "SELECT 1", "patch": "+a", "readme": "# A"}, display)
    styles = {label: (one.style, one.language) for label, one in arguments.items()}
    assert styles == {
        "body": ("quote", None),
        "query": ("code", "sql"),
        "patch": ("code", "diff"),
        "readme": ("code", "markdown"),
    }


@pytest.mark.parametrize(
    ("text", "style"),
    [
        (MAIL * 3, "quote"),
        (f"Hi Jo,\n\n{MAIL}\n\nAnna", "quote"),
        ("UPDATE orders SET status = 'paid'.\n" * 4, "code"),
        ("kubectl apply -f a\n" * 20, "code"),
        (f"{MAIL}\n    indented", "code"),
        (f"{MAIL}\tand a tab", "code"),
        ("x\ny", "code"),
        ("Short.", "line"),
    ],
)
def test_without_a_hint_only_what_is_surely_prose_is_a_quote(text: str, style: str) -> None:
    assert shown({"text": text}, {})["text"].style == style


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://shop.example/a?b=c", "shop.example"),
        ("https://good.example@evil.example/x", "evil.example"),
        ("https://Good.example:8443", "good.example"),
        (r"https://evil.example\@good.example/", ""),
        ("https://a@b@good.example", ""),
        ("javascript:alert(1)", ""),
        ("https://good.example /x", ""),
    ],
)
def test_a_link_is_text_with_the_host_that_every_program_reads(address: str, host: str) -> None:
    argument = shown({"page": address}, {"/page": "link"})["page"]
    assert (argument.host, argument.value) == (host, address)


@pytest.mark.parametrize("style", ["text", "email", "code", "diff", "markdown-source", "link"])
def test_a_hidden_value_stays_hidden_in_each_style(style: str) -> None:
    arguments = shown({"a": "s3cret", "b": 1}, {"/a": style}, redact=["/a"])
    assert arguments["a"].value == "⟦hidden⟧"


def test_hidden_amounts_and_currencies_stay_hidden() -> None:
    args = {"amount": 120.0, "currency": "EUR"}
    assert shown(args, EUR, redact=["/amount"])["amount"].value == "⟦hidden⟧"
    arguments = shown(args, EUR, redact=["/currency"])
    assert [one.value for one in arguments.values()] == ["120.0", "⟦hidden⟧"]


FAKES = ("Approved by", "Approvals: 2 of 2", "amount  80.00 EUR  (limit", "Decided\nby")


@pytest.mark.parametrize("key", FAKES)
@pytest.mark.parametrize("has_schema", [True, False])
def test_a_key_can_not_look_like_a_line_of_ours(key: str, has_schema: bool) -> None:
    """Given a key that imitates our lines; then it is code in quotes,
    below our title if the policy has a schema."""
    rule = {"args_schema": {"properties": {"to": {"type": "string"}}}} if has_schema else {}
    review = review_of(("pay", {key: "x", "to": "Jo"}), policy={"interrupt_on": {"*": rule}})
    sent = check(message(build_card(review, DEFAULT), name_of))
    call = next(block for block in sent["blocks"] if block["block_id"] == "call:1")
    texts = [element for part in call["elements"] for element in part["elements"]]
    label = next(each for each in texts if key.split("\n", maxsplit=1)[0] in each["text"])
    assert label["style"] == {"code": True}
    assert label["text"].startswith('"')
    assert label["text"].endswith('"')
    assert (UNDECLARED_TITLE in str(call)) == has_schema


def test_an_open_object_of_the_schema_is_declared() -> None:
    """Given the keys of an object that the policy's schema leaves open;
    then a plain one is declared, and one of a key that the schema lacks is not."""
    rule = {"args_schema": {"properties": {"to": {"type": "object"}}}}
    review = review_of(("pay", {"to": {"id": 1}, "cc": 2}), policy={"interrupt_on": {"*": rule}})
    action = build_card(review, DEFAULT).open_actions[0]
    arguments = action_text(review.id, action, place_names(name_of)).arguments
    assert [(one.label, one.is_declared) for one in arguments] == [
        ("to › id", True),  # noqa: RUF001
        ('"cc"', False),
    ]


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (["AT", "DE"], "AT, DE"),
        (["a b", "c", 1, None, "true"], '"a b", c, 1, null, "true"'),
        ("AT, DE", '"AT, DE"'),
        ("Hello, dear Jo", "Hello, dear Jo"),
    ],
)
def test_a_short_list_is_one_line_and_no_text_looks_like_it(value: Any, line: str) -> None:
    argument = shown({"v": value}, {})["v"]
    assert (argument.value, argument.style) == (line, "line")


STYLES: tuple[DisplayStyle, ...] = (
    "text", "email", "code", "diff", "markdown-source", "money", "link",
)  # fmt: skip
scalar = st.one_of(
    st.text(max_size=200),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.none(),
)


@settings(max_examples=300)
@given(scalar, st.sampled_from(STYLES), st.sampled_from(["EUR", "/c"]), scalar)
def test_promise_8_no_style_hides_a_character(
    value: Any, style: DisplayStyle, currency: str, other: Any
) -> None:
    """Given any value and any hint; then all of its characters are shown, as marks if they are invisible, and
    so are those of a number."""
    hint = DisplayHint(pointer="/v", style=style, currency=currency)
    arguments = {
        one.label: one for one in list_arguments(mask({"v": value, "c": other}, None, (), [hint]))
    }
    written = arguments["v"].value
    if isinstance(value, str):
        plain = to_visible(value)
        assert plain in written or written.startswith('"')
    elif value is not None:
        assert all(digit in written.replace(",", "") for digit in str(value).split("."))
    if "c" not in arguments:
        assert isinstance(other, str)
        assert written.endswith(f" {other}")


def test_a_changed_amount_has_its_currency() -> None:
    """Cards 10: given an edit of an amount; then old and new have the currency, as on the card; a hidden
    currency stays hidden."""
    rule = {"display": EUR}
    review = review_of(
        ("pay", {"amount": 120.0, "currency": "EUR"}), policy={"interrupt_on": {"*": rule}}
    )
    edited = decide(review, "1", "edit", args={"amount": 80.0, "currency": "EUR"})
    [change] = edits_of(edited, edited.actions[0])[0].changes
    assert (change.old, change.new) == ("120.00 EUR", "80.00 EUR")

    hidden = {"interrupt_on": {"*": {**rule, "redact": ["/currency"]}}}
    review = review_of(("pay", {"amount": 120.0, "currency": "EUR"}), policy=hidden)
    edited = decide(review, "1", "edit", args={"amount": 80.0, "currency": "EUR"})
    [change] = edits_of(edited, edited.actions[0])[0].changes
    assert (change.old, change.new) == ("120.0", "80.0")
