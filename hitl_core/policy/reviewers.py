"""`reviewers`: who may decide, and how many of them it takes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from hitl_core.model import Reviewers, Route
from hitl_core.policy.node import Node, shown, take

_PEOPLE = ("users", "groups", "channel_members")
_KEYS = (*_PEOPLE, "quorum", "reject_quorum", "exclude_requester", "editor_approves")
#: https://docs.slack.dev/reference/objects/user-object/ and /usergroup-object/: a user's id begins with U,
#: or with W in an Enterprise organization, a group's with S.
USER_ID = re.compile(r"[UW][A-Z0-9]{1,30}")
_GROUP_ID = re.compile(r"S[A-Z0-9]{1,30}")
MAX_QUORUM = 100


def read_reviewers(node: Node) -> Reviewers:
    """What it takes for a decision. Two or more who approve are others than who asked, and who edited."""
    fields = node.fields(_KEYS)
    quorum = take(fields, "quorum", _count) or 1
    return _people(node, fields).model_copy(
        update={
            "quorum": quorum,
            "reject_quorum": take(fields, "reject_quorum", _count) or 1,
            "exclude_requester": take(fields, "exclude_requester", Node.boolean, quorum > 1),
            "editor_approves": take(fields, "editor_approves", Node.boolean, quorum == 1),
        }
    )


def read_people(node: Node) -> Reviewers:
    """Of a step: who may decide as well. How many it takes stays as it is."""
    return _people(node, node.fields(_PEOPLE))


def excludes_requester(fields: dict[str, Node], inherited: bool) -> bool:
    """Whether the policy says so itself: then who that is must be known."""
    if "reviewers" not in fields:
        return inherited
    said = fields["reviewers"].value
    return isinstance(said, Mapping) and cast(Any, said).get("exclude_requester") is True


def together(one: Reviewers, other: Reviewers) -> Reviewers:
    """One's people, and what is stricter of both."""
    return one.model_copy(
        update={
            "quorum": max(one.quorum, other.quorum),
            "reject_quorum": min(one.reject_quorum, other.reject_quorum),
            "exclude_requester": one.exclude_requester or other.exclude_requester,
            "editor_approves": one.editor_approves and other.editor_approves,
        }
    )


def beyond(route: Route) -> str | None:
    """Which of its numbers is larger than the number of those who could ever decide."""
    reviewers = route.reviewers
    open_ended = reviewers.groups or reviewers.channel_members or not reviewers.named
    if open_ended or route.escalate or route.fallback:
        return None
    most = len(reviewers.users)
    numbers = {"quorum": reviewers.quorum, "reject_quorum": reviewers.reject_quorum}
    return next((word for word, number in numbers.items() if number > most), None)


def _people(node: Node, fields: dict[str, Node]) -> Reviewers:
    named = any(key in fields and fields[key].value for key in _PEOPLE)
    if isinstance(node.value, Mapping) and not named:
        node.problem("This names nobody: it needs `users`, `groups` or `channel_members: true`.")
    return Reviewers(
        users=take(fields, "users", _users, ()),
        groups=take(fields, "groups", _groups, ()),
        channel_members=take(fields, "channel_members", Node.boolean) or False,
    )


def _users(node: Node) -> tuple[str, ...]:
    return _ids(node, USER_ID, "user, such as `U0123ABCD`")


def _groups(node: Node) -> tuple[str, ...]:
    return _ids(node, _GROUP_ID, "user group, such as `S0123ABCD`")


def _ids(node: Node, shape: re.Pattern[str], what: str) -> tuple[str, ...]:
    found: dict[str, None] = {}  # in their order, and quick to look up
    for each in node.items(f"[{what.split('`')[1]}]") or []:
        if not isinstance(each.value, str) or not shape.fullmatch(each.value):
            each.problem(f"{each} is no id of a Slack {what}.")
        elif each.value in found:
            each.problem(f"{shown(each.value)} stands here twice.")
        else:
            found[each.value] = None
    return tuple(found)


def _count(node: Node) -> int | None:
    value = node.value
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_QUORUM:
        return node.problem(f"This must be a whole number from 1 to {MAX_QUORUM}, not {node}.")
    return value
