"""The values of the product: calls, reviews, actions, decisions, routes and events. All are frozen.

Import them from here. They compute what follows from their own fields, and load or store nothing.
"""

from hitl_core.model.action import (
    Action,
    ActionRequest,
    EarlierTerms,
    Escalation,
    Grant,
    Output,
    ReviewConfig,
)
from hitl_core.model.arguments import Arguments, decode, encode
from hitl_core.model.call import ToolCall
from hitl_core.model.decision import (
    CLI,
    DECISION_TYPES,
    Decision,
    DecisionType,
    DoubtAnswer,
    EditRecord,
    Reviewer,
    Vote,
    person_label,
)
from hitl_core.model.dialect import DIALECTS, DialectName
from hitl_core.model.event import Event, EventKind
from hitl_core.model.review import (
    Call,
    Cancellation,
    DeliveryProblem,
    Lease,
    MessageRef,
    Review,
    Snapshot,
    Status,
)
from hitl_core.model.reviewers import Reviewers
from hitl_core.model.route import DEFAULT_PLACE, ORIGIN, Expire, Place, Route, Step
from hitl_core.model.run import Run, RunState
from hitl_core.model.token import Token
from hitl_core.model.verdict import Verdict

__all__ = [
    "CLI",
    "DECISION_TYPES",
    "DEFAULT_PLACE",
    "DIALECTS",
    "ORIGIN",
    "Action",
    "ActionRequest",
    "Arguments",
    "Call",
    "Cancellation",
    "Decision",
    "DecisionType",
    "DeliveryProblem",
    "DialectName",
    "DoubtAnswer",
    "EarlierTerms",
    "EditRecord",
    "Escalation",
    "Event",
    "EventKind",
    "Expire",
    "Grant",
    "Lease",
    "MessageRef",
    "Output",
    "Place",
    "Review",
    "ReviewConfig",
    "Reviewer",
    "Reviewers",
    "Route",
    "Run",
    "RunState",
    "Snapshot",
    "Status",
    "Step",
    "Token",
    "ToolCall",
    "Verdict",
    "Vote",
    "decode",
    "encode",
    "person_label",
]
