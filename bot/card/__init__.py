"""Review → Card: what people see of a review at one place, decided once for all channels. Pure.

The public face is `__all__` below: `build_card`, `thread_lines`, `find_open_action` and the card's values.
"""

from hitl_core.review.redaction import redaction_pointers

from .arguments import all_arguments, argument_label
from .choices import choices_of
from .compose import build_card, page_keys
from .headline import as_name, description_text, quote
from .history import thread_lines
from .model import (
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
from .open_action import find_open_action
from .values import (
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
    "description_text",
    "find_open_action",
    "page_keys",
    "quote",
    "redaction_pointers",
    "thread_lines",
]
