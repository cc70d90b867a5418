"""Reads the keys of a route: where a review is shown, who may decide, and what happens if nobody does."""

from __future__ import annotations

from typing import Literal

from hitl_core.model import Expire, Place, Reviewers, Route, Step
from hitl_core.policy.reader.config_node import ConfigNode, format_value, read_field
from hitl_core.policy.reader.reviewers import find_unreachable_quorum, read_people, read_reviewers
from hitl_core.policy.reader.values import read_duration, read_notify_place, read_place

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
