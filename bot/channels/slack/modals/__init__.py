"""Draws Slack's modals: forms, all arguments, the Review modal, notices. Pure: a value → a view."""

from . import arguments_modal, review_modal
from .form_modal import ACTION_ID, BACK, form_view, read_entries
from .limits import MODAL_LIMITS
from .modal import View, loading, notice

__all__ = [
    "ACTION_ID",
    "BACK",
    "MODAL_LIMITS",
    "View",
    "arguments_modal",
    "form_view",
    "loading",
    "notice",
    "read_entries",
    "review_modal",
]
