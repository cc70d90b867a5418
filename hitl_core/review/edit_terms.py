"""The terms of an edited action: those it had, merged with those of the rule that matches now. Pure.

An edit never makes a rule weaker. Quorums, hidden values and `must_read` only grow. A deadline never moves to
a later time.

Only this file copies fields of a Ruling to a new revision. tests/review/test_frozen_fields.py checks each
field.
"""

from __future__ import annotations

from typing import Any

from hitl_core.model import Action, EarlierTerms, Expire, Review, ReviewConfig, Route
from hitl_core.policy import Ruling, combine_reviewers, combine_schemas, with_tool_schema
from hitl_core.review.due_times import deadline

Schema = dict[str, Any]


def merge_schemas(
    review: Review, action: Action, name: str, ruling: Ruling
) -> tuple[Schema | None, Schema | None, Schema | None]:
    """The schema for the arguments, the part of it that the policy trusts, and the one that only hides.

    The arguments must satisfy the earlier schema for this tool and the schema of the rule that matches now.
    If that rule has none, the tool's own schema is used.
    """
    before = [(action.name, action.config), *((s.tool, s.config) for s in reversed(action.earlier))]
    previous = next((config for tool, config in before if tool == name), None)
    ruling = with_tool_schema(ruling, review.tools.get(name))
    new = (ruling.args_schema, ruling.policy_schema, ruling.hiding_schema)
    if previous is None:
        return new
    old = (previous.args_schema, previous.policy_schema, previous.hiding_schema)
    checks, trusted, hides = map(combine_schemas, old, new)
    return checks, trusted, hides


def merge_config(
    old: ReviewConfig,
    ruling: Ruling,
    schemas: tuple[Schema | None, Schema | None, Schema | None],
    name: str,
) -> ReviewConfig:
    schema, trusted, hides = schemas
    allowed = old.allowed_decisions
    if ruling.verdict.kind == "review" and ruling.verdict.rule is not None:
        # Only a rule can remove decisions, the policy's default can't.
        allowed = tuple(d for d in allowed if d in ruling.allowed_decisions or d == "reject")
    required = "required" in (old.reject_reason, ruling.reject_reason)
    return old.model_copy(
        update={
            "action_name": name,
            "allowed_decisions": allowed,
            "args_schema": schema,
            "policy_schema": trusted,
            "hiding_schema": hides,
            "reject_reason": "required" if required else "optional",
            "must_read": old.must_read or ruling.must_read,
            "confirm": old.confirm or ruling.confirm,
            "redact": tuple(dict.fromkeys((*old.redact, *ruling.redact))),
        }
    )


def merge_route(old: Route, new: Route) -> Route:
    """The new rule's people and places, with the stricter numbers of both rules."""
    reviewers = combine_reviewers(new.reviewers, old.reviewers)
    expire = _merge_expire(old.expire, new.expire)
    if _people_and_places(old) == _people_and_places(new):
        # The clock and the escalations go on.
        return old.model_copy(
            update={"reviewers": reviewers, "expire": expire, "remind": new.remind}
        )
    return new.model_copy(update={"reviewers": reviewers, "expire": expire})


def with_ruling(action: Action, config: ReviewConfig, route: Route, now: float) -> Action:
    """If places or people change, earlier escalations end and the clock starts again."""
    moved = _people_and_places(action.route) != _people_and_places(route)
    before = EarlierTerms(
        tool=action.name,
        config=action.config,
        route=action.route,
        escalations=action.escalations if moved else (),
        reminded=action.reminded if moved else (),
        left=now if moved else None,
    )
    update: dict[str, object] = {
        "config": config,
        "route": route,
        "until": deadline(action),
        "earlier": (*action.earlier, before),
    }
    if moved:
        update |= {"escalations": (), "reminded": (), "since": now, "delivered_at": None}
    return action.model_copy(update=update)


def _merge_expire(old: Expire | None, new: Expire | None) -> Expire | None:
    """The old decision at the deadline, with the earlier time."""
    if old is None or new is None:
        return old or new
    return old.model_copy(update={"after": min(old.after, new.after)})


def _people_and_places(route: Route) -> tuple[object, ...]:
    return route.notify, route.reviewers.people_key, route.escalate, route.fallback
