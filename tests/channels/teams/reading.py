"""What a person reads on an Adaptive Card, as plain text; and all texts in it, grouped by how Teams formats
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from bot.card import CONTINUED
from bot.channels.teams.ids import ButtonKey
from bot.channels.teams.render import MAX_BYTES, byte_size
from bot.channels.teams.render.elements import JOINER
from teams_sandbox.validation import check_card
from tests.channels.reading import put_argument
from tests.support.teams.users import elements

Json = dict[str, Any]

KEY = ButtonKey(b"k" * 32)
#: A value beside its label.
_VALUE = re.compile(r"  (?! )")
#: Our own macros: a client shows them in the reader's own time zone.
_DATE = re.compile(
    r"\{\{DATE\((\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\dZ, SHORT\)\}\} \{\{TIME\(\1T\2:\d\dZ\)\}\}"
)


def check(card: Json) -> Json:
    """The card, if Teams would take it."""
    assert byte_size(card) <= MAX_BYTES
    check_card(card)
    return card


def to_text(card: Json) -> str:
    """A picture in text: *bold*, /italic/, ~old~, `code`, boxes with a bar, buttons in brackets, small lines
    in brackets.
    """
    lines = [line for element in card["body"] for line in _element(element)]
    if card.get("actions"):
        lines.append(_buttons(card["actions"]))
    return "\n".join(line.rstrip().replace("\u00a0", " ") for line in lines) + "\n"


def _element(element: Json) -> list[str]:
    above = ["-" * 40] if element.get("separator") else []
    return [*above, *_lines(element)]


def _lines(element: Json) -> list[str]:
    match element["type"]:
        case "RichTextBlock":
            text = "".join(map(_run, element["inlines"]))
            first = element["inlines"][0]
            if first.get("size") == "medium":
                return [f"# {text[1:-1]}"]
            mark = "  ({})" if first.get("isSubtle") else "! {}" if "color" in first else "{}"
            return mark.format(text).split("\n")
        case "TextBlock":
            return [f"@ {element['text']}"]
        case "Container":
            return [f"  | {line}" for item in element["items"] for line in _lines(item)]
        case "ActionSet":
            return [_buttons(element["actions"])]
        case "Table":
            return ["  ¦ ".join(_cell(cell) for cell in row["cells"]) for row in element["rows"]]
        case str(kind) if kind.startswith("Input."):
            return _input(element)
        case other:
            raise AssertionError(other)


def _cell(cell: Json) -> str:
    return " ".join(line for item in cell["items"] for line in _lines(item))


def _buttons(actions: list[Json]) -> str:
    common = [_button(one) for one in actions if one.get("mode") != "secondary"]
    rare = [one["title"] for one in actions if one.get("mode") == "secondary"]
    return " ".join([*common, *([f"[⋮ {' | '.join(rare)}]"] if rare else [])])


def _button(action: Json) -> str:
    sign = {"positive": "+", "destructive": "!"}.get(action.get("style", ""), "")
    text = f"[{sign}{action['title']}]"
    if action["type"] == "Action.Execute":
        return text
    asks = " ".join(line for one in action["card"]["body"] for line in _lines(one))
    return f"{text}(asks: {asks} {_buttons(action['card']['actions'])})"


def _input(element: Json) -> list[str]:
    kind = element["type"].removeprefix("Input.")
    value = element.get("value", "")
    chosen = str(value).split(",")
    options = [
        f"  ({'x' if one['value'] in chosen else ' '}) {one['title']}"
        for one in element.get("choices", ())
    ]
    needed = " (needed)" if element.get("isRequired") else ""
    shown = [] if options else [f"  [{line}]" for line in str(value).split("\n")]
    return [f"{element['label']}{needed} <{kind}>", *options, *shown]


def _run(run: Json) -> str:
    text = _DATE.sub(r"\1 \2 UTC", run["text"])
    signs = [
        ("*", run.get("weight") == "bolder"),
        ("/", run.get("italic")),
        ("~", run.get("strikethrough")),
        ("`", run.get("fontType") == "monospace"),
    ]
    start = len(text) - len(text.lstrip())
    for sign, is_on in signs:
        if is_on and "\n" not in text:
            text = text[:start] + sign + text[start:] + sign
    return f"{text}↗" if "selectAction" in run else text


def actions_of(value: Any) -> Iterator[Json]:
    """All actions of a card, also those of its questions."""
    return (one for one in elements(value) if str(one.get("type", "")).startswith("Action."))


def arguments_on(cards: list[Json]) -> dict[str, Any]:
    """The arguments on all pages of "See all of it", or on a card of one action that cuts nothing, read
    back.
    """
    found: dict[str, str] = {}
    label: str | None = None
    long_label = ""
    for element in (one for card in cards for one in card["body"]):
        if element["type"] == "Container":
            text = shown_text(element["items"][0]["inlines"])
            if label is None:
                long_label += text
            else:
                found[label] += text
        elif element["type"] == "RichTextBlock" and not _is_ours(element["inlines"][0]):
            text = shown_text(element["inlines"])
            if text == "An argument whose name is":
                label, long_label = None, ""
            elif text == "and whose value is":
                label = long_label
                found[label] = ""
            else:
                label = _read_line(element["inlines"], found, label)
    read: dict[str, Any] = {}
    for name, value in found.items():
        put_argument(read, name, value)
    return read


def _is_ours(run: Json) -> bool:
    return "size" in run or "color" in run or "isSubtle" in run


def _read_line(inlines: list[Json], found: dict[str, str], label: str | None) -> str | None:
    """The last label in these runs; `found` gets the values that are beside their labels."""
    groups = [
        (look, shown_text(runs))
        for look, runs in ((look, [*runs]) for look, runs in groupby(inlines, _look))
    ]
    for at, (look, text) in enumerate(groups):
        after = groups[at + 1][1] if at + 1 < len(groups) else ""
        if "fontType" in look or "weight" in look:
            label = text
            if after != CONTINUED.text:
                found[label] = after[2:].split("\n")[0] if _VALUE.match(after) else ""
    return label


def _look(run: Json) -> Json:
    return {key: part for key, part in run.items() if key != "text"}


def shown_text(inlines: Iterable[Json]) -> str:
    """The text without what we put in, so that a client shows it as it is."""
    text = "".join(one["text"] for one in inlines).replace("⇥\u00a0\u00a0\u00a0", "\t")
    return text.replace("\u00a0", " ").replace(JOINER, "")
