"""A card that Teams refuses, or shows in another way than it is written, gives an error that names the place
in the card.
"""

from __future__ import annotations

from typing import Any

import pytest

from teams_sandbox.validation import CardError, check_card
from tests.teams_sandbox.cards import button, buttons, card, choices, field, mention, text

Json = dict[str, Any]
AT = {"type": "TextBlock", "text": "<at>Ann</at>"}

GOOD: dict[str, Json] = {
    "text": card(text("order *1042* [a](https://b.example)")),
    "a text as a string": card({"type": "RichTextBlock", "inlines": ["**plain**"]}),
    "buttons": card(text("x"), buttons(*[button(f"{n}") for n in range(6)])),
    "a menu": card(buttons(button(), button("Escalate", mode="secondary"))),
    "a mention": card(AT, msteams={"width": "Full", "entities": [mention()]}),
    "a mention by GUID": card(
        AT, msteams={"entities": [mention(id="a11ce000-0000-4000-8000-000000000001")]}
    ),
    "our own date": card(
        text("{{DATE(2026-11-23T04:18:20Z, SHORT)}} {{TIME(2026-11-23T04:18:20Z)}}")
    ),
    "escaped Markdown": card({"type": "TextBlock", "text": r"a\*b\_c \[d\]"}),
    "Markdown in a closed menu": card(choices("*a*", "[b](c)", style="compact")),
    "each input": card(
        field("Text", "a", maxLength=5, value="abc", regex="^[a-z]+$", errorMessage="Letters"),
        field("Number", "b", min=1, max=9, value=3),
        field("Date", "c", value="2027-03-01"),
        field("Time", "d", value="14:30"),
        field("Toggle", "e", value="true"),
        choices("0", "1", value="0,1", isMultiSelect=True),
    ),
    "a link": card({"type": "RichTextBlock", "inlines": [
        {"type": "TextRun", "text": "open", "selectAction": {"type": "Action.OpenUrl", "url": "https://a.example/b"}}
    ]}),
    "columns": card({"type": "ColumnSet", "columns": [{"type": "Column", "items": [text("x")]}]}),
}  # fmt: skip

