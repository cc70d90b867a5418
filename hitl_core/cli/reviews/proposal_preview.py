"""What `hitl reviews decide` shows before it asks for the confirmation."""

from __future__ import annotations

import sys
from contextlib import suppress

from hitl_core.cli import phrases
from hitl_core.cli.reviews.args_text import say_args
from hitl_core.cli.reviews.change_review import show_calls
from hitl_core.cli.terminal import note
from hitl_core.errors import Refused
from hitl_core.forms import find_removed
from hitl_core.jsonschema import format_path
from hitl_core.model import Action, JsonObject, Review, Snapshot
from hitl_core.review import Proposal, judge_proposal, mask_hidden

_EDITED_LABEL = "edited, these would run"
#: How many removed arguments are listed.
_MAX_GONE = 20


def show_proposals(snapshot: Snapshot, proposals: list[tuple[Action, Proposal]]) -> None:
    keys = {action.key for action, _ in proposals}
    show_calls(snapshot, (call for call in snapshot.review.calls if call.key in keys))
    for action, proposal in proposals:
        if proposal.args is not None:
            named = f"edited, {proposal.name} would run with" if proposal.name else _EDITED_LABEL
            would_run, before = proposal.args.parse(), snapshot.review.arguments(action.key).parse()
            say_args(
                _visible_args(snapshot, action, proposal, would_run),
                label=named,
                rest=None,
                to=sys.stderr,
            )
            if gone := [format_path(each) for each in find_removed(before, would_run)]:
                if len(gone) > _MAX_GONE:
                    gone = [*gone[:_MAX_GONE], f"{len(gone) - _MAX_GONE} more"]
                note(f"This removes {', '.join(gone)}.")


def _visible_args(
    snapshot: Snapshot, action: Action, proposal: Proposal, would_run: JsonObject
) -> JsonObject:
    """Without what any rule so far hides, and what the one hides that they fall under."""
    with suppress(Refused):  # `decide` reports it
        judged = judge_proposal(snapshot.review, action, proposal, snapshot.now)
        action = judged.ruling.action if judged.ruling else action
    return mask_hidden(action, would_run)


def confirmation_question(review: Review, proposals: list[tuple[Action, Proposal]]) -> str:
    kind = proposals[0][1].type
    verb = {"respond": "Answer in place of", "ignore": "Skip"}.get(kind, kind.capitalize())
    keys, name = {action.key for action, _ in proposals}, proposals[0][1].name
    tools_text = phrases.tool_names(review, (call for call in review.calls if call.key in keys))
    return f"{verb} {tools_text}{f' into {name}' if name else ''}?"
