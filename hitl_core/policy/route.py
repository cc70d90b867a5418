"""Where a review is shown, who may decide, and what if nobody does."""

from __future__ import annotations

from typing import Literal

from hitl_core.model import Expire, Place, Reviewers, Route, Step
from hitl_core.policy.node import Node, shown, take
from hitl_core.policy.reviewers import beyond, read_people, read_reviewers
from hitl_core.policy.values import read_duration, read_notified, read_place

ExpireDecision = Literal["reject", "respond", "ignore"]
_DECISIONS: tuple[ExpireDecision, ...] = ("reject", "respond", "ignore")
Clock = Literal["submitted", "delivered"]
_CLOCKS: tuple[Clock, ...] = ("submitted", "delivered")
KEYS = ("reviewers", "notify", "escalate", "remind", "clock", "fallback", "expire")


def read_route(fields: dict[str, Node], inherited: Route) -> Route:
    """What the fields say; `inherited` where they say nothing."""
    clock: Clock = take(fields, "clock", _clock) or inherited.clock
    route = Route(
        notify=take(fields, "notify", _notify, inherited.notify),
        reviewers=take(fields, "reviewers", read_reviewers, inherited.reviewers),
        escalate=take(fields, "escalate", _escalate, inherited.escalate),
        expire=take(fields, "expire", _expire, inherited.expire),
        remind=take(fields, "remind", read_duration, inherited.remind),
        clock=clock,
        fallback=take(fields, "fallback", read_place, inherited.fallback),
    )
    _check(route, fields)
    return route


def _notify(node: Node) -> tuple[Place, ...]:
    nodes = [node]
    if isinstance(node.value, list | tuple):
        nodes = node.items("[slack:#team-ops]") or []
        if not nodes:
            node.problem("This list is empty: a review must be shown somewhere.")
    places = [place for each in nodes if (place := read_notified(each)) is not None]
    for place in dict.fromkeys(place for place in places if places.count(place) > 1):
        node.problem(f"{shown(place)} stands here twice.")
    return tuple(places)


def _escalate(node: Node) -> tuple[Step, ...]:
    steps: list[Step] = []
    for each in node.items("[{after: 10m, to: slack:#team-ops}]") or []:
        fields = each.fields(("after", "to", "reviewers"), required=("after", "to"))
        reviewers = take(fields, "reviewers", read_people, Reviewers())
        after, to = take(fields, "after", read_duration), take(fields, "to", read_place)
        if after is None or to is None:
            continue
        if steps and after <= steps[-1].after:
            fields["after"].problem("Each step must come later than the one before it.")
        steps.append(Step(after=after, to=to, reviewers=reviewers))
    return tuple(steps)


def _expire(node: Node) -> Expire | None:
    fields = node.fields(("after", "decision", "message"), required=("after",))
    after = take(fields, "after", read_duration)
    decision: ExpireDecision | None = take(fields, "decision", _decision, "reject")
    message = take(fields, "message", Node.text)
    if decision == "respond" and not message:
        node.problem("`decision: respond` needs a `message`: it is what the model gets to read.")
    if after is None or decision is None:
        return None
    return Expire(after=after, decision=decision, message=message)


def _decision(node: Node) -> ExpireDecision | None:
    if node.value in ("approve", "edit"):
        node.problem("Silence never approves: a deadline may `reject`, `respond` or `ignore`.")
        return None
    return node.one_of(_DECISIONS)


def _clock(node: Node) -> Clock | None:
    return node.one_of(_CLOCKS)


def _check(route: Route, fields: dict[str, Node]) -> None:
    """What they say together, where some may be inherited."""
    keys = ("escalate", "expire", "notify", "fallback", "reviewers")
    node = next((fields[key] for key in keys if key in fields), None)
    if node is None:
        return
    seen = set(route.notify)
    for step in route.escalate:
        if step.to in seen:
            node.problem(f"The review stands in {shown(step.to)} already when it escalates there.")
        seen.add(step.to)
    if route.fallback in route.notify:
        (fields.get("fallback") or node).problem(
            f"The review stands in {shown(route.fallback)} from the start: a fallback is another place."
        )
    if word := beyond(route):
        (fields.get("reviewers") or node).problem(
            f"The `{word}` can never be met: fewer people than that may decide."
        )
    last = route.escalate[-1].after if route.escalate else 0
    if route.expire and route.expire.after <= last:
        (fields.get("expire") or node).problem(
            "The review expires no later than its last step of `escalate`, which is never reached."
        )
