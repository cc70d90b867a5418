"""What happened to a review: decisions and their results, votes, edits, escalations. Pure."""

from .decided import decision_lines, decision_time, elsewhere_of, move_lines
from .history import attempt_of, edits_of, first_message, notes_of
from .thread import doubt_line, thread_lines, was_escalated_again
from .votes import cancel_votes_of, make_doubt, make_progress

__all__ = [
    "attempt_of",
    "cancel_votes_of",
    "decision_lines",
    "decision_time",
    "doubt_line",
    "edits_of",
    "elsewhere_of",
    "first_message",
    "make_doubt",
    "make_progress",
    "move_lines",
    "notes_of",
    "thread_lines",
    "was_escalated_again",
]
