"""The votes on an action or a doubt that needs several people. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..spans import Line, PlaceNames, Quote, Span, Text
from ..values import Progress, VoteGroup
from .deciders import people, people_line, person

#: Reasons of rejections, and groups of votes for something else.
MAX_REASONS = 5
MAX_STATEMENTS = 4

_STATEMENT_TEXTS = {
    "approve": "to run it with this answer",
    "respond": "to answer instead of running it",
    "ignore": "to skip it",
    "ran": "to say that it ran",
    "rerun": "to run it again",
    "skip": "to skip it",
    "cancel": "to cancel the whole review",
}


def vote_lines(progress: Progress, names: PlaceNames) -> tuple[Line, ...]:
    """Who approved, who rejected and why, who wants another answer, and who is still needed."""
    lines = [_progress_line(progress, names)]
    if progress.rejected:
        count = Text(f"{len(progress.rejected)} of {progress.reject_quorum} rejections: ")
        lines.append((count, *people_line(vote.by for vote in progress.rejected), Text(".")))
        reasons = [vote.message for vote in progress.rejected if vote.message]
        lines += [(Quote(reason),) for reason in reasons[:MAX_REASONS]]
    return (*lines, *statement_lines(progress.other_votes))


def statement_lines(votes: Sequence[VoteGroup]) -> tuple[Line, ...]:
    """Who wants what, how many are needed, and the text on which they agree."""
    lines: list[Line] = []
    for one in votes[:MAX_STATEMENTS]:
        count = f"{len(one.by)} of {one.needed} want {_STATEMENT_TEXTS[one.kind]}: "
        lines.append((Text(count), *people_line(one.by), Text(".")))
        lines += [(Quote(one.message),)] if one.message else []
    return tuple(lines)


def vote_count(progress: Progress) -> str:
    return f"{len(progress.approved)} of {progress.quorum} approvals"


def _progress_line(progress: Progress, names: PlaceNames) -> Line:
    """Omits the names that the footer shows anyway."""
    by: list[Span] = []
    if progress.is_partial and (others := people(progress.still_needed, names, either="or")):
        by += [Text(" by "), *others]
    if progress.editor:
        by += [Text(", not by "), person(progress.editor), Text(", who made the edit")]
    missing = progress.quorum - len(progress.approved)
    if not progress.approved:
        return (Text(f"Needs {missing} approval{'s' * (missing != 1)}"), *by, Text("."))
    who = people_line(progress.approved)
    still = f". Still needed: {missing}"
    return (Text(f"{vote_count(progress)}: "), *who, Text(still), *by, Text("."))
