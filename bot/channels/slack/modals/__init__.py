"""Slack's modals: forms, all arguments, the Review modal, notices. Pure: a value → a view."""

from . import arguments_modal, review_modal, small_modals
from .form_modal import BACK, form_view, read_entries
from .inputs import ACTION_ID
from .small_modals import View

__all__ = [
    "ACTION_ID",
    "BACK",
    "View",
    "arguments_modal",
    "form_view",
    "read_entries",
    "review_modal",
    "small_modals",
]
