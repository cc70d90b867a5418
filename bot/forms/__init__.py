"""Forms for decisions, in every channel: opening, paging, drafts, errors beside fields, confirmation.

A channel has one `FormService` with its `FormLimits`. The channel shows each `FormPage` and keeps its `ref`.
When the person sends the page, the channel passes `ref` and the person's `Entries` to the service; the result
is another page, or one of `FormResult`. Only `service` does I/O.
"""

from .answer_form import AnswerForm
from .edit_form import EditForm
from .limits import FormLimits
from .page import (
    FIELD_KINDS,
    MESSAGE,
    TOOL,
    Entries,
    FieldErrors,
    FormKind,
    FormPage,
    FormRef,
    FormResult,
    Notice,
    PageField,
    Stored,
    to_result,
)
from .review_form import ReviewForm
from .service import FormService
from .session import FormSession
from .source import FormSource

__all__ = [
    "FIELD_KINDS",
    "MESSAGE",
    "TOOL",
    "AnswerForm",
    "EditForm",
    "Entries",
    "FieldErrors",
    "FormKind",
    "FormLimits",
    "FormPage",
    "FormRef",
    "FormResult",
    "FormService",
    "FormSession",
    "FormSource",
    "Notice",
    "PageField",
    "ReviewForm",
    "Stored",
    "to_result",
]
