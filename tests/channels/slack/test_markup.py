"""Spans and buttons of bot/card as Slack's elements."""

from __future__ import annotations

from typing import Any

import pytest

from bot.card import (
    Code,
    Emphasis,
    Group,
    Line,
    Link,
    Person,
    PlaceName,
    Quote,
    Span,
    Strong,
    Struck,
    Text,
    Time,
    Verbatim,
)
from bot.channels.slack.render.markup import context_facts, context_lines, mrkdwn_text, section
from hitl_core.model import Place

ALICE = Person("U0ALICE", "Alice Ng", "slack")
USER = {"type": "user", "user_id": "U0ALICE"}
DATE = "<!date^1800000000^{date_short_pretty}, {time}|2027-01-15 08:00 UTC>"
EVIL = "*x* `y` <!channel> a.b"
#: With the look-alikes that mrkdwn takes for nothing.
GRAVE = "\N{MODIFIER LETTER GRAVE ACCENT}"
INERT = f"\u2217x\u2217 {GRAVE}y{GRAVE} &lt;!channel&gt; a.b"

SPANS: list[tuple[Span, dict[str, Any], str]] = [
    (Text("ours"), {"type": "text", "text": "ours"}, "ours"),
    (Strong("a"), {"type": "text", "text": "a", "style": {"bold": True}}, "*a*"),
    (Emphasis("a"), {"type": "text", "text": "a", "style": {"italic": True}}, "_a_"),
    (Struck("a"), {"type": "text", "text": "a", "style": {"strike": True}}, "~a~"),
    (Code("run_sql"), {"type": "text", "text": "run_sql", "style": {"code": True}}, "`run_sql`"),
    (
        Code("a`b<c"),
        {"type": "text", "text": "a`b<c", "style": {"code": True}},
        f"`a{GRAVE}b&lt;c`",
    ),
    (Verbatim(EVIL), {"type": "text", "text": EVIL}, INERT),
    (Quote(EVIL), {"type": "text", "text": f"“{EVIL}”"}, f"“{INERT}”"),
    (ALICE, USER, "<@U0ALICE>"),
    (Person("U0ALICE", "Alice", "cli"), {"type": "text", "text": "Alice"}, "Alice"),
    (
        Person("SALES", "SALES", "slack", is_claimed=True),
        {"type": "text", "text": "SALES"},
        "SALES",
    ),
    (
        Group("S0OPS", "S0OPS", "slack"),
        {"type": "usergroup", "usergroup_id": "S0OPS"},
        "<!subteam^S0OPS>",
    ),
    (PlaceName(Place("slack:#ops"), "#ops"), {"type": "text", "text": "#ops"}, "#ops"),
    (PlaceName(Place("slack:U0ALICE"), "@alice"), USER, "<@U0ALICE>"),
    (Time(1_800_000_000), {"type": "text", "text": "2027-01-15 08:00 UTC"}, DATE),
    (
        Link("open", "https://a.example/?x=1&y=2"),
        {"type": "link", "url": "https://a.example/?x=1&y=2", "text": "open"},
        "<https://a.example/?x=1&amp;y=2|open>",
    ),
]


@pytest.mark.parametrize(("span", "element", "mrkdwn"), SPANS, ids=repr)
def test_a_span_in_rich_text_and_in_mrkdwn(
    span: Span, element: dict[str, Any], mrkdwn: str
) -> None:
    """Given a span; then rich_text holds its text as it is, and mrkdwn has no markup but that of the span."""
    assert section([span])["elements"] == [element]
    assert mrkdwn_text([span]) == mrkdwn


def read(lines: list[Line], *, facts: bool = False) -> list[tuple[str, str]]:
    draw = context_facts if facts else context_lines
    return [(one["type"], one["text"]) for block in draw("b", lines) for one in block["elements"]]


def test_words_of_others_are_plain_text_beside_a_mention_or_a_link() -> None:
    """Given lines with words of others, our words, and mentions; then theirs are only in plain_text."""
    asker = Person("Bo <!here>", "“Bo <!here>”", "slack", is_claimed=True)
    url = Link("this conversation", "https://a.example")

    assert read([(Text("For "), asker, Text(" in "), url)]) == [
        ("plain_text", "For “Bo <!here>” in"),
        ("mrkdwn", "<https://a.example|this conversation>"),
    ]
    assert read([(ALICE, Text(" may decide. "), asker, Text(" can't."))]) == [
        ("mrkdwn", "<@U0ALICE> may decide."),
        ("plain_text", "“Bo <!here>” can't."),
    ]
    assert read([(Text("by "), ALICE), (Quote("*No*"),)]) == [
        ("mrkdwn", "by <@U0ALICE>"),
        ("plain_text", "“*No*”"),
    ]


def test_facts_share_an_element_as_far_as_slack_allows() -> None:
    facts: list[Line] = [
        (Text("For "), ALICE),
        (Text("via "), Verbatim("a → b")),
        (Text("waits"),),
        (Text("until "), Time(1_800_000_000)),
    ]
    assert read(facts, facts=True) == [
        ("mrkdwn", "For <@U0ALICE>"),
        ("plain_text", "·  via a → b"),
        ("mrkdwn", f"·  waits  ·  until {DATE}"),
    ]
    assert read([], facts=True) == []


def test_a_line_break_stays_inside_its_section() -> None:
    drawn = section([Text("a"), Verbatim("\nb"), Strong("c")])
    assert [one["text"] for one in drawn["elements"]] == ["a\nb", "c"]
