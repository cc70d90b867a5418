"""What somebody wants to decide, and what comes of it. Pure; raises Refused where it can't be decided."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from hitl_core.errors import DecisionError, Refused
from hitl_core.model import Action, Arguments, DecisionType, Review, encode
from hitl_core.review.edit_rules import EditRuling, judge_edit


class Proposal(NamedTuple):
    """What somebody wants to decide: on which revision, and for an edit the new arguments and, where it is
    another tool, its name. `answer` is the JSON value of a person's own answer.

    `verbatim`: another system's answer, which counts as that one counts it: a blank message is a message, and
    an edit may change nothing. `seal` is `Review.seal` of what the person saw, where they saw it.
    """

    type: DecisionType
    revision: int
    message: str | None = None
    args: Arguments | None = None
    name: str | None = None
    answer: Any = None
    verbatim: bool = False
    seal: str | None = None


def final_args(review: Review, action: Action, proposal: Proposal) -> Arguments:
    """What would run: the arguments, edited or with the person's answer among them."""
    args, output = review.arguments(action.key), action.config.output
    if proposal.type == "approve" and output and output.into == "input":
        new_args = encode({**args.parse(), output.key: final_answer(action, proposal)})
        if new_args != args:
            _check_args(review, action, action.name, args, new_args, "approve")
        return new_args
    if proposal.type != "edit":
        return args
    name = final_name(action, proposal)
    same = proposal.args == args and name == action.name
    if proposal.args is None or (same and not proposal.verbatim):
        raise Refused("unchanged", "Nothing was changed. To run it as it is, press Approve.")
    _check_args(review, action, name, args, proposal.args, None if same else "edit")
    return proposal.args


def _check_args(
    review: Review,
    action: Action,
    name: str,
    before: Arguments,
    after: Arguments,
    kind: DecisionType | None,
) -> None:
    """Raise Refused for new arguments that the schemas don't allow, or that no card could show. `kind` is how
    they came there, None where nothing changed: then no other rule speaks.
    """
    config = (
        judge_edit(review, action, name, after, 0.0, kind).action.config if kind else action.config
    )
    from hitl_core.forms import SchemaError, check_args  # only where a schema is checked

    what = "An answer" if kind == "approve" else "An edit"
    new = after.parse()
    try:
        problems = check_args(config.args_schema, new)
    except SchemaError as error:
        raise Refused("invalid_args", f"{what} can't be checked here: {error}.") from error
    if problems:
        where, wrong = problems[0].pointer, problems[0].message
        raise DecisionError(
            f"{where or 'The arguments'}: {wrong}", field=where, code="invalid_args"
        )
    from hitl_core.review.protected_values import check_protected
    from hitl_core.review.redaction import find_redaction_flaw

    configs = [config, action.config, *(standing.config for standing in action.earlier)]
    if flaw := find_redaction_flaw([each.policy_schema for each in configs], new):
        raise Refused("invalid_args", f"{what} can't be checked here: {flaw}.")
    check_protected(review, action, name, before.parse(), new, config.args_schema)


def judge_proposal(
    review: Review, action: Action, proposal: Proposal, now: float
) -> EditRuling | None:
    """How the policy wants what this makes of the action to be asked about; None where it changes nothing.
    Raises Refused for what it denies, and as `args_of`.
    """
    args, name = final_args(review, action, proposal), final_name(action, proposal)
    if args == review.arguments(action.key) and name == action.name:
        return None
    kind = proposal.type
    ruling = judge_edit(review, action, name, args, now, kind)
    if ruling.verdict is not None and kind != "edit":
        raise Refused("not_allowed", f"The policy asks others about {name} with this answer.")
    return ruling


def final_name(action: Action, proposal: Proposal) -> str:
    """Which tool would run: an edit may name another, and one that names none keeps what stands there."""
    return (proposal.type == "edit" and proposal.name) or action.name


def final_answer(action: Action, proposal: Proposal) -> Any:
    """The value of a person's own answer, None where none is asked for. A text is its own value; where the
    question takes yes or no, the decision is the answer.
    """
    schema, kind = action.config.answer_schema, proposal.type
    if schema is None or kind in ("edit", "ignore"):
        return None
    value = proposal.message if proposal.answer is None else proposal.answer
    if kind == "reject":
        return None if _answer_problem(schema, False) else False
    if value is None and kind == "approve" and not _answer_problem(schema, True):
        return True
    if value is None:
        raise Refused("message_required", "This needs an answer.")
    if problem := _answer_problem(schema, value):
        raise Refused("invalid_answer", f"The answer {problem}.")
    return value


def final_message(action: Action, proposal: Proposal) -> str | None:
    """What the model gets to read."""
    message = proposal.message if proposal.verbatim else (proposal.message or "").strip() or None
    value = proposal.answer
    if message is None and proposal.type == "respond" and value is not None:
        message = value if isinstance(value, str) else encode({"": value}).data.decode()[4:-1]
    blank = not (message or "").strip()
    if proposal.type == "respond" and (message is None or (blank and not proposal.verbatim)):
        raise Refused("message_required", "Write the answer that the agent gets instead.")
    if proposal.type == "reject" and action.config.reject_reason == "required" and blank:
        raise Refused("message_required", "Write why: the policy requires a reason.")
    return message


def _omit_keys(schema: dict[str, Any], named: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in named}


def _answer_problem(schema: dict[str, Any], answer: object) -> str | None:
    from hitl_core.forms import SchemaError, check_args

    named = {key: schema[key] for key in ("$defs", "definitions", "$schema") if key in schema}
    shape = {"type": "object", "properties": {"answer": _omit_keys(schema, named)}, **named}
    try:
        problems = check_args(shape, {"answer": answer})
    except SchemaError as error:
        raise Refused("invalid_answer", f"The answer can't be checked here: {error}.") from error
    return problems[0].message if problems else None
