"""What an edit makes of an action and its call: a new revision. Pure."""

from __future__ import annotations

from hitl_core.model import Action, Arguments, EditRecord, Review, Reviewer
from hitl_core.review.edit_rules import EditRuling
from hitl_core.review.proposal import Proposal
from hitl_core.review.redaction import redaction_pointers


def add_revision(
    ruling: EditRuling, proposal: Proposal, args: Arguments, name: str, by: Reviewer, now: float
) -> Action:
    """A new revision, without votes. A person's answer that goes into the arguments is not an edit."""
    action = ruling.action
    revision, edits = action.revision + 1, action.edits
    if proposal.type == "edit":
        other = name if name != action.request.name else None
        digest, verdict = args.digest, ruling.verdict
        edit = EditRecord(
            by=by, at=now, revision=revision, digest=digest, name=other, under=verdict
        )
        edits = (*edits, edit)
    update = {"revision": revision, "digest": args.digest, "votes": (), "edits": edits}
    return action.model_copy(update=update)


def with_edited_call(review: Review, action: Action, ruling: EditRuling, args: Arguments) -> Review:
    """The call keeps what an edit can't win back: after a crash it runs again only if all rules so far allow
    that, and the agent's texts stay hidden.
    """
    hides = bool(redaction_pointers(action, args.parse()))
    calls = tuple(
        call.model_copy(
            update={
                "idempotent": call.idempotent and ruling.idempotent,
                "hides_values": call.hides_values or hides,
            }
        )
        if call.key == action.key
        else call
        for call in review.calls
    )
    return review.model_copy(update={"calls": calls})
