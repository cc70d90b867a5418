"""What a person wants to decide, and the arguments, tool, answer and message that result. Pure.

Refused is raised if this decision is not possible.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Any, NamedTuple

from hitl_core.errors import DecisionError, Refused
from hitl_core.jsonschema import (
    ArgError,
    SchemaError,
    check_args,
    cut_at_hidden,
    cut_at_missing,
    hide_errors,
    parse_pointer,
    to_pointer,
    wrap_schema,
)
from hitl_core.model import Action, Arguments, DecisionType, Grant, Review, ReviewConfig, encode
from hitl_core.review.edits.edit_rules import EditRuling, judge_edit
from hitl_core.review.edits.foreign_system import check_numbers
from hitl_core.review.visibility import (
    find_redaction_flaw,
    form_schema,
    hides_options,
    redaction_pointers,
)

#: The characters of a reason or an answer. Inputs of Slack and Teams take fewer, but clients can send any.
MAX_MESSAGE = 10_000
#: A proposal without an answer of its own. None is the answer null.
NO_ANSWER: Any = object()
_NO_NULL = "can't be null, because the agent's own system has no word for that"

_BY_AGENTS_SCHEMA = (
    "not valid by the agent's schema, which is not quoted because this review has hidden values"
)


class Proposal(NamedTuple):
    """What a person wants to decide on one revision.

    - `args`, `name`: for an edit, the new arguments, and the new tool if it is another one;
    - `answer`: the JSON value of the person's own answer, or NO_ANSWER;
    - `verbatim`: the answer comes in another system's format and follows its rules: a blank message counts as
      a message, and an edit may change nothing;
    - `seal`: `Review.seal` of what the person saw; None if they saw no card.
    """

    type: DecisionType
    revision: int
    message: str | None = None
    args: Arguments | None = None
    name: str | None = None
    answer: Any = NO_ANSWER
    verbatim: bool = False
    seal: str | None = None

    @property
    def text(self) -> str | None:
        """The message without the blanks around it, unless it is verbatim."""
        return self.message if self.verbatim else (self.message or "").strip() or None


class JudgedProposal(NamedTuple):
    """A proposal for an action of `review`. `args` and `name` are what would run. `ruling` is the policy's
    ruling on the changed call; None if the proposal changes nothing. `hides_values`: some of `args` are
    hidden from people.
    """

    review: Review
    args: Arguments
    name: str
    ruling: EditRuling | None
    hides_values: bool

    @property
    def new_grant(self) -> Grant | None:
        """Who may decide by the rule that matches now; None if the same rule as before matches."""
        return self.ruling.action.grants[0] if self.ruling and self.ruling.verdict else None


def judge_proposal(
    review: Review, action: Action, proposal: Proposal, now: float
) -> JudgedProposal:
    """What would run, and the policy's ruling on it. Raises Refused if the policy denies it, and for
    everything that `final_args` refuses.
    """
    judged = _judge(review, action, proposal, now)
    if judged.new_grant is not None and proposal.type != "edit":
        raise Refused(
            "not_allowed",
            f"With this answer, other people must decide on {judged.name} by the policy.",
        )
    return judged


def final_args(review: Review, action: Action, proposal: Proposal) -> Arguments:
    """The arguments that would run: the stored or edited ones, or those with the person's answer added."""
    return _judge(review, action, proposal, 0.0).args


def _judge(review: Review, action: Action, proposal: Proposal, now: float) -> JudgedProposal:
    before, output = review.arguments(action.key), action.config.output
    is_edit = proposal.type == "edit"
    name = (is_edit and proposal.name) or action.name
    args = proposal.args if is_edit and proposal.args is not None else before
    if proposal.type == "approve" and output and output.into == "input":
        args = encode({**before.parse(), output.key: final_answer(review, action, proposal)})
    same = args == before and name == action.name
    if is_edit and (proposal.args is None or (same and not proposal.verbatim)):
        raise Refused("unchanged", "Nothing was changed. To run it as it is, press Approve.")
    if same and not is_edit:
        return JudgedProposal(review, args, name, None, False)
    old, new = before.parse(), args.parse()
    ruling, after = None, action
    if not same:
        check_numbers(review, action, new)
        ruling = judge_edit(review, action, name, new, now, proposal.type)
        after = ruling.action
    hides_values = _check_args(review, action, after, name, old, new, proposal.type)
    return JudgedProposal(review, args, name, ruling, hides_values)


