"""The elements of an Adaptive Card 1.5, and their sizes
(https://adaptivecards.io/schemas/1.5.0/adaptive-card.json).

A text of others only goes into `text_run`, because a TextRun is literal, while a TextBlock is Markdown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from hitl_core.errors import Refused

Json = dict[str, Any]
Look = dict[str, Any]

#: A bot's card must be at most 28 KB (learn.microsoft.com/microsoftteams/platform/task-modules-and-cards). In
#: UTF-16, which Teams counts too, that is at most 56 KB of 100.
MAX_BYTES = 28_000
TOO_LARGE = (
    "This is too large for Teams. It can be decided on the command line: “hitl reviews decide”."
)
#: Teams shows at most six actions in one set.
MAX_ACTIONS = 6
#: How many characters one row of buttons has on a phone, and how many a button takes beside its title.
MAX_ROW, BUTTON_WIDTH = 42, 4

SMALL: Look = {"size": "small", "isSubtle": True}
TITLE: Look = {"size": "medium", "weight": "bolder"}
ALERT: Look = {"color": "attention"}
BOLD: Look = {"weight": "bolder"}
ITALIC: Look = {"italic": True}

#: `json.dumps` would make one for each element.
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
#: Clients show several spaces, and spaces at the start of a line, as one space.
_SPACES = re.compile(r"(?<=[ \n]) ")
_MACRO = re.compile(r"(?<=\{)(?=\{)")
#: The most runs of one text. More would take too much space.
_MAX_PARTS = 8
_TAB = "⇥\u00a0\u00a0\u00a0"
#: An invisible character. In a text of others it would be shown as a mark, so it is always ours.
JOINER = "\N{WORD JOINER}"


def text_runs(text: str, **look: Any) -> list[Json]:
    """The text, in which each character stays as it is. A text that would begin a macro is split into several
    runs, because clients replace `{{DATE(…)}}` and `{{TIME(…)}}` in a run.
    """
    text = _keep_spaces(text)
    parts = _MACRO.split(text) if "{{" in text else [text]
    if len(parts) > _MAX_PARTS:
        parts = [break_macros(text)]
    return [{"type": "TextRun", "text": part, **look} for part in parts]


def break_macros(text: str) -> str:
    """The text without macros, for labels and options, which have no runs."""
    return _MACRO.sub(JOINER, text) if "{{" in text else text


def rich_text(runs: Sequence[Json], **more: Any) -> Json:
    """`more`: `id`, `separator`, `spacing`."""
    return {"type": "RichTextBlock", "inlines": list(runs), **more}


def container(items: Sequence[Json], **more: Any) -> Json:
    return {"type": "Container", "items": list(items), **more}


def action_sets(actions: Sequence[Json]) -> list[Json]:
    """Rows of actions whose titles fit on a phone. The rare ones are in the menu of the last row, because a
    menu alone would not say what it is for.
    """
    rare = [one for one in actions if one.get("mode") == "secondary"]
    if len(rare) == len(actions):
        actions, rare = [{**one, "mode": "primary"} for one in actions], []
    rows: list[list[Json]] = [[]]
    room = MAX_ROW
    for action in actions:
        if action.get("mode") == "secondary":
            continue
        width = len(action["title"]) + BUTTON_WIDTH
        if rows[-1] and (width > room or len(rows[-1]) == MAX_ACTIONS):
            rows.append([])
            room = MAX_ROW
        rows[-1].append(action)
        room -= width
    for action in rare:
        if len(rows[-1]) == MAX_ACTIONS:
            rows.append([])
        rows[-1].append(action)
    return [{"type": "ActionSet", "actions": row} for row in rows if row]


def adaptive_card(body: Sequence[Json], entities: Sequence[Json] = ()) -> Json:
    """The card. `entities`: the mentions in it."""
    return {
        "type": "AdaptiveCard",
        "version": "1.5",
        "body": list(body),
        "msteams": {"width": "Full", **({"entities": list(entities)} if entities else {})},
    }


def byte_size(value: object) -> int:
    """The size as compact JSON in UTF-8."""
    return len(_COMPACT.encode(value).encode("utf-8", "surrogatepass"))


def fitting_card(drawings: Iterable[Json]) -> Json:
    """The first of the drawings that Teams accepts. Every card leaves this package through here. Raises
    Refused if there is none.
    """
    for card in drawings:
        if byte_size(card) <= MAX_BYTES:
            return card
    raise Refused("no_form", TOO_LARGE)


def total_size(parts: Iterable[Json]) -> int:
    """The size of several elements, with the separators between them."""
    return sum(byte_size(one) + 1 for one in parts)


def _keep_spaces(text: str) -> str:
    if "\t" in text:
        text = text.replace("\t", _TAB)
    return _SPACES.sub("\u00a0", text) if "  " in text or "\n " in text else text
