"""Judges edited arguments, or another tool, by the policy's rules that are stored in the review. Pure.

An edit never makes a rule weaker: the terms of an edited action are those that it had, merged with those of
the rule that matches now. Quorums, hidden values and `must_read` only grow. A deadline never moves to a later
time. A call is idempotent only if all rules so far say so. If the policy allows the edited call without a
review, people are still asked as before. Refused is raised if the policy denies it.

Only this file copies fields of a Ruling to a new revision. tests/review/edits/test_frozen_fields.py checks
each field.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hitl_core.errors import Refused
from hitl_core.model import (
    Action,
    Call,
    DecisionType,
    EarlierTerms,
    Expire,
    JsonObject,
    Review,
    ReviewConfig,
    Route,
    ToolCall,
    Verdict,
)
from hitl_core.policy import (
    Ruling,
    combine_reviewers,
    combine_schemas,
    find_unreachable_quorum,
    load_kept_policy,
    names_person,
    with_tool_schema,
)
from hitl_core.review.edits.foreign_system import check_words
from hitl_core.review.escalation import deadline

Schema = dict[str, Any]


def edit_tools(review: Review, action: Action) -> tuple[str, ...]:
    """The tools that an edit may choose: the current one, the first one, and what the policy can allow."""
    names = [action.name, action.request.name]
    if review.kept_policy is not None and review.tools:
        policy = load_kept_policy(review.kept_policy)
        names += (name for name in sorted(review.tools) if policy.can_edit_into(name))
    return tuple(dict.fromkeys(names))


class EditRuling(NamedTuple):
    """The action with the edited arguments.

    - `idempotent`: with these arguments it may run twice;
    - `verdict`: of the rule that matches now; None if nothing changes for the people who decide;
    - `is_stricter`: `must_read` or `confirm` is new, so an approver must do more than the editor had to.
    """

    action: Action
    idempotent: bool
    verdict: Verdict | None = None
    is_stricter: bool = False


def judge_edit(
    review: Review,
    action: Action,
    name: str,
    args: JsonObject,
    now: float,
    kind: DecisionType = "edit",
) -> EditRuling:
    """Judge these arguments for this tool, as the next revision of the action. `kind` is "edit", or "approve"
    for an approval whose answer goes into the arguments.
    """
    tool, call = action.name, review.call(action.key)
    assert call is not None  # each action belongs to a call
    known_tools = review.tools if review.kept_policy is not None else {}
    if name != tool and name not in (action.request.name, *known_tools):
        known = ", ".join(sorted(known_tools)) or "none"
        raise Refused(
            "unknown_tool",
            f"Reviewer edited tool call '{action.request.tool_call_id}' to '{name}', which is not an"
            f" available tool. Available tools: {known}.",
        )
    if review.kept_policy is None:  # without a policy only the agent's own limits apply
        # `idempotent` was declared for the requested tool, so it is false for another one.
        return EditRuling(action, call.idempotent and name == action.request.name)
    tool_call = ToolCall(action.request.tool_call_id, name, args)
    ruling = load_kept_policy(review.kept_policy).judge(tool_call)
    again = call.idempotent and ruling.idempotent
    _check_ruling(review, action, call, name, ruling, kind)
    route, is_moved = action.route, False
    if ruling.verdict.kind == "review":
        new = ruling.route.resolve_origin(review.origin)
        is_moved = _people_and_places(route) != _people_and_places(new)
        route = _merge_route(route, new, is_moved)
        _check_quorum(name, route)
        check_words(action, name, ruling, route.expire)
    schemas = _merge_schemas(action, tool, name, ruling, review.tools.get(name))
    config = _merge_config(action.config, ruling, schemas, name)
    if route == action.route and config == action.config:
        return EditRuling(action, again)
    more = (config.must_read, config.confirm) != (action.config.must_read, action.config.confirm)
    changed = _with_ruling(action, tool, config, route, now, is_moved)
    same = route == action.route and not more
    return EditRuling(changed, again, None if same else ruling.verdict, more)


def _check_ruling(
    review: Review, action: Action, call: Call, name: str, ruling: Ruling, kind: DecisionType
) -> None:
    """Raises Refused if nobody could decide on the edited call by this ruling."""
    verdict, original = ruling.verdict, action.request.name
    if verdict.kind == "deny":
        if name != original:
            raise Refused("denied", f"The policy denies {name}: {original} can't become it.")
        raise Refused("denied", f"The policy denies {name} with these arguments: {verdict.reason}")
    if verdict.kind != "review":
        return
    if verdict.rule is not None and kind not in ruling.allowed_decisions:
        what = f"an edited {name}" if kind == "edit" else f"{name} with this answer"
        raise Refused("not_allowed", f"The policy doesn't allow {what}.")
    if _asks_another_question(action, call, ruling):
        raise Refused(
            "not_allowed",
            f"For this {name} the policy needs an answer to another question, so this edit isn't possible.",
        )
    excluded = ruling.needs_requester or (
        review.requester is not None and ruling.route.reviewers.exclude_requester
    )
    if excluded and not names_person(review.requester):
        raise Refused(
            "not_allowed",
            f"The policy doesn't let the requester approve this {name}, but the requester is unknown.",
        )


def _asks_another_question(action: Action, call: Call, ruling: Ruling) -> bool:
    """Whether another rule matches now, and it needs an answer that people were not asked for."""
    rule = (action.newest_rule or call.verdict).rule
    if ruling.answer_schema is None or ruling.verdict.rule == rule:
        return False
    config = action.config
    return (ruling.answer_schema, ruling.output) != (config.answer_schema, config.output)


def _check_quorum(name: str, route: Route) -> None:
    if word := find_unreachable_quorum(route):
        needed = int(getattr(route.reviewers, word))
        raise Refused(
            "not_allowed",
            f"The “{word}” for this {name} is {needed}, but fewer people may decide.",
        )


def _merge_schemas(
    action: Action, tool: str, name: str, ruling: Ruling, tool_schema: Schema | None
) -> tuple[Schema | None, Schema | None, Schema | None]:
    """The schema for the arguments, the part of it that the policy trusts, and the one that only hides.

    The arguments must satisfy the earlier schema for the tool `name` and the schema of the rule that matches
    now. If that rule has none, the tool's own schema is used.
    """
    before = [(tool, action.config), *((s.tool, s.config) for s in reversed(action.earlier))]
    previous = next((config for each, config in before if each == name), None)
    ruling = with_tool_schema(ruling, tool_schema)
    new = (ruling.args_schema, ruling.policy_schema, ruling.hiding_schema)
    old = previous and (previous.args_schema, previous.policy_schema, previous.hiding_schema)
    if old is None or old == new:
        return new
    checks, trusted, hides = map(combine_schemas, old, new)
    return checks, trusted, hides


def _merge_config(
    old: ReviewConfig,
    ruling: Ruling,
    schemas: tuple[Schema | None, Schema | None, Schema | None],
    name: str,
) -> ReviewConfig:
    schema, trusted, hides = schemas
    allowed = old.allowed_decisions
    if ruling.verdict.kind == "review" and ruling.verdict.rule is not None:
        # Only a rule can remove decisions; the policy's default can't.
        no = "reject" if "reject" in allowed else "ignore"  # people can always say no
        allowed = tuple(d for d in allowed if d in ruling.allowed_decisions or d == no)
    required = "required" in (old.reject_reason, ruling.reject_reason)
    return old.model_copy(
        update={
            "action_name": name,
            "allowed_decisions": allowed,
            "args_schema": schema,
            "policy_schema": trusted,
            "hiding_schema": hides,
            "reject_reason": "required" if required else "optional",
            "must_read": old.must_read or ruling.needs_reading,
            "confirm": old.confirm or ruling.confirm,
            "display": ruling.display,
            "hide_when_decided": old.hide_when_decided or ruling.hide_when_decided,
            "redact": tuple(dict.fromkeys((*old.redact, *ruling.redact))),
        }
    )


def _merge_route(old: Route, new: Route, is_moved: bool) -> Route:
    """The new rule's people and places, with the stricter numbers of both rules."""
    reviewers = combine_reviewers(new.reviewers, old.reviewers)
    expire = _merge_expire(old.expire, new.expire)
    if is_moved:
        return new.model_copy(update={"reviewers": reviewers, "expire": expire})
    # The clock and the escalations continue.
    return old.model_copy(update={"reviewers": reviewers, "expire": expire, "remind": new.remind})


def _with_ruling(
    action: Action, tool: str, config: ReviewConfig, route: Route, now: float, is_moved: bool
) -> Action:
    """If the ruling changes places or people, earlier escalations end and the clock starts again."""
    before = EarlierTerms(
        tool=tool,
        config=action.config,
        route=action.route,
        escalations=action.escalations if is_moved else (),
        reminded=action.reminded if is_moved else (),
        left=now if is_moved else None,
    )
    update: dict[str, object] = {
        "config": config,
        "route": route,
        "until": deadline(action),
        "earlier": (*action.earlier, before),
    }
    if is_moved:
        update |= {"escalations": (), "reminded": (), "since": now, "delivered_at": None}
    return action.model_copy(update=update)


def _merge_expire(old: Expire | None, new: Expire | None) -> Expire | None:
    """The old decision at the deadline, with the earlier time."""
    if old is None or new is None:
        return old or new
    return old.model_copy(update={"after": min(old.after, new.after)})


def _people_and_places(route: Route) -> tuple[object, ...]:
    return route.notify, route.reviewers.people_key, route.escalate, route.fallback
