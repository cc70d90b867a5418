"""The proposal of `hitl reviews decide`: makes it from the options, and shows it for confirmation."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from hitl_core.cli import phrases
from hitl_core.cli.reviews.args_text import say_args
from hitl_core.cli.reviews.change_review import show_calls
from hitl_core.cli.terminal import note
from hitl_core.errors import InvalidToolCall, Refused
from hitl_core.forms import list_options, name_removed
from hitl_core.model import Action, Arguments, Review, Snapshot, decode, encode
from hitl_core.review import Proposal, judge_proposal, mask_hidden, redaction_pointers

_EDITED_LABEL = "edited, these would run"

#: The most removed arguments that are listed.
_MAX_GONE = 20


def read_edit(args: argparse.Namespace) -> Arguments | None:
    """The arguments of --args or --args-file. Raises InvalidToolCall, OSError."""
    if args.args is not None:
        return encode(decode(args.args))
    if args.args_file is None:
        return None
    piped = args.args_file == "-"
    return encode(decode(sys.stdin.buffer.read() if piped else Path(args.args_file).read_bytes()))


def make_proposal(
    review: Review, action: Action, args: argparse.Namespace, edited: Arguments | None
) -> Proposal:
    """Raises Refused for several answers where only one is allowed."""
    if args.decision == "edit":
        new = review.arguments(action.key) if edited is None else edited
        return Proposal("edit", action.revision, args.message, new, args.tool)
    given: list[str] = args.answers or []
    schema = action.config.answer_schema
    if not given or schema is None or schema.get("type") == "string":
        if len(given) > 1:
            raise Refused("invalid_answer", "Only one --answer is allowed here.")
        return Proposal(args.decision, action.revision, given[0] if given else args.message)
    return Proposal(args.decision, action.revision, answer=_read_answer(schema, given))


def _read_answer(schema: dict[str, Any], given: list[str]) -> Any:
    """One of the options, by its value or name; without options a JSON value, or the text itself."""
    if schema.get("type") == "array":
        items = schema.get("items")
        return [_read_value(cast("dict[str, Any]", items or {}), each) for each in given]
    if len(given) > 1:
        raise Refused("invalid_answer", "Only one --answer is allowed here, because it is no list.")
    return _read_value(schema, given[0])


def _read_value(schema: dict[str, Any], given: str) -> Any:
    for label, value in list_options(schema):
        if given in (label, value if isinstance(value, str) else json.dumps(value)):
            return value
    if schema.get("type") == "string":
        return given
    try:
        return decode(f'{{"value": {given}}}')["value"]
    except InvalidToolCall:
        return given


def show_proposals(snapshot: Snapshot, proposals: list[tuple[Action, Proposal]]) -> None:
    keys = {action.key for action, _ in proposals}
    show_calls(snapshot, (call for call in snapshot.review.calls if call.key in keys))
    for action, proposal in proposals:
        if proposal.args is not None:
            named = f"edited, {proposal.name} would run with" if proposal.name else _EDITED_LABEL
            would_run, before = proposal.args.parse(), snapshot.review.arguments(action.key).parse()
            judged = _judged_action(snapshot, action, proposal)
            say_args(mask_hidden(judged, would_run), label=named, rest=None, to=sys.stderr)
            if gone := name_removed(before, would_run, redaction_pointers(judged, before)):
                if len(gone) > _MAX_GONE:
                    gone = [*gone[:_MAX_GONE], f"{len(gone) - _MAX_GONE} more"]
                note(f"This removes {', '.join(gone)}.")


def _judged_action(snapshot: Snapshot, action: Action, proposal: Proposal) -> Action:
    """The action that hides values in the proposal, by all rules so far and the rule that now matches."""
    with suppress(Refused):  # `decide` reports it
        judged = judge_proposal(snapshot.review, action, proposal, snapshot.now)
        return judged.ruling.action if judged.ruling else action
    return action


def confirmation_question(review: Review, proposals: list[tuple[Action, Proposal]]) -> str:
    kind = proposals[0][1].type
    verb = {"respond": "Answer in place of", "ignore": "Skip"}.get(kind, kind.capitalize())
    keys, name = {action.key for action, _ in proposals}, proposals[0][1].name
    tools_text = phrases.tool_names(review, (call for call in review.calls if call.key in keys))
    return f"{verb} {tools_text}{f' into {name}' if name else ''}?"