BAD: dict[str, tuple[Json, str]] = {
    "no card": ({"type": "Container", "items": []}, "/"),
    "empty": (card(), "/body"),
    "version 1.6": (card(text("x"), version="1.6"), "/version"),
    "no version": ({"type": "AdaptiveCard", "body": [text("x")]}, "/version"),
    "buttons in 1.3": (card(buttons(button()), version="1.3"), "/version"),
    "an unknown element": (card({"type": "CodeBlock", "codeSnippet": "x"}), "/body/0"),
    "an unknown key": (card({**text("x"), "colour": "red"}), "/body/0"),
    "a wrong value": (card({**text("x"), "spacing": "huge"}), "/body/0/spacing"),
    "deep inside": (
        card({"type": "Container", "items": [{"type": "ActionSet", "actions": [{"type": "X"}]}]}),
        "/body/0/items/0/actions/0",
    ),
    "a missing part": (card({"type": "Input.Toggle", "id": "a"}), "title"),
    "a film": (card({"type": "Media", "sources": []}), "/body/0/type"),
    "Action.Submit": (card(buttons({"type": "Action.Submit", "title": "x"})), "Action.Submit"),
    "seven buttons": (card(buttons(*[button(f"{n}") for n in range(7)])), "/body/0/actions"),
    "seven actions of the card": (card(text("x"), actions=[button()] * 7), "/actions"),
    "a button without a title": (card(buttons(button(" "))), "title"),
    "a button with a long title": (card(buttons(button("x" * 81))), "title"),
    "data that is text": (card(buttons(button(data="x"))), "data"),
    "no data": (card(buttons({"type": "Action.Execute", "title": "x"})), "data"),
    "too large": (card(text("x" * 28_000)), "28000"),
    "too large in bytes alone": (card(text("€" * 9_400)), "28000"),
    "no JSON": (card(field("Number", value=float("nan"))), "JSON"),
    "one id twice": (card(field("Text"), field("Date")), "f_1"),
    "an id of an element and of an input": (card({**text("x"), "id": "f_1"}, field("Text")), "f_1"),
    "an input without an id": (card({"type": "Input.Text", "label": "x"}), "id"),
    "an input without a label": (card(field("Text", label=" ")), "label"),
    "a long label": (card(field("Text", label="x" * 201)), "label"),
    "required without a text for it": (card(field("Text", isRequired=True)), "errorMessage"),
    "a choice with a comma": (card(choices("a,b")), "comma"),
    "no choices": (card(choices()), "choices"),
    "one choice twice": (card(choices("a", "a")), "choices"),
    "a value that is no choice": (card(choices("a", value="b")), "value"),
    "a value over the limit": (card(field("Number", max=5, value=6)), "value"),
    "a text over the limit": (card(field("Text", maxLength=2, value="\N{PILE OF POO}!")), "value"),
    "lines in one line": (card(field("Text", value="a\nb")), "value"),
    "a pattern that is none": (card(field("Text", regex="(", errorMessage="x")), "regex"),
    "a pattern of Python": (card(field("Text", regex=r"\Aa\Z", errorMessage="x")), "regex"),
    "a date of another form": (card(field("Date", value="1.3.2027")), "value"),
    "a time with seconds": (card(field("Time", value="14:30:00")), "value"),
    "a toggle's third value": (card(field("Toggle", value="maybe")), "value"),
    "a remote picture by http": (card({"type": "Image", "url": "http://a.example/x.png"}), "url"),
    "a script as a link": (
        card(buttons({"type": "Action.OpenUrl", "title": "x", "url": "javascript:alert(1)"})),
        "url",
    ),
    "an unknown part of msteams": (card(text("x"), msteams={"wide": 1}), "/msteams/wide"),
    "a mention that nobody draws": (card(text("x"), msteams={"entities": [mention()]}), "TextBlock"),
    "a tag without a mention": (card(AT), "<at>Ann</at>"),
    "a mention of nobody": (card(AT, msteams={"entities": [mention(id="Ann")]}), "person"),
    "61 people to refresh": (
        card(text("x"), refresh={"action": button(), "userIds": ["29:1"] * 61}),
        "userIds",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_what_teams_draws_is_accepted(name: str):
    check_card(GOOD[name])


@pytest.mark.parametrize("name", BAD)
def test_what_teams_refuses_is_an_error(name: str):
    """Given a card with one fault, then the error names its place."""
    bad, place = BAD[name]
    with pytest.raises(CardError) as error:
        check_card(bad)
    assert place in str(error.value)


@pytest.mark.parametrize(
    "text_of_others",
    [
        "[click](https://evil.example)", "![x](https://evil.example/pixel.png)", "*a*", "_a_", "`a`",
        "<b>a</b>", "&lt;", "https://evil.example", "# a", "- a", "1. a", "a\n---", "a\\b",
        "{{DATE(2026-11-23T04:18:20Z)}}",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "place",
    [
        lambda text: {"type": "TextBlock", "text": text},
        lambda text: {"type": "FactSet", "facts": [{"title": "a", "value": text}]},
        lambda text: field("ChoiceSet", style="expanded", choices=[{"title": text, "value": "0"}]),
        lambda text: field(
            "ChoiceSet", isMultiSelect=True, choices=[{"title": text, "value": "0"}]
        ),
        lambda text: field("Toggle", title=text),
        lambda text: field("Text", errorMessage=text),
    ],
    ids=["TextBlock", "fact", "expanded choice", "multiple choice", "toggle", "errorMessage"],
)
def test_markdown_where_it_is_read_as_markdown_is_an_error(place: Any, text_of_others: str):
    with pytest.raises(CardError):
        check_card(card(place(text_of_others)))


@pytest.mark.parametrize(
    "drawn",
    [text("paid {{DATE(2026-11-23T04:18:20Z)}}"), text("{{"), field("Text", label="{{TIME(x)}}")],
)
def test_a_date_macro_in_other_text_is_an_error(drawn: Json):
    with pytest.raises(CardError, match="macro"):
        check_card(card(drawn))
