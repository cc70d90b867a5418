"""Reads the keys of a route: where a review is shown, who may decide, and what happens if nobody does."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Literal, cast

from hitl_core.model import (
    Expire,
    Place,
    Reviewers,
    Route,
    Step,
    is_guid,
    normalize_id,
    person_key,
    split_id,
)
from hitl_core.policy.reader.config_node import (
    ConfigNode,
    format_value,
    read_field,
)
from hitl_core.policy.reader.config_values import read_duration, read_notify_place, read_place

ExpireDecision = Literal["reject", "respond", "ignore"]
_DECISIONS: tuple[ExpireDecision, ...] = ("reject", "respond", "ignore")
Clock = Literal["submitted", "delivered"]
_CLOCKS: tuple[Clock, ...] = ("submitted", "delivered")
KEYS = ("reviewers", "notify", "escalate", "remind", "clock", "fallback", "expire")


def read_route(fields: dict[str, ConfigNode], inherited: Route) -> Route:
    """The route of these fields. Missing ones are inherited."""
    clock: Clock = read_field(fields, "clock", _read_clock) or inherited.clock
    route = Route(
        notify=read_field(fields, "notify", _read_notify, inherited.notify),
        reviewers=read_field(fields, "reviewers", read_reviewers, inherited.reviewers),
        escalate=read_field(fields, "escalate", _read_escalate, inherited.escalate),
        expire=read_field(fields, "expire", _read_expire, inherited.expire),
        remind=read_field(fields, "remind", read_duration, inherited.remind),
        clock=clock,
        fallback=read_field(fields, "fallback", read_place, inherited.fallback),
    )
    _check_route(route, fields)
    return route


def _read_notify(node: ConfigNode) -> tuple[Place, ...]:
    nodes = [node]
    if isinstance(node.value, list | tuple):
        nodes = node.items("[slack:#team-ops]") or []
        if not nodes:
            node.add_problem(
                "This list is empty: add at least one place, such as `slack:#team-ops`."
            )
    places = [place for each in nodes if (place := read_notify_place(each)) is not None]
    for place in dict.fromkeys(place for place in places if places.count(place) > 1):
        node.add_problem(f"{format_value(place)} appears twice: remove one.")
    return tuple(places)


def _read_escalate(node: ConfigNode) -> tuple[Step, ...]:
    steps: list[Step] = []
    for each in node.items("[{after: 10m, to: slack:#team-ops}]") or []:
        fields = each.fields(("after", "to", "reviewers"), required=("after", "to"))
        reviewers = read_field(fields, "reviewers", read_people, Reviewers())
        after, to = read_field(fields, "after", read_duration), read_field(fields, "to", read_place)
        if after is None or to is None:
            continue
        if steps and after <= steps[-1].after:
            fields["after"].add_problem("Each step must come later than the one before it.")
        steps.append(Step(after=after, to=to, reviewers=reviewers))
    return tuple(steps)


def _read_expire(node: ConfigNode) -> Expire | None:
    fields = node.fields(("after", "decision", "message"), required=("after",))
    after = read_field(fields, "after", read_duration)
    decision: ExpireDecision | None = read_field(fields, "decision", _read_decision, "reject")
    message = read_field(fields, "message", ConfigNode.text)
    if decision == "respond" and not message:
        node.add_problem("`decision: respond` needs a `message`, which the model will read.")
    if after is None or decision is None:
        return None
    return Expire(after=after, decision=decision, message=message)


def _read_decision(node: ConfigNode) -> ExpireDecision | None:
    if node.value in ("approve", "edit"):
        node.add_problem("A deadline can't approve: use `reject`, `respond` or `ignore`.")
        return None
    return node.one_of(_DECISIONS)


def _read_clock(node: ConfigNode) -> Clock | None:
    return node.one_of(_CLOCKS)


def _check_route(route: Route, fields: dict[str, ConfigNode]) -> None:
    """Report contradictions between the keys, inherited ones included."""
    keys = ("escalate", "expire", "notify", "fallback", "reviewers")
    node = next((fields[key] for key in keys if key in fields), None)
    if node is None:
        return
    places = set(route.notify)
    for step in route.escalate:
        if step.to in places:
            node.add_problem(
                f"The review is already shown in {format_value(step.to)} before it escalates there."
            )
        places.add(step.to)
    if route.fallback in route.notify:
        (fields.get("fallback") or node).add_problem(
            f"The review is already shown in {format_value(route.fallback)}: use another place as `fallback`."
        )
    if word := find_unreachable_quorum(route):
        (fields.get("reviewers") or node).add_problem(
            f"The `{word}` can never be reached: it is larger than the number of people who may decide."
        )
    last = route.escalate[-1].after if route.escalate else 0
    if route.expire and route.expire.after <= last:
        (fields.get("expire") or node).add_problem(
            "The review expires at or before its last step of `escalate`: expire later, or escalate earlier."
        )


_PEOPLE_KEYS = ("users", "groups", "channel_members")
_REVIEWERS_KEYS = (*_PEOPLE_KEYS, "quorum", "reject_quorum", "exclude_requester", "editor_approves")
#: https://docs.slack.dev/reference/objects/user-object/ and /usergroup-object/: a user's id begins with U,
#: or with W in an Enterprise organization, a group's with S.
USER_ID = re.compile(r"[UW][A-Z0-9]{1,30}")
_GROUP_ID = re.compile(r"S[A-Z0-9]{1,30}")
#: A person or group of another channel, `CHANNEL:ID`. Only the bot knows the form of its ids.
_ID_ELSEWHERE = re.compile(r"(?!slack:)[a-z][a-z0-9_-]*:[^/>\s]+")
MAX_QUORUM = 100


def names_person(id: str | None) -> bool:
    """Whether this is the id of a person in the chat, so that their approval can be refused."""
    channel, user = split_id(id or "")
    return (
        bool(USER_ID.fullmatch(user))
        if channel == "slack"
        else channel == "teams" and is_guid(user)
    )


def read_reviewers(node: ConfigNode) -> Reviewers:
    """Who may decide. With a quorum of two or more, the default excludes the requester, and an edit does not
    count as an approval.
    """
    fields = node.fields(_REVIEWERS_KEYS)
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
        elif (id := normalize_id(id)) in ids:
            each.add_problem(f"{format_value(id)} appears twice: remove one.")
        else:
            ids[id] = None
    return tuple(ids)


def _read_count(node: ConfigNode) -> int | None:
    value = node.value
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_QUORUM:
        return node.add_problem(f"This must be a whole number from 1 to {MAX_QUORUM}, not {node}.")
    return value
