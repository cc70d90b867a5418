"""Reads a policy (YAML, or a mapping) and reports all problems. Start with `read_policy`."""

from hitl_core.policy.reader.config_node import ConfigNode, read_field
from hitl_core.policy.reader.read_policy import (
    DESCRIPTION_PREFIX,
    ConfigReader,
    ParsedConfig,
    check_context,
    read_policy,
)
from hitl_core.policy.reader.read_rule import read_args_schema, read_decisions, read_when_schema
from hitl_core.policy.reader.report import InvalidPolicy, Problem, Report, format_key_path
from hitl_core.policy.reader.route import (
    USER_ID,
    combine_reviewers,
    find_unreachable_quorum,
    names_person,
)
from hitl_core.policy.reader.yaml_document import MAX_BYTES, parse_yaml

__all__ = [
    "DESCRIPTION_PREFIX",
    "MAX_BYTES",
    "USER_ID",
    "ConfigNode",
    "ConfigReader",
    "InvalidPolicy",
    "ParsedConfig",
    "Problem",
    "Report",
    "check_context",
    "combine_reviewers",
    "find_unreachable_quorum",
    "format_key_path",
    "names_person",
    "parse_yaml",
    "read_args_schema",
    "read_decisions",
    "read_field",
    "read_policy",
    "read_when_schema",
]
