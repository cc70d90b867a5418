"""Checks arguments by JSON Schema with limited work: a schema from an agent can't make a process hang.

Start with `check_schema` (is this schema usable?), `check_args` (are these arguments valid?) and
`find_hidden` (which values does it hide?). Pure; it fetches nothing.
"""

from hitl_core.jsonschema.checks import CheckState, equality_key, find_equal
from hitl_core.jsonschema.errors import (
    ArgError,
    PatternError,
    SchemaError,
    Together,
    format_path,
    parse_pointer,
    parse_pointers,
    read_index,
)
from hitl_core.jsonschema.flatten import (
    CannotFlatten,
    FlatSchema,
    Schema,
    SchemaFlattener,
    schema_properties,
)
from hitl_core.jsonschema.formats import format_name, is_valid_format
from hitl_core.jsonschema.hidden import (
    HIDDEN,
    NO_TEXTS_MARK,
    ProtectedPaths,
    find_fixed,
    find_hidden,
    find_other_form,
    has_path,
    is_fixed,
    is_hiding_unclear,
    is_secret,
    mask_args,
    mask_value,
    value_at,
)
from hitl_core.jsonschema.hidden_errors import cut_at_hidden, cut_at_missing, hide_errors
from hitl_core.jsonschema.limits import (
    CONTEXT_STEPS,
    FORM_STEPS,
    HIDING_STEPS,
    REQUEST_STEPS,
    SCHEMA_STEPS,
    VALUE_STEPS,
    Budget,
    SizedCache,
    TooMuchWork,
)
from hitl_core.jsonschema.marked_paths import Path
from hitl_core.jsonschema.patterns import check_pattern, search
from hitl_core.jsonschema.validate import (
    check_args,
    check_schema,
    check_schema_text,
    compile_schema,
    wrap_schema,
    write_schema,
)
from hitl_core.model import child_pointers, to_pointer

__all__ = [
    "CONTEXT_STEPS",
    "FORM_STEPS",
    "HIDDEN",
    "HIDING_STEPS",
    "NO_TEXTS_MARK",
    "REQUEST_STEPS",
    "SCHEMA_STEPS",
    "VALUE_STEPS",
    "ArgError",
    "Budget",
    "CannotFlatten",
    "CheckState",
    "FlatSchema",
    "Path",
    "PatternError",
    "ProtectedPaths",
    "Schema",
    "SchemaError",
    "SchemaFlattener",
    "SizedCache",
    "Together",
    "TooMuchWork",
    "check_args",
    "check_pattern",
    "check_schema",
    "check_schema_text",
    "child_pointers",
    "compile_schema",
    "cut_at_hidden",
    "cut_at_missing",
    "equality_key",
    "find_equal",
    "find_fixed",
    "find_hidden",
    "find_other_form",
    "format_name",
    "format_path",
    "has_path",
    "hide_errors",
    "is_fixed",
    "is_hiding_unclear",
    "is_secret",
    "is_valid_format",
    "mask_args",
    "mask_value",
    "parse_pointer",
    "parse_pointers",
    "read_index",
    "schema_properties",
    "search",
    "to_pointer",
    "value_at",
    "wrap_schema",
    "write_schema",
]
