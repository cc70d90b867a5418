"""Judges edited arguments, or another tool, by the policy's rules that are stored in the review. Pure.

An edit never makes a rule weaker (see `edit_terms`). A call is idempotent only if all rules so far say so. If
the policy allows the edited call without a review, people are still asked as before. Refused is raised if the
policy denies it.
"""

from __future__ import annotations

from typing import NamedTuple

from hitl_core.errors import Refused
from hitl_core.model import Action, Arguments, DecisionType, Grant, Review, Route, ToolCall, Verdict
from hitl_core.policy import Ruling, find_unreachable_quorum, load_kept_policy, names_person
from hitl_core.review.edit_terms import merge_config, merge_route, merge_schemas, with_ruling


def edit_tools(review: Review, action: Action) -> tuple[str, ...]:
    """What an edit may make of the call, with the right arguments: first what it is, then what it was."""
    names = [action.name, action.request.name]
    if review.excerpt is not None:
        policy = load_kept_policy(review.excerpt)
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

    @property
    def grant(self) -> Grant:
        """Who may decide by the rule itself."""
        return self.action.grants[0]


def judge_edit(
    review: Review,
    action: Action,
    name: str,
    args: Arguments,
    now: float,
    kind: DecisionType = "edit",
) -> EditRuling:
    """Judge these arguments for this tool, as the next revision of the action. `kind` is "edit", or "approve"
    for an approval whose answer goes into the arguments.
    """
    known_tools = review.tools if review.excerpt is not None else {}
    if name != action.name and name not in (action.request.name, *known_tools):
        known = ", ".join(sorted(known_tools)) or "none"
        raise Refused(
            "unknown_tool",
            f"Reviewer edited tool call '{action.request.tool_call_id}' to '{name}', which is not an"
            f" available tool. Available tools: {known}.",
        )
    ruling = _find_ruling(review, action, name, args)
    again = _may_run_twice(review, action, name, ruling)
    if ruling is None:
        return EditRuling(action, again)
    _check_ruling(review, action, name, ruling, kind)
    needs_review = ruling.verdict.kind == "review"
    config = merge_config(action.config, ruling, merge_schemas(review, action, name, ruling), name)
    route = (
        merge_route(action.route, ruling.route.resolve_origin(review.origin))
        if needs_review
        else action.route
    )
    more = (config.must_read, config.confirm) != (action.config.must_read, action.config.confirm)
    if route == action.route and config == action.config:
        return EditRuling(action, again)
    changed = with_ruling(action, config, route, now)
    same = route == action.route and not more
    return EditRuling(changed, again, None if same else ruling.verdict, more)


def _may_run_twice(review: Review, action: Action, name: str, ruling: Ruling | None) -> bool:
    """Without a policy, `idempotent` was declared for the requested tool, so it is false for another one."""
    call = review.call(action.key)
    assert call is not None  # each action belongs to a call
    own = ruling.idempotent if ruling is not None else name == action.request.name
    return call.idempotent and own


def _find_ruling(review: Review, action: Action, name: str, args: Arguments) -> Ruling | None:
    """None if the review has no policy: then only the agent's own limits apply."""
    if review.excerpt is None:
        return None
    call = ToolCall(action.request.tool_call_id, name, args.parse())
    return load_kept_policy(review.excerpt).judge(call)


def _check_ruling(
    review: Review, action: Action, name: str, ruling: Ruling, kind: DecisionType
) -> None:
    """Raises Refused if nobody could decide by this ruling."""
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
    if _asks_another_question(review, action, ruling):
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
    route = merge_route(action.route, ruling.route)
    if word := find_unreachable_quorum(route):
        raise Refused(
            "not_allowed",
            f"The `{word}` for this {name} is {_count_needed(word, route)}, but fewer people may decide.",
        )


def _asks_another_question(review: Review, action: Action, ruling: Ruling) -> bool:
    """Whether another rule matches now, and it needs an answer that people were not asked for."""
    call = review.call(action.key)
    assert call is not None  # each action belongs to a call
    if (
        ruling.answer_schema is None
        or ruling.verdict.rule == (action.newest_rule or call.verdict).rule
    ):
        return False
    config = action.config
    return (ruling.answer_schema, ruling.output) != (config.answer_schema, config.output)


def _count_needed(word: str, route: Route) -> int:
    return int(getattr(route.reviewers, word))
