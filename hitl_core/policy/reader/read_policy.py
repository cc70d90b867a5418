"""Reads a configuration in our own format. All problems are reported together."""

from __future__ import annotations

import re

from hitl_core.model import TOOL_NAME, Route
from hitl_core.policy.glob import covers, is_glob
from hitl_core.policy.reader.config_node import ConfigNode, read_field
from hitl_core.policy.reader.parsed_config import ParsedConfig
from hitl_core.policy.reader.read_rule import read_rule
from hitl_core.policy.reader.reviewers import excludes_requester
from hitl_core.policy.reader.route import KEYS as ROUTE_KEYS
from hitl_core.policy.reader.route import read_route
from hitl_core.policy.rule import Kind, Rule

KEYS = (
    "default",
    "description_prefix",
    "interrupt_on",
    "allow_override",
    "trust_tool_schemas",
    "edit_notice",
    *ROUTE_KEYS,
)
#: The keys that a run's context may have.
CONTEXT_KEYS = ("default", "description_prefix", "interrupt_on")
MAX_NAME = 128
DESCRIPTION_PREFIX = "Tool execution requires approval"
_KINDS: tuple[Kind, ...] = ("allow", "review", "deny")
_GLOB = re.compile(r"[A-Za-z0-9_.:/*?-]+")


def read_policy(node: ConfigNode, inherited: Rule | None = None) -> ParsedConfig:
    """The default and the rules. Raises InvalidPolicy with all problems."""
    is_policy = inherited is None
    fields = node.fields(
        KEYS if is_policy else CONTEXT_KEYS, required=("default",) if is_policy else ()
    )
    prefix = (read_field(fields, "description_prefix", ConfigNode.text) or "").strip() or None
    kind = read_field(fields, "default", _read_kind)
    default = Rule(
        name=None,
        kind=kind or "review",
        line=node.report.line(("default",)),
        prefix=prefix or (inherited.prefix if inherited else DESCRIPTION_PREFIX),
        route=read_route(fields, inherited.route if inherited else Route()),
        needs_requester=excludes_requester(fields, bool(inherited and inherited.needs_requester)),
        trusts_tools=read_field(fields, "trust_tool_schemas", ConfigNode.boolean) or False,
    )
    entries = read_field(fields, "interrupt_on", ConfigNode.entries) or {}
    rules: list[Rule] = []
    for name, each in entries.items():
        # The context of a run is written by programs, and comparing its globs with each other takes long.
        if problem := _name_problem(name) or (is_policy and _shadow_problem(name, rules)):
            each.add_problem(problem)
        elif rule := read_rule(name, each, default):
            rules.append(rule)
    notice = read_field(fields, "edit_notice", ConfigNode.text)
    override = read_field(fields, "allow_override", ConfigNode.boolean) or False
    node.report.check()
    return ParsedConfig(
        default if is_policy or kind else None, tuple(rules), prefix, notice, override
    )


def _read_kind(node: ConfigNode) -> Kind | None:
    return node.one_of(_KINDS)


def _name_problem(name: str) -> str | None:
    """The problem of a rule's name, None if it is fine."""
    if TOOL_NAME.fullmatch(name):
        return None
    if "**" in name:
        return "`**` means the same as `*` here: write `*`."
    if "[" in name or "]" in name:
        return "A glob has only the wildcards `*` and `?`: `[` and `]` are not allowed."
    if not _GLOB.fullmatch(name) or len(name.replace("*", "")) > MAX_NAME:
        return (
            f"This is not a valid tool name: a name has 1 to {MAX_NAME} of A-Z a-z 0-9 _ . : / -,"
            " and a glob also `*` and `?`."
        )
    return None


def _shadow_problem(name: str, earlier: list[Rule]) -> str | None:
    """Why a glob can never match, None if it can. An exact name can always match, because it comes before
    globs.
    """
    for rule in earlier:
        if rule.name and rule.when is None and is_glob(name) and covers(rule.name, name):
            line = f" on line {rule.line}" if rule.line else ""
            return (
                f"This rule can never match: `{rule.name}`{line} comes first and matches the same"
                " tools. Put this rule before it, or remove it."
            )
    return None
