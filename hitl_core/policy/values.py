"""The small notations of a policy: durations and places."""

from __future__ import annotations

import re

from hitl_core.model import Place
from hitl_core.policy.node import Node, shown

_DURATION = re.compile(r"(?:([0-9]{1,9})d)?(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?")
_SECONDS = (86_400, 3_600, 60, 1)
MAX_SECONDS = 365 * 86_400

#: https://docs.slack.dev/reference/methods/conversations.create/ (Naming): lowercase letters,
#: numbers, hyphens and underscores, 80 at most. Letters of any script.
_CHANNEL_NAME = re.compile(r"[\w-]{1,80}")
_CHANNEL_ID = re.compile(r"[CDG][A-Z0-9]{2,30}")
_DURATIONS = "write `90s`, `10m`, `1h30m` or `2d`"
_PLACES = "write one such as `slack:#team-ops` or `slack:C0123ABCD`"


def read_duration(node: Node) -> float | None:
    """Seconds of `90s`, `10m`, `1h30m` or `2d`."""
    value = node.value
    bare = isinstance(value, int | float) and not isinstance(value, bool)
    if bare or (isinstance(value, str) and re.fullmatch(r"[0-9.]+", value)):
        return node.problem(f"{node} has no unit: {_DURATIONS}.")
    parts = _DURATION.fullmatch(value) if isinstance(value, str) and value else None
    if parts is None:
        return node.problem(f"{node} is no duration: {_DURATIONS}.")
    seconds = sum(int(n or 0) * unit for n, unit in zip(parts.groups(), _SECONDS, strict=True))
    if not 1 <= seconds <= MAX_SECONDS:
        return node.problem(f"A duration is between `1s` and `365d`; {node} is not.")
    return float(seconds)


def read_place(node: Node) -> Place | None:
    """`slack:#name` or `slack:C…`, exactly as it is written."""
    value = node.value
    if not isinstance(value, str):
        hint = " (a `#` after a space begins a comment in YAML)" if value is None else ""
        return node.problem(f"A place must be text, not {node}{hint}: {_PLACES}.")
    channel, colon, target = value.partition(":")
    if channel == "teams" and colon:
        return node.problem("Teams places come in a later version; this one knows Slack's.")
    if channel != "slack" or not colon:
        return node.problem(f"{node} is no place: {_PLACES}.")
    if target.startswith("#"):
        name = target[1:]
        if _CHANNEL_NAME.fullmatch(name) and name == name.lower():
            return value
        return node.problem(
            f"{shown(target)} is no name of a Slack channel: those have at most 80 lowercase"
            " letters, digits, `-` and `_`."
        )
    if _CHANNEL_ID.fullmatch(target):
        return value
    return node.problem(f"{node} is no place: {_PLACES}.")
