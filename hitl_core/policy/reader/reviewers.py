"""Reads `reviewers`: who may decide, and how many of them are needed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, cast

from hitl_core.model import Reviewers, Route, person_key, split_id
from hitl_core.policy.reader.config_node import ConfigNode, format_value, read_field

_PEOPLE_KEYS = ("users", "groups", "channel_members")
_KEYS = (*_PEOPLE_KEYS, "quorum", "reject_quorum", "exclude_requester", "editor_approves")
#: https://docs.slack.dev/reference/objects/user-object/ and /usergroup-object/: a user's id begins with U,
#: or with W in an Enterprise organization, a group's with S.
USER_ID = re.compile(r"[UW][A-Z0-9]{1,30}")
_GROUP_ID = re.compile(r"S[A-Z0-9]{1,30}")
#: A person or group of another channel, `CHANNEL:ID`. What its ids are, only the bot knows.
_ID_ELSEWHERE = re.compile(r"(?!slack:)[a-z][a-z0-9_-]*:[^/>\s]+")
MAX_QUORUM = 100


def names_person(id: str | None) -> bool:
    """Whether this is the id of a person in the chat, so that their approval can be refused."""
    channel, user = split_id(id or "")
    return channel == "slack" and bool(USER_ID.fullmatch(user))


def read_reviewers(node: ConfigNode) -> Reviewers:
    """With a quorum of two or more, the default excludes the requester, and an edit is no approval."""
    fields = node.fields(_KEYS)
    quorum = read_field(fields, "quorum", _read_count) or 1
    return _read_people(node, fields).model_copy(
        update={
            "quorum": quorum,
            "reject_quorum": read_field(fields, "reject_quorum", _read_count) or 1,
            "exclude_requester": read_field(
                fields, "exclude_requester", ConfigNode.boolean, quorum > 1
            ),
            "editor_approves": read_field(
                fields, "editor_approves", ConfigNode.boolean, quorum == 1
            ),
        }
    )


def read_people(node: ConfigNode) -> Reviewers:
    """The `reviewers` of an escalation step: only people, because the quorum stays the same."""
    return _read_people(node, node.fields(_PEOPLE_KEYS))


def excludes_requester(fields: dict[str, ConfigNode], inherited: bool) -> bool:
    """Whether the policy itself says `exclude_requester: true`. Then the requester must be known."""
    if "reviewers" not in fields:
        return inherited
    reviewers = fields["reviewers"].value
    return isinstance(reviewers, Mapping) and cast(Any, reviewers).get("exclude_requester") is True


def combine_reviewers(one: Reviewers, other: Reviewers) -> Reviewers:
    """The people of `one`, with the stricter settings of both."""
    return one.model_copy(
        update={
            "quorum": max(one.quorum, other.quorum),
            "reject_quorum": min(one.reject_quorum, other.reject_quorum),
            "exclude_requester": one.exclude_requester or other.exclude_requester,
            "editor_approves": one.editor_approves and other.editor_approves,
        }
    )


def find_unreachable_quorum(route: Route, without: Collection[str] = ()) -> str | None:
    """The name of a quorum that is larger than the number of people who can decide; None if all are fine.
    `without` are the keys of people who must not approve: the requester, and the author of the edit.
    """
    reviewers = route.reviewers
    open_ended = reviewers.groups or reviewers.channel_members or not reviewers.is_explicit
    if open_ended or route.escalate or route.fallback:
        return None
    if reviewers.quorum > len({person_key(user) for user in reviewers.users} - {*without}):
        return "quorum"
    return "reject_quorum" if reviewers.reject_quorum > len(reviewers.users) else None


def _read_people(node: ConfigNode, fields: dict[str, ConfigNode]) -> Reviewers:
    named = any(key in fields and fields[key].value for key in _PEOPLE_KEYS)
    if isinstance(node.value, Mapping) and not named:
        node.add_problem("This names nobody: add `users`, `groups` or `channel_members: true`.")
    return Reviewers(
        users=read_field(fields, "users", _read_users, ()),
        groups=read_field(fields, "groups", _read_groups, ()),
        channel_members=read_field(fields, "channel_members", ConfigNode.boolean) or False,
    )


def _read_users(node: ConfigNode) -> tuple[str, ...]:
    return _read_ids(node, USER_ID, "user, such as `U0123ABCD`")


def _read_groups(node: ConfigNode) -> tuple[str, ...]:
    return _read_ids(node, _GROUP_ID, "user group, such as `S0123ABCD`")


def _read_ids(node: ConfigNode, pattern: re.Pattern[str], what: str) -> tuple[str, ...]:
    ids: dict[str, None] = {}  # keeps the order, and look-ups are fast
    for each in node.items(f"[{what.split('`')[1]}]") or []:
        id = each.value
        if not isinstance(id, str) or not (pattern.fullmatch(id) or _ID_ELSEWHERE.fullmatch(id)):
            each.add_problem(f"{each} is not the id of a Slack {what}.")
        elif id in ids:
            each.add_problem(f"{format_value(id)} appears twice: remove one.")
        else:
            ids[id] = None
    return tuple(ids)


def _read_count(node: ConfigNode) -> int | None:
    value = node.value
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_QUORUM:
        return node.add_problem(f"This must be a whole number from 1 to {MAX_QUORUM}, not {node}.")
    return value
