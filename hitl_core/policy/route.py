"""`notify`, `escalate`, `expire`: where a review is shown, and what if nobody decides."""

from __future__ import annotations

from typing import Literal

from hitl_core.model import Expire, Place, Route, Step
from hitl_core.policy.node import Node, shown, take
from hitl_core.policy.values import read_duration, read_place

ExpireDecision = Literal["reject", "respond", "ignore"]
_DECISIONS: tuple[ExpireDecision, ...] = ("reject", "respond", "ignore")
KEYS = ("notify", "escalate", "expire")


def read_route(fields: dict[str, Node], inherited: Route) -> Route:
    """What the fields say; `inherited` where they say nothing."""
    route = Route(
        notify=take(fields, "notify", _notify, inherited.notify),
        escalate=take(fields, "escalate", _escalate, inherited.escalate),
        expire=take(fields, "expire", _expire, inherited.expire),
    )
    _check(route, fields)
    return route


def _notify(node: Node) -> tuple[Place, ...]:
    nodes = [node]
    if isinstance(node.value, list | tuple):
        nodes = node.items("[slack:#team-ops]") or []
        if not nodes:
            node.problem("This list is empty: a review must be shown somewhere.")
    places = [place for each in nodes if (place := read_place(each)) is not None]
    for place in dict.fromkeys(place for place in places if places.count(place) > 1):
        node.problem(f"{shown(place)} stands here twice.")
    return tuple(places)


def _escalate(node: Node) -> tuple[Step, ...]:
    steps: list[Step] = []
    for each in node.items("[{after: 10m, to: slack:#team-ops}]") or []:
        fields = each.fields(("after", "to"), required=("after", "to"))
        after, to = take(fields, "after", read_duration), take(fields, "to", read_place)
        if after is None or to is None:
            continue
        if steps and after <= steps[-1].after:
            fields["after"].problem("Each step must come later than the one before it.")
        steps.append(Step(after=after, to=to))
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


def _check(route: Route, fields: dict[str, Node]) -> None:
    """What the three say together, where one of them may be inherited."""
    node = next((fields[key] for key in ("escalate", "expire", "notify") if key in fields), None)
    if node is None:
        return
    seen = set(route.notify)
    for step in route.escalate:
        if step.to in seen:
            node.problem(f"The review stands in {shown(step.to)} already when it escalates there.")
        seen.add(step.to)
    last = route.escalate[-1].after if route.escalate else 0
    if route.expire and route.expire.after <= last:
        (fields.get("expire") or node).problem(
            "The review expires no later than its last step of `escalate`, which is never reached."
        )