def _check_args(
    review: Review,
    action: Action,
    after: Action,
    name: str,
    old: dict[str, Any],
    new: dict[str, Any],
    kind: DecisionType,
) -> bool:
    """Whether some of the new arguments are hidden from people. Raises Refused if the schemas don't allow the
    arguments, or if no card could show them. `after` is the action by the rules for the new arguments.
    """
    what, config = "An answer" if kind == "approve" else "An edit", after.config
    hidden_before, hidden_after = redaction_pointers(action, old), redaction_pointers(after, new)
    hidden = {*hidden_after, *hidden_before}
    try:
        problems = check_args(config.args_schema, new)
    except SchemaError as error:
        raise Refused("invalid_args", f"{what} can't be checked here: {error}.") from error
    if problems:
        hides_values = review.hides_values or bool(hidden)
        problem = _visible_problem(config, new, problems, hidden, hides_values)
        raise _make_refusal(problem.pointer, problem.message)
    configs = [config, *(terms.config for terms in after.earlier)]
    if flaw := find_redaction_flaw(configs, new):
        raise Refused("invalid_args", f"{what} can't be checked here: {flaw}.")
    schemas = [*(each.args_schema for each in configs), *map(review.tools.get, (action.name, name))]
    _check_protected(schemas, old, new, hidden, hidden_before)
    return bool(hidden_after)


def _visible_problem(
    config: ReviewConfig,
    args: dict[str, Any],
    problems: list[ArgError],
    hidden: Collection[str],
    hides_values: bool,
) -> ArgError:
    """The first problem, as people may read it. If the review hides values, nothing is quoted from a schema
    that the policy doesn't trust.
    """
    if hides_values and config.args_schema != config.policy_schema:
        where = cut_at_missing(problems[0].pointer, args)
        problems = [ArgError(where, _BY_AGENTS_SCHEMA)]
        with suppress(SchemaError):
            schema = form_schema(config, args, hides_values=True)
            problems = check_args(schema, args) or problems
    return hide_errors(problems, hidden, args)[0]


def final_answer(review: Review, action: Action, proposal: Proposal) -> Any:
    """The JSON value of the person's own answer; None if it is null, or if none is needed. Without an answer,
    the message is the value. If the schema accepts true and false, approve means true and reject means false.
    """
    schema, kind = action.config.answer_schema, proposal.type
    if schema is None or kind in ("edit", "ignore"):
        return None
    if kind == "reject":
        return None if _answer_problem(schema, False) else False
    value = proposal.answer
    if value is NO_ANSWER and (value := proposal.text) is None:
        if kind == "approve" and not _answer_problem(schema, True):
            return True
        raise Refused("message_required", "Write or choose an answer.")
    is_null_there = value is None and bool(action.request.accepted_decisions)
    if problem := _answer_problem(schema, value) or (is_null_there and _NO_NULL):
        hidden = "is not one that the agent accepts" if hides_options(review, action) else ""
        raise Refused("invalid_answer", f"The answer {hidden or problem}.")
    return value


def final_message(action: Action, proposal: Proposal) -> str | None:
    """The text that the model will read."""
    message, value = proposal.text, proposal.answer
    if message is None and proposal.type == "respond" and value is not NO_ANSWER:
        message = value if isinstance(value, str) else encode({"": value}).data.decode()[4:-1]
    blank = not (message or "").strip()
    may_be_blank = proposal.verbatim or value is not NO_ANSWER  # the answer's schema is checked
    if proposal.type == "respond" and (message is None or (blank and not may_be_blank)):
        raise Refused("message_required", "Write the answer that the agent gets instead.")
    if proposal.type == "reject" and action.config.reject_reason == "required" and blank:
        raise Refused("message_required", "Write why: the policy requires a reason.")
    if len(message or "") > MAX_MESSAGE:
        raise Refused("invalid_answer", f"A text may have at most {MAX_MESSAGE:,} characters.")
    return message


def _answer_problem(schema: dict[str, Any], answer: object) -> str | None:
    try:
        problems = check_args(wrap_schema(schema, "answer"), {"answer": answer})
    except SchemaError as error:
        raise Refused("invalid_answer", f"The answer can't be checked here: {error}.") from error
    return problems[0].message if problems else None


def _check_protected(
    schemas: list[dict[str, Any] | None],
    before: dict[str, Any],
    after: dict[str, Any],
    hidden: Collection[str],
    hidden_before: Collection[str],
) -> None:
    """Raises DecisionError if an edit changes a value that any of the schemas says is `readOnly`, or removes
    a value that the editor can't see (`hidden_before`). The error names no key inside a `hidden` value.
    """
    # Imported here: an agent that only imports `Gate` needs no forms.
    from hitl_core.forms import find_changed_fixed, find_lost_hidden

    if (path := find_changed_fixed(schemas, before, after)) is not None:
        where = cut_at_hidden(to_pointer(path), hidden)
        part = "" if where == to_pointer(path) else "a hidden part of it "
        raise _make_refusal(where, f"{part}can't be changed: the schema says readOnly")
    paths = [tuple(parse_pointer(each)) for each in hidden_before]
    if (path := find_lost_hidden(paths, before, after)) is not None:
        where = cut_at_hidden(to_pointer(path), hidden)
        raise _make_refusal(where, "is hidden: keep it, or write a new value in its place")


def _make_refusal(where: str, words: str) -> DecisionError:
    return DecisionError(f"{where or 'The arguments'}: {words}.", field=where, code="invalid_args")
