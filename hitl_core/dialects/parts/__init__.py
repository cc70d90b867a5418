"""Code that several dialects use: readers and writers of policies, interrupts and answers."""

from hitl_core.dialects.parts.arcgis_config import (
    AGENT_PREFIX,
    list_options,
    make_question,
    one_of,
    read_config,
)
from hitl_core.dialects.parts.batch import (
    CAMEL,
    SNAKE,
    Batch,
    format_decision,
    read_name,
)
from hitl_core.dialects.parts.config import ConfigFormat
from hitl_core.dialects.parts.decisions import (
    FinalDecision,
    dump_each,
    dump_or_raise,
    final_decision,
    interrupt_decisions,
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
from hitl_core.dialects.parts.python import CONFIG_FORMAT, PYTHON_DECISIONS
from hitl_core.dialects.parts.requests import (
    InterruptAction,
    build_request,
    common_decisions,
    dialect_description,
    ensure_sendable,
    original_args,
    parse_decision_types,
)
from hitl_core.dialects.parts.response_schema import make_response_schema, read_response_schema

__all__ = [
    "AGENT_PREFIX",
    "CAMEL",
    "CONFIG_FORMAT",
    "PYTHON_DECISIONS",
    "SNAKE",
    "Batch",
    "ConfigFormat",
    "FinalDecision",
    "InterruptAction",
    "Json",
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
    "is_object",
    "list_options",
    "make_question",
    "make_response_schema",
    "one_of",
    "original_args",
    "parse_decision_types",
    "parse_json",
    "read_config",
    "read_envelope",
    "read_list",
    "read_name",
    "read_object",
    "read_optional_text",
    "read_response_schema",
    "to_rejection",
]
