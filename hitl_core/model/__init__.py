"""The values of the product: calls, reviews, actions, decisions, routes and events. All are frozen.

Import them from here. They compute what follows from their own fields, and load or store nothing.
"""

from hitl_core.model import review
from hitl_core.model.action import (
    Action,
    ActionRequest,
    EarlierTerms,
    Escalation,
    Grant,
    Output,
    ReviewConfig,
)
from hitl_core.model.arguments import (
    MAX_BYTES,
    Arguments,
    JsonObject,
    decode,
    encode,
    parse_whole_number,
)
from hitl_core.model.call import MAX_ID, TOOL_NAME, ToolCall, is_text
from hitl_core.model.call_formats import CALL_KEYS, read_arguments
from hitl_core.model.decision import (
    CLI,
    DECISION_TYPES,
    POLICY,
    Decision,
    DecisionType,
    DoubtAnswer,
    EditRecord,
    Reviewer,
    Vote,
    person_label,
)
from hitl_core.model.dialect import DIALECTS, DialectName
from hitl_core.model.event import REDRAW_KINDS, UNAUDITED_CODES, UNAUDITED_KINDS, Event, EventKind
from hitl_core.model.json_size import (
    parsed_has_more_values,
    unparsed_has_more_values,
)
from hitl_core.model.message_ref import MessageRef
from hitl_core.model.place import DEFAULT_PLACE, ORIGIN, Place, person_key, split_id
from hitl_core.model.review import (
    Call,
    Cancellation,
    DeliveryProblem,
    Lease,
    Review,
    Snapshot,
    Status,
    is_id_prefix,
    is_review_id,
)
from hitl_core.model.reviewers import Reviewers
from hitl_core.model.route import Expire, Route, Step
from hitl_core.model.run import Run
from hitl_core.model.token import Token, parse_id
from hitl_core.model.value import Value
from hitl_core.model.verdict import Verdict

__all__ = [
    "CALL_KEYS",
    "CLI",
    "DECISION_TYPES",
    "DEFAULT_PLACE",
    "DIALECTS",
    "MAX_BYTES",
    "MAX_ID",
    "ORIGIN",
    "POLICY",
    "REDRAW_KINDS",
    "TOOL_NAME",
    "UNAUDITED_CODES",
    "UNAUDITED_KINDS",
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
    "JsonObject",
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
    "Snapshot",
    "Status",
    "Step",
    "Token",
    "ToolCall",
    "Value",
    "Verdict",
    "Vote",
    "decode",
    "encode",
    "is_id_prefix",
    "is_review_id",
    "is_text",
    "parse_id",
    "parse_whole_number",
    "parsed_has_more_values",
    "person_key",
    "person_label",
    "read_arguments",
    "review",
    "split_id",
    "unparsed_has_more_values",
]
