"""What somebody wants to decide, and what comes of it. Pure; raises Refused where it can't be decided."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from hitl_core.errors import DecisionError, Refused
from hitl_core.model import Action, Arguments, DecisionType, Review, Target, encode


class Proposal(NamedTuple):
    """What somebody wants to decide: on which revision, and for an edit the new arguments and, where it is
    another tool, its name. `answer` is the JSON value of a person's own answer.

    `verbatim`: another system's answer, which counts as that one counts it: a blank message is a message, and
    an edit may change nothing.
    """

    type: DecisionType
    revision: int
    message: str | None = None
    args: Arguments | None = None
    name: str | None = None
    answer: Any = None
    verbatim: bool = False


def args_of(review: Review, action: Action, proposal: Proposal) -> Arguments:
    """What would run: the arguments, edited or with the person's answer among them."""
    args, output = review.arguments(action.key), action.config.output
    if proposal.type == "approve" and output and output.into == "input":
        return encode({**args.parse(), output.key: answer_of(action, proposal)})
    if proposal.type != "edit":
        return args
    name, schema = name_of(action, proposal), action.config.args_schema
    if name != action.request.name:
        schema = check_target(review, action, name).args_schema
    same = proposal.args == args and name == action.name
    if proposal.args is None or (same and not proposal.verbatim):
        raise Refused("unchanged", "Nothing was changed. To run it as it is, press Approve.")
    from hitl_core.forms import SchemaError, check_args  # with jsonschema, only where it is needed

    try:
        problems = check_args(schema, proposal.args.parse())
    except SchemaError as error:
        raise Refused("invalid_args", f"An edit can't be checked here: {error}.") from error
    if problems:
        where, wrong = problems[0].pointer, problems[0].message
        raise DecisionError(
            f"{where or 'The arguments'}: {wrong}", field=where, code="invalid_args"
        )
    from hitl_core.review.kept_values import check_kept

    check_kept(review, action, name, args.parse(), proposal.args.parse())
    return proposal.args


def name_of(action: Action, proposal: Proposal) -> str:
    """Which tool would run: an edit may name another, and one that names none keeps what stands there."""
    return (proposal.type == "edit" and proposal.name) or action.name


def check_target(review: Review, action: Action, name: str) -> Target:
    """The tool that an edit names in place of the action's. Its own rule counts, and whoever is asked about
    it must be asked here as well.
    """
    target, asked = review.tools.get(name), action.route.reviewers
    if target is None:
        known = ", ".join(sorted(review.tools)) or "none"
        raise Refused(
            "unknown_tool",
            f"Reviewer edited tool call '{action.request.tool_call_id}' to '{name}', which is not an"
            f" available tool. Available tools: {known}.",
        )
    if target.verdict == "deny":
        raise Refused("denied", f"The policy denies {name}: {action.request.name} can't become it.")
    if target.verdict == "review":
        if "edit" not in target.allowed_decisions:
            raise Refused("not_allowed", f"The policy doesn't allow an edited {name}.")
        if target.notify != action.route.notify or target.reviewers.people != asked.people:
            raise Refused("not_allowed", f"Other people decide on {name} than are asked here.")
        if _asks_more(target, action):
            raise Refused("not_allowed", f"The policy asks more of those who decide on {name}.")
    return target


def _asks_more(target: Target, action: Action) -> bool:
    mine, its = action.route.reviewers, target.reviewers
    return (
        its.quorum > mine.quorum
        or its.reject_quorum < mine.reject_quorum
        or its.exclude_requester > mine.exclude_requester
        or its.editor_approves < mine.editor_approves
        or target.must_read > action.config.must_read
        or target.confirm > action.config.confirm
        or not {*target.redact} <= {*action.config.redact}
    )


def answer_of(action: Action, proposal: Proposal) -> Any:
    """The value of a person's own answer, None where none is asked for. A text is its own value; where the
    question takes yes or no, the decision is the answer.
    """
    schema, kind = action.config.answer_schema, proposal.type
    if schema is None or kind in ("edit", "ignore"):
        return None
    given = proposal.message if proposal.answer is None else proposal.answer
    if kind == "reject":
        return None if _problem(schema, False) else False
    if given is None and kind == "approve" and not _problem(schema, True):
        return True
    if given is None:
        raise Refused("message_required", "This needs an answer.")
    if problem := _problem(schema, given):
        raise Refused("invalid_answer", f"The answer {problem}.")
    return given


def message_of(action: Action, proposal: Proposal) -> str | None:
    """What the model gets to read."""
    message = proposal.message if proposal.verbatim else (proposal.message or "").strip() or None
    given = proposal.answer
    if message is None and proposal.type == "respond" and given is not None:
        message = given if isinstance(given, str) else encode({"": given}).data.decode()[4:-1]
    blank = not (message or "").strip()
    if proposal.type == "respond" and (message is None or (blank and not proposal.verbatim)):
        raise Refused("message_required", "Write the answer that the agent gets instead.")
    if proposal.type == "reject" and action.config.reject_reason == "required" and blank:
        raise Refused("message_required", "Write why: the policy requires a reason.")
    return message


def _without(schema: dict[str, Any], named: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in named}


def _problem(schema: dict[str, Any], answer: object) -> str | None:
    from hitl_core.forms import SchemaError, check_args

    named = {key: schema[key] for key in ("$defs", "definitions", "$schema") if key in schema}
    shape = {"type": "object", "properties": {"answer": _without(schema, named)}, **named}
    try:
        problems = check_args(shape, {"answer": answer})
    except SchemaError as error:
        raise Refused("invalid_answer", f"The answer can't be checked here: {error}.") from error
    return problems[0].message if problems else None
