"""Spans become text runs, options become texts that no client formats; and which people a card mentions."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.card import (
    Code,
    Emphasis,
    Group,
    Link,
    Person,
    PlaceName,
    PlaceNames,
    Quote,
    Span,
    Strong,
    Struck,
    Text,
    Time,
    Verbatim,
)
from bot.channels.teams.render.card_builder import CardBuilder, place_names
from bot.channels.teams.render.elements import JOINER, action_sets, break_macros, text_runs
from bot.channels.teams.render.markup import make_inert, mentions, runs
from hitl_core.model import Place, person_label
from teams_sandbox.validation import CardError, check_card
from tests.channels.teams.nasty import NASTY
from tests.channels.teams.reading import KEY

Json = dict[str, Any]

ADA_ID = "8f3c0000-0000-4000-8000-00000000000a"
TWIN_ID = "9f3c0000-0000-4000-8000-00000000000a"
NOBODY_ID = "8f3c0000-0000-4000-8000-00000000ffff"
OPS_ID = "8f3c0000-0000-4000-8000-0000000000aa"
OF_ADA, OF_OPS = Place(f"teams:{ADA_ID}"), Place(f"teams:group:{OPS_ID}")
KNOWN = {
    OF_ADA: person_label("Ada Byron", ADA_ID),  # as the channel names people
    OF_OPS: "Ops",
    Place("slack:U0BOB"): "“Bob Reyes” (U0BOB) in Slack",
    Place("slack:S0OPS"): "@ops in Slack",
    Place("slack:C0OPS"): "#team-ops in Slack",
}
ADA = Person(ADA_ID, f"teams:{ADA_ID}", "teams")
NAMES: PlaceNames = place_names(lambda place: KNOWN.get(place, place.target))
EVIL = "*x* `y` <at>Bob</at> [a](https://b.example)"

SPANS: list[tuple[Span, Json]] = [
    (Text("ours"), {"text": "ours"}),
    (Strong("a"), {"text": "a", "weight": "bolder"}),
    (Emphasis("a"), {"text": "a", "italic": True}),
    (Struck("a"), {"text": "a", "strikethrough": True}),
    (Code("a`b<c"), {"text": "a`b<c", "fontType": "monospace"}),
    (Verbatim(EVIL), {"text": EVIL}),
    (Quote(EVIL), {"text": f"“{EVIL}”"}),
    (ADA, {"text": "“Ada Byron” (8f3c0000)"}),
    (Person(ADA_ID, "“Ada” (8f3c0000)", "teams"), {"text": "“Ada” (8f3c0000)"}),
    (Person(ADA_ID, "“x” (claimed)", "teams", is_claimed=True), {"text": "“Ada Byron” (8f3c0000)"}),
    (Person(NOBODY_ID, "“x” (claimed)", "teams", is_claimed=True), {"text": "“x” (claimed)"}),
    (Person(ADA_ID, "Alice", "cli"), {"text": "Alice"}),
    # People and groups of another chat system, by their names there.
    (
        Person("U0BOB", "“U0BOB” (named by the agent)", "slack", is_claimed=True),
        {"text": "“Bob Reyes” (U0BOB) in Slack (named by the agent)"},
    ),
    (Person("U0BOB", "U0BOB", "slack"), {"text": "“Bob Reyes” (U0BOB) in Slack"}),
    (Person("U0BOB", "“Bob” (U0BOB)", "slack"), {"text": "“Bob” (U0BOB)"}),
    (Group("S0OPS", "S0OPS", "slack"), {"text": "@ops in Slack"}),
    (Person("C0OPS", "“C0OPS” (claimed)", "slack", is_claimed=True), {"text": "“C0OPS” (claimed)"}),
    (Person("#a/b>c", "“#a/b>c”", "slack", is_claimed=True), {"text": "“#a/b>c”"}),
    (Person("U0BOB", "U0BOB", "cli"), {"text": "U0BOB"}),
    (Person("not a guid", "teams:not a guid", "teams"), {"text": "teams:not a guid"}),
    (Group(f"group:{OPS_ID}", f"teams:group:{OPS_ID}", "teams"), {"text": "Ops"}),
    (Group(OPS_ID, OPS_ID, "teams"), {"text": "Ops"}),
    (PlaceName(Place("teams:Ops > On call"), "Ops > On call"), {"text": "Ops > On call"}),
    (
        Time(1_800_000_000),
        {"text": "{{DATE(2027-01-15T08:00:00Z, SHORT)}} {{TIME(2027-01-15T08:00:00Z)}}"},
    ),
    (
        Link("open", "https://a.example/?x=1&y=2"),
        {
            "text": "open",
            "selectAction": {"type": "Action.OpenUrl", "url": "https://a.example/?x=1&y=2"},
        },
    ),
]


@pytest.mark.parametrize(("span", "run"), SPANS, ids=repr)
def test_a_span_is_a_run_with_its_text_as_it_is(span: Span, run: Json) -> None:
    assert runs([span], NAMES) == [{"type": "TextRun", **run}]


def test_runs_of_one_look_are_one_run() -> None:
    texts = [one["text"] for one in runs([Text("a"), Verbatim("b"), Strong("c"), Text("d")], NAMES)]
    assert texts == ["ab", "c", "d"]


@given(st.lists(st.sampled_from(["{", "{{", "DATE(", "2026-01-01T00:00:00Z", ")}}", " "])))
def test_no_text_of_others_is_a_macro(parts: list[str]) -> None:
    """Given any braces; then no run of theirs has two of them, and together the runs are the text."""
    line = [Verbatim(part) for part in parts]
    drawn = [one["text"] for one in runs(line, NAMES)]
    assert not any("{{" in text for text in drawn)
    assert "".join(drawn).replace(JOINER, "").replace("\u00a0", " ") == "".join(parts)
    assert "{{" not in break_macros("".join(parts))


def test_spaces_and_tabs_are_seen() -> None:
    """Given spaces that a client would draw as one; then each takes room, and a tab has its sign."""
    [run] = text_runs("a  b\n  c\td")
    assert run["text"] == "a \u00a0b\n\u00a0\u00a0c⇥\u00a0\u00a0\u00a0d"


def choice_card(title: str) -> Json:
    choices = {
        "type": "Input.ChoiceSet",
        "id": "a",
        "label": "a",
        "isMultiSelect": True,
        "choices": [{"title": title, "value": "0"}],
    }
    return {"type": "AdaptiveCard", "version": "1.5", "body": [choices]}


@pytest.mark.parametrize("text", NASTY)
def test_an_option_is_no_markdown(text: str) -> None:
    """Given an option that is Markdown; then what is drawn has none, and it reads the same."""
    flat = text.replace("\n", " ")
    check_card(choice_card(break_macros(make_inert(flat))))


@pytest.mark.parametrize(
    "text", ["evil.example", "//evil.example/x", "jo@example.com", "WWW.EVIL.EX", "www.4.example"]
)
def test_an_option_has_no_bare_host(text: str) -> None:
    """Given a host, which some clients make a link; then its dots are others that look the same."""
    shown = make_inert(text)
    assert not re.search(r"\w\.[a-z]", shown, re.IGNORECASE)
    assert shown.replace("\N{ONE DOT LEADER}", ".").replace(JOINER, "") == text
    check_card(choice_card(shown))


def test_markdown_in_an_option_would_be_found() -> None:
    """The test above can fail."""
    for text in (NASTY[0], NASTY[3], NASTY[11], "1. one", "a_b"):
        with pytest.raises(CardError):
            check_card(choice_card(text))


def test_an_option_of_plain_words_stays_as_it_is() -> None:
    for text in ("EUR", "120.00 EUR", "Jo Martin (Vienna)", "50 %", "a + b", "C:", "A: b; 3.5"):
        assert make_inert(text) == text


def test_our_own_people_are_mentioned() -> None:
    """Given a line that calls people; then those of the policy are mentioned, with a clean name."""
    claimed = Person(ADA_ID, "“Ada” (named by the agent)", "teams", is_claimed=True)
    lines = [(Text("For "), claimed), (ADA, Text(", "), ADA, PlaceName(OF_ADA, "x"))]
    blocks, entities = mentions(lines, NAMES)
    assert [one["text"] for one in blocks] == ["<at>Ada Byron</at>"]
    assert entities == [
        {
            "type": "mention",
            "text": "<at>Ada Byron</at>",
            "mentioned": {"id": ADA_ID, "name": "Ada Byron"},
        }
    ]
    assert mentions([(Text("For "), claimed)], NAMES) == ([], [])
    assert mentions([(Group(f"group:{OPS_ID}", "ops", "teams"),)], NAMES) == ([], [])


def test_people_with_the_same_name_are_each_mentioned() -> None:
    """Given two people with one name; then their mentions differ, because Teams finds a mention by its text,
    and a person whom no mention calls is not told that a review waits for them."""
    twin = Person(TWIN_ID, TWIN_ID, "teams")
    names = place_names(lambda place: person_label("Ada Byron", place.target))
    [block], entities = mentions([(ADA, twin)], names)
    texts = [one["text"] for one in entities]
    assert texts == ["<at>Ada Byron 8f3c0000</at>", "<at>Ada Byron 9f3c0000</at>"]
    assert block["text"] == " ".join(texts)


def test_a_mark_in_a_name_is_not_in_the_mention() -> None:
    """Given a name with an invisible character, as Persian names have; then the mark that people read in its
    place elsewhere does not become letters of the mention."""
    names = place_names(lambda place: person_label("Ada⟦U+200C⟧Byron", place.target))
    assert mentions([(ADA,)], names)[1][0]["mentioned"]["name"] == "Ada Byron"


@pytest.mark.parametrize("name", [*NASTY, "Ada <at>Bob</at>", "*", "_", "a_b_", "**x**"])
def test_the_name_in_a_mention_is_no_markdown(name: str) -> None:
    """Given a person whose name is Markdown; then the mention has only its letters."""
    names = place_names(lambda _: name)
    blocks, entities = mentions([(ADA,)], names)
    body = blocks or [{"type": "TextBlock", "text": "x"}]
    card = {"type": "AdaptiveCard", "version": "1.5", "body": body}
    check_card({**card, **({"msteams": {"entities": entities}} if entities else {})})


def test_rows_of_buttons_are_short_enough_for_a_phone() -> None:
    """Given long and many titles; then a row is not longer than a phone, and rare ones come last."""
    titles = ["Read all, then approve", "Edit", "Reject", "Skip it", *"ABCDEFGH"]
    actions = [{"title": title} for title in titles]
    actions[3] = {"title": "Skip it", "mode": "secondary"}
    rows = [[one["title"] for one in row["actions"]] for row in action_sets(actions)]
    assert rows == [
        ["Read all, then approve", "Edit"],
        ["Reject", "A", "B", "C", "D", "E"],
        ["F", "G", "H", "Skip it"],
    ]
    assert action_sets([]) == []


def test_a_place_of_one_person_or_group_has_no_members() -> None:
    builder = CardBuilder.of(str, KEY)
    assert not builder.names.is_conversation(OF_ADA)
    assert not builder.names.is_conversation(OF_OPS)
    for place in ("teams:19:x@thread.tacv2", "teams:Ops", "default", "slack:C0OPS"):
        assert builder.names.is_conversation(Place(place))
    assert not builder.names.is_conversation(Place("slack:U0ALICE"))
