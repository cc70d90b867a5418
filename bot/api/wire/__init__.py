"""The wire format of the HTTP API: the models of requests and responses, the table of operations, and the
OpenAPI document (`build_document`).
"""

from . import bodies
from .bodies import MAX_BODY, MAX_VALUES
from .openapi import build_document
from .requests import (
    DEFAULT_LEASE,
    CallIn,
    Cancel,
    Done,
    ListQuery,
    OnceIn,
    Renew,
    ReviewQuery,
    Submit,
    SubmitInterrupt,
)
from .responses import (
    ActionOut,
    AnswerOut,
    CallOut,
    CancelledOut,
    DecisionOut,
    OnceOut,
    OutcomeOut,
    Person,
    RenewOut,
    ResponseModel,
    ReviewOut,
)

__all__ = [
    "DEFAULT_LEASE",
    "MAX_BODY",
    "MAX_VALUES",
    "ActionOut",
    "AnswerOut",
    "CallIn",
    "CallOut",
    "Cancel",
    "CancelledOut",
    "DecisionOut",
    "Done",
    "ListQuery",
    "OnceIn",
    "OnceOut",
    "OutcomeOut",
    "Person",
    "Renew",
    "RenewOut",
    "ResponseModel",
    "ReviewOut",
    "ReviewQuery",
    "Submit",
    "SubmitInterrupt",
    "bodies",
    "build_document",
]
