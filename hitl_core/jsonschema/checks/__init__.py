"""Compiles a schema document to checks of values, one check for each keyword. Start with `Compiler`."""

from hitl_core.jsonschema.checks.compiler import Compiler
from hitl_core.jsonschema.checks.keywords import equality_key, find_equal
from hitl_core.jsonschema.checks.messages import list_errors
from hitl_core.jsonschema.checks.problem import MAX_PROBLEMS, Check, CheckState

__all__ = [
    "MAX_PROBLEMS",
    "Check",
    "CheckState",
    "Compiler",
    "equality_key",
    "find_equal",
    "list_errors",
]
