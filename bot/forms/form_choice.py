"""Finds the form for a button, and its first page. Pure."""

from __future__ import annotations

from hitl_core.forms import Answers
from hitl_core.model import Action, Review

from .answer_form import AnswerForm, is_plain_text
from .edit_form import EditForm
from .limits import FormLimits
from .message_form import rejection_page, text_answer_page
from .page import FormPage, FormRef
from .review_form import ReviewForm


def first_page(
    review: Review, action: Action, ref: FormRef, limits: FormLimits
) -> tuple[FormPage, bool]:
    """The page, and whether the form shows every value of the call in full."""
    if ref.kind == "reject":
        return rejection_page(review, action, ref), False
    if not has_fields(action, ref):
        return text_answer_page(review, action, ref), False
    form = make_review_form(review, action, ref, limits)
    return form.page(), ref.kind == "edit" and form.session.shows_all


def make_review_form(
    review: Review, action: Action, ref: FormRef, limits: FormLimits, answers: Answers | None = None
) -> ReviewForm:
    """The form for an edit or an answer. Raises Refused."""
    if ref.kind == "edit":
        return EditForm(review, action, ref, limits, answers)
    return AnswerForm(review, action, ref, limits, answers)


def has_fields(action: Action, ref: FormRef) -> bool:
    """Whether the form is made from a schema; otherwise it has one text."""
    if ref.kind == "respond":
        return not is_plain_text(action.config.answer_schema)
    return ref.kind in ("edit", "approve")
