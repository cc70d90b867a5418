"""What people are shown of a review at one place: decided once, drawn by every channel. Pure."""

from bot.card.arguments import all_arguments, argument_label
from bot.card.choices import choices_of
from bot.card.compose import build_card, page_keys
from bot.card.headline import as_name, quote
from bot.card.history import thread_lines
from bot.card.model import (
    ActionLine,
    Card,
    Deadline,
    DecidedElsewhere,
    Deciders,
    DecisionLine,
    Doubt,
    EscalationNote,
    NextStep,
    OpenAction,
    Origin,
    ThreadLine,
)
from bot.card.open_action import find_open_action
from bot.card.values import (
    Argument,
    ArgumentsExcerpt,
    Change,
    Choice,
    Edit,
    PeopleRefs,
    Progress,
    Rejection,
    VoteGroup,
)
from hitl_core.review.redaction import redaction_pointers

__all__ = [
    "ActionLine",
    "Argument",
    "ArgumentsExcerpt",
    "Card",
    "Change",
    "Choice",
    "Deadline",
    "DecidedElsewhere",
    "Deciders",
    "DecisionLine",
    "Doubt",
    "Edit",
    "EscalationNote",
    "NextStep",
    "OpenAction",
    "Origin",
    "PeopleRefs",
    "Progress",
    "Rejection",
    "ThreadLine",
    "VoteGroup",
    "all_arguments",
    "argument_label",
    "as_name",
    "build_card",
    "choices_of",
    "find_open_action",
    "page_keys",
    "quote",
    "redaction_pointers",
    "thread_lines",
]
