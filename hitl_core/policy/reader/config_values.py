"""The values of a configuration that have a syntax of their own: durations, places, JSON pointers."""

from __future__ import annotations

import re

from hitl_core.model import ORIGIN, Place
from hitl_core.policy.reader.config_node import ConfigNode, format_value

_DURATION = re.compile(r"(?:([0-9]{1,9})d)?(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?")
_SECONDS = (86_400, 3_600, 60, 1)
MAX_SECONDS = 365 * 86_400
#: https://docs.slack.dev/reference/methods/conversations.create/ (Naming): lowercase letters,
#: numbers, hyphens and underscores, 80 at most. Letters of any script.
_CHANNEL_NAME = re.compile(r"[\w-]{1,80}")
#: The id of a conversation, a person or a user group.
_ID = re.compile(r"[CDGUWS][A-Z0-9]{1,30}")
#: https://www.rfc-editor.org/rfc/rfc6901#section-3
_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)+")
#: What people write for "each item" (JSONPath), and the item after the last one (RFC 6901): no item has them.
_NO_ITEM = re.compile(r"-|\*+|.*\[\*\]")
POINTER_PROBLEM = "{} is not a JSON pointer: write one such as `/token` or `/card/number`."
_DURATION_HINT = "write `90s`, `10m`, `1h30m` or `2d`"
_PLACE_HINT = "write one such as `slack:#team-ops` or `slack:C0123ABCD`"


def read_duration(node: ConfigNode) -> float | None:
    """A duration such as `90s`, `10m`, `1h30m` or `2d`, in seconds."""
    value = node.value
    bare = isinstance(value, int | float) and not isinstance(value, bool)
    if bare or (isinstance(value, str) and re.fullmatch(r"[0-9.]+", value)):
        return node.add_problem(f"{node} has no unit: {_DURATION_HINT}.")
    parts = _DURATION.fullmatch(value) if isinstance(value, str) and value else None
    if parts is None:
        return node.add_problem(f"{node} is not a duration: {_DURATION_HINT}.")
    seconds = sum(int(n or 0) * unit for n, unit in zip(parts.groups(), _SECONDS, strict=True))
    if not 1 <= seconds <= MAX_SECONDS:
        return node.add_problem(f"A duration must be from `1s` to `365d`, not {node}.")
    return float(seconds)


def read_notify_place(node: ConfigNode) -> Place | None:
    """A place, or `origin`: the thread in which the agent was asked."""
    return ORIGIN if node.value == ORIGIN else read_place(node)


def read_place(node: ConfigNode) -> Place | None:
    """`slack:#name`, `slack:C…`, a person's `slack:U…`, a group's `slack:S…`; or, unchanged, `CHANNEL:TARGET`
    of another channel. Only the bot knows which channels there are and what their targets mean.
    """
    value = node.value
    if not isinstance(value, str):
        hint = " (a `#` after a space begins a comment in YAML)" if value is None else ""
        return node.add_problem(f"A place must be text, not {node}{hint}: {_PLACE_HINT}.")
    channel, colon, target = value.partition(":")
    if not colon:
        return node.add_problem(f"{node} is not a place: {_PLACE_HINT}.")
    if channel != "slack":
        try:
            place = Place(value)
        except ValueError:
            return node.add_problem(f"{node} is not a place: {_PLACE_HINT}.")
        return (
            node.add_problem(f"{node} is one person's copy of a place.") if place.member else place
        )
    if target.startswith("#"):
        name = target[1:]
        if _CHANNEL_NAME.fullmatch(name) and name == name.lower():
            return Place(value)
        return node.add_problem(
            f"{format_value(target)} is not a valid name of a Slack channel: it has at most 80 lowercase"
            " letters, digits, `-` and `_`."
        )
    if _ID.fullmatch(target):
        return Place(value)
    return node.add_problem(f"{node} is not a place: {_PLACE_HINT}.")


def is_pointer(text: str) -> bool:
    """Whether it is a JSON pointer to a value inside the arguments."""
    return _POINTER.fullmatch(text) is not None


def read_pointers(node: ConfigNode) -> tuple[str, ...]:
    """JSON pointers to values in the arguments."""
    nodes = node.items("[/card/number]")
    if nodes == []:
        node.add_problem("This list is empty: remove it, or add a pointer such as `/card/number`.")
    pointers: dict[str, None] = {}  # keeps the order, and look-ups are fast
    for each in nodes or []:
        text = each.text()
        if text is None:
            continue
        if not is_pointer(text):
            each.add_problem(POINTER_PROBLEM.format(each))
        elif any(map(_NO_ITEM.fullmatch, text.split("/"))):
            each.add_problem(
                f"{format_value(text)} hides nothing in the items of a list: a JSON pointer has no wildcard."
                " Write `writeOnly: true` for the value in `args_schema`, under `items`."
            )
        elif text in pointers:
            each.add_problem(f"{format_value(text)} appears twice: remove one.")
        else:
            pointers[text] = None
    return tuple(pointers)
