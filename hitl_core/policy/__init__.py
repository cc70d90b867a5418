"""The policy: which tool calls run, which need a person, and which are denied.

`Policy` reads the YAML file and judges a `ToolCall`; the result is a `Ruling`. It is pure, except that
`Policy.load` reads a file.
"""

from hitl_core.policy.combine_rulings import deny_ruling, with_tool_schema
from hitl_core.policy.default_descriptions import default_description, to_javascript
from hitl_core.policy.gaps import find_gaps
from hitl_core.policy.glob import is_glob
from hitl_core.policy.kept_policy import dump_kept_policy, load_kept_policy
from hitl_core.policy.own_questions import CallTerms, ask_like_calls
from hitl_core.policy.policy import Policy
from hitl_core.policy.reader import (
    DESCRIPTION_PREFIX,
    USER_ID,
    ConfigNode,
    ConfigReader,
    InvalidPolicy,
    ParsedConfig,
    Problem,
    Report,
    combine_reviewers,
    find_unreachable_quorum,
    format_key_path,
    names_person,
    parse_yaml,
    read_args_schema,
    read_decisions,
    read_field,
    read_when_schema,
)
from hitl_core.policy.rule import (
    DEFAULT_DECISIONS,
    CallContext,
    Question,
    Rule,
    RuleFunction,
    plain_reason,
)
from hitl_core.policy.ruling import Ruling
from hitl_core.policy.schemas import combine_schemas, has_refs

__all__ = [
    "DEFAULT_DECISIONS",
    "DESCRIPTION_PREFIX",
    "USER_ID",
    "CallContext",
    "CallTerms",
    "ConfigNode",
    "ConfigReader",
    "InvalidPolicy",
    "ParsedConfig",
    "Policy",
    "Problem",
    "Question",
    "Report",
    "Rule",
    "RuleFunction",
    "Ruling",
    "ask_like_calls",
    "combine_reviewers",
    "combine_schemas",
    "default_description",
    "deny_ruling",
    "dump_kept_policy",
    "find_gaps",
    "find_unreachable_quorum",
    "format_key_path",
    "has_refs",
    "is_glob",
    "load_kept_policy",
    "names_person",
    "parse_yaml",
    "plain_reason",
    "read_args_schema",
    "read_decisions",
    "read_field",
    "read_when_schema",
    "to_javascript",
    "with_tool_schema",
]
