"""Slack's modals: forms, all arguments, the Review modal, notices. Pure: a review and inputs → a view."""

from . import arguments_modal, review_modal, small_modals
from .answer_modal import AnswerModal, is_plain_text
from .edit_modal import EditModal
from .form_modal import BACK, FormModal
from .form_state import Answers
from .inputs import ACTION_ID
from .small_modals import View

__all__ = [
    "ACTION_ID",
    "BACK",
    "AnswerModal",
    "Answers",
    "EditModal",
    "FormModal",
    "View",
    "arguments_modal",
    "is_plain_text",
    "review_modal",
    "small_modals",
]
