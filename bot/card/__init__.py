"""Review → Card: what people see of a review at one place, decided once for all channels. Pure.

Start with `build_card`.
"""

from .arguments import all_arguments, argument_label
from .choices import choices_of
from .compose import build_card, page_keys
from .headline import as_name, description_text, quote
from .history import thread_lines
from .model import (
    ActionLine,
    Card,
    Deadline,
    Deciders,
    DecisionLine,
    Doubt,
    EscalationNote,
    NextStep,
    OpenAction,
    ThreadLine,
)
from .open_action import find_open_action
from .values import Argument, ArgumentsExcerpt, Edit, PeopleRefs, Progress, VoteGroup

__all__ = [
    "ActionLine",
    "Argument",
    "ArgumentsExcerpt",
    "Card",
    "Deadline",
    "Deciders",
    "DecisionLine",
    "Doubt",
    "Edit",
    "EscalationNote",
    "NextStep",
    "OpenAction",
    "PeopleRefs",
    "Progress",
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
    "thread_lines",
]
