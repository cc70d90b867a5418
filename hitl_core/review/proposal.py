"""What somebody wants to decide, and what comes of it. Pure; raises Refused where it can't be decided."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from hitl_core.errors import DecisionError, Refused
from hitl_core.model import Action, Arguments, DecisionType, Review, encode
from hitl_core.review.judging import Judged, judge


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


def args_of(review: Review, action: Action, proposal: Proposal) -> Arguments:
    """What would run: the arguments, edited or with the person's answer among them."""
    args, output = review.arguments(action.key), action.config.output
    if proposal.type == "approve" and output and output.into == "input":
        answered = encode({**args.parse(), output.key: answer_of(action, proposal)})
        if answered != args:
            _check(review, action, action.name, args, answered, "approve")
        return answered
    if proposal.type != "edit":
        return args
    name = name_of(action, proposal)
    same = proposal.args == args and name == action.name
    if proposal.args is None or (same and not proposal.verbatim):
        raise Refused("unchanged", "Nothing was changed. To run it as it is, press Approve.")
    _check(review, action, name, args, proposal.args, None if same else "edit")
    return proposal.args


def _check(
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
    config = judge(review, action, name, after, 0.0, kind).action.config if kind else action.config
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
    from hitl_core.review.kept_values import check_kept
    from hitl_core.review.redaction import flaw_of_hidden

    configs = [config, action.config, *(standing.config for standing in action.earlier)]
    if flaw := flaw_of_hidden([each.policy_schema for each in configs], new):
        raise Refused("invalid_args", f"{what} can't be checked here: {flaw}.")
    check_kept(review, action, name, before.parse(), new, config.args_schema)


def judged(review: Review, action: Action, proposal: Proposal, now: float) -> Judged | None:
    """How the policy wants what this makes of the action to be asked about; None where it changes nothing.
    Raises Refused for what it denies, and as `args_of`.
    """
    args, name = args_of(review, action, proposal), name_of(action, proposal)
    if args == review.arguments(action.key) and name == action.name:
        return None
    kind = proposal.type
    found = judge(review, action, name, args, now, kind)
    if found.under is not None and kind != "edit":
        raise Refused("not_allowed", f"The policy asks others about {name} with this answer.")
    return found


def name_of(action: Action, proposal: Proposal) -> str:
    """Which tool would run: an edit may name another, and one that names none keeps what stands there."""
    return (proposal.type == "edit" and proposal.name) or action.name


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
