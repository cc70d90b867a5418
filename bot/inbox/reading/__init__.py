"""What a person reads before they decide: the pages of the Review, all arguments, a digest, a file."""

from .action_pages import ActionPage, action_page, needs_others
from .argument_parts import PartDrawing, split_parts
from .reader import ArgumentsPage, Reader, arguments_page, file_name, to_text

__all__ = [
    "ActionPage",
    "ArgumentsPage",
    "PartDrawing",
    "Reader",
    "action_page",
    "arguments_page",
    "file_name",
    "needs_others",
    "split_parts",
    "to_text",
]
