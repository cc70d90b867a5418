"""What dialects share: readers and writers of their policies, interrupts and answers."""

from hitl_core.dialects.parts import approvals, ask_user
from hitl_core.dialects.parts.approvals import APPROVAL_DECISIONS, is_approval
from hitl_core.dialects.parts.arcgis_config import (
    AGENT_PREFIX,
    list_options,
    make_question,
    read_config,
)
from hitl_core.dialects.parts.batch import (
    CAMEL,
    COUNT_MESSAGE,
    SNAKE,
    Batch,
    format_decision,
    not_allowed_message,
    read_name,
)
from hitl_core.dialects.parts.config import ConfigFormat
from hitl_core.dialects.parts.decisions import (
    AnswerItem,
    FinalDecision,
    answer_items,
    dump_each,
    dump_or_raise,
    final_decision,
    interrupt_decisions,
    read_answer,
    to_rejection,
)
from hitl_core.dialects.parts.json import (
    Json,
    check_wire,
    is_object,
    parse_json,
    read_envelope,
    read_list,
    read_object,
    read_optional_text,
)
from hitl_core.dialects.parts.python import CONFIG_FORMAT, PYTHON_DECISIONS, load_python_proposal
from hitl_core.dialects.parts.requests import (
    InterruptAction,
    build_request,
    common_decisions,
    dialect_description,
    ensure_sendable,
    original_args,
)
from hitl_core.dialects.parts.response_schema import make_response_schema, read_response_schema

__all__ = [
    "AGENT_PREFIX",
    "APPROVAL_DECISIONS",
    "CAMEL",
    "CONFIG_FORMAT",
    "COUNT_MESSAGE",
    "PYTHON_DECISIONS",
    "SNAKE",
    "AnswerItem",
    "Batch",
    "ConfigFormat",
    "FinalDecision",
    "InterruptAction",
    "Json",
    "answer_items",
    "approvals",
    "ask_user",
    "build_request",
    "check_wire",
    "common_decisions",
    "dialect_description",
    "dump_each",
    "dump_or_raise",
    "ensure_sendable",
    "final_decision",
    "format_decision",
    "interrupt_decisions",
    "is_approval",
    "is_object",
    "list_options",
    "load_python_proposal",
    "make_question",
    "make_response_schema",
    "not_allowed_message",
    "original_args",
    "parse_json",
    "read_answer",
    "read_config",
    "read_envelope",
    "read_list",
    "read_name",
    "read_object",
    "read_optional_text",
    "read_response_schema",
    "to_rejection",
]
