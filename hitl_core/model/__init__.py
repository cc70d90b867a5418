"""The words: values, frozen, with no behaviour beyond reading themselves."""

from hitl_core.model.action import (
    Action,
    ActionRequest,
    Escalation,
    Output,
    ReviewConfig,
    Target,
)
from hitl_core.model.arguments import Arguments, decode, encode
from hitl_core.model.call import ToolCall
from hitl_core.model.decision import DECISION_TYPES, Decision, DecisionType, Reviewer
from hitl_core.model.dialect import DIALECTS, DialectName
from hitl_core.model.event import Event, EventKind
from hitl_core.model.review import (
    Call,
    Cancellation,
    Lease,
    MessageRef,
    Review,
    Snapshot,
    Status,
)
from hitl_core.model.route import DEFAULT_PLACE, Expire, Place, Route, Step
from hitl_core.model.run import Run, RunState
from hitl_core.model.token import Token
from hitl_core.model.verdict import Verdict

__all__ = [
    "DECISION_TYPES",
    "DEFAULT_PLACE",
    "DIALECTS",
    "Action",
    "ActionRequest",
    "Arguments",
    "Call",
    "Cancellation",
    "Decision",
    "DecisionType",
    "DialectName",
    "Escalation",
    "Event",
    "EventKind",
    "Expire",
    "Lease",
    "MessageRef",
    "Output",
    "Place",
    "Review",
    "ReviewConfig",
    "Reviewer",
    "Route",
    "Run",
    "RunState",
    "Snapshot",
    "Status",
    "Step",
    "Target",
    "Token",
    "ToolCall",
    "Verdict",
    "decode",
    "encode",
]
