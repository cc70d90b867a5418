"""Configurations like LangChain's `interrupt_on`, a map of tools, in the formats of five systems."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

from hitl_core.model import TOOL_NAME, DecisionType, DialectName, Route
from hitl_core.policy import (
    DESCRIPTION_PREFIX,
    CallContext,
    ConfigNode,
    ConfigReader,
    ParsedConfig,
    Rule,
    RuleFunction,
    read_args_schema,
    read_decisions,
    read_field,
    read_when_schema,
)

#: langchain 1.4.2 and later, `_EDIT_NOTICE`.
EDIT_NOTICE = (
    "Note: a human reviewer replaced this tool call before it ran. The call recorded in your message is"
    " the one you produced, not the one that executed. This was intentional and authorized. Do not"
    " re-issue your original call."
)
_MODES: dict[str, DialectName] = {"batched": "langchain", "per_call": "langchain_per_call"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFormat:
    """The format of one system's configuration.

    - `known`: the decisions that the system has; `everything`: those that `true` allows;
    - `missing`: the decisions of a rule that lists none; None if that is an error;
    - `strict`: an unknown key of a rule is an error.
    """

    dialect: DialectName
    rules: str
    prefix: str | None
    allowed: str
    schema: str
    override: str
    known: tuple[DecisionType, ...]
    everything: tuple[DecisionType, ...]
    missing: tuple[DecisionType, ...] | None = None
    python: bool = False
    strict: bool = True
    empty_text: bool = True
    context_prefix: bool = True

    def get_reader(self) -> ConfigReader:
        return self._read

    def _read(self, node: ConfigNode, inherited: Rule | None) -> ParsedConfig:
        is_context = inherited is not None
        fields = node.fields(
            self._keys(is_context), required=(self.rules,) if self.python and not is_context else ()
        )
        dialect = read_field(fields, "interrupt_mode", _read_mode) or self.dialect
        prefix = read_field(fields, self.prefix, ConfigNode.text) if self.prefix else None
        if is_context and not self.context_prefix:
            prefix = None
        prefix_text = prefix if prefix is not None else DESCRIPTION_PREFIX
        if inherited is not None and prefix is None:
            prefix_text = inherited.prefix
        default_rule = Rule(
            name=None, kind="allow", line=None, prefix=prefix_text, route=Route(), dialect=dialect
        )
        entries = read_field(fields, self.rules, ConfigNode.entries) or {}
        rules = [
            rule
            for name, each in entries.items()
            if (rule := self._read_rule(name, each, default_rule))
        ]
        return ParsedConfig(
            default_rule if not is_context or self.rules in fields else None,
            tuple(rules),
            prefix,
            read_field(fields, "edit_notice", _read_notice, EDIT_NOTICE) if self.python else None,
            read_field(fields, self.override, ConfigNode.boolean) or False,
            dialect,
        )

    def _keys(self, is_context: bool) -> tuple[str, ...]:
        keys = (self.rules, *((self.prefix,) if self.prefix else ()))
        if is_context:
            return keys
        python = ("edit_notice", "interrupt_mode") if self.python else ()
        return (*keys, *python, self.override)

    def _read_rule(self, name: str, node: ConfigNode, default_rule: Rule) -> Rule | None:
        if not TOOL_NAME.fullmatch(name):
            return node.add_problem(
                "This is not a tool name: write the tool's full name, 1 to 128 of A-Z a-z 0-9 _ . : / -."
            )
        value = node.value
        if isinstance(value, bool):
            return self._make_rule(name, node, default_rule, self.everything if value else ())
        if not isinstance(value, Mapping):
            return node.add_problem(
                f"The configuration of a tool must be true, false or a mapping, not {node}."
            )
        keys = (self.allowed, "description", self.schema, "when")
        if self.strict:
            fields = node.fields(keys) if self._has_decisions(name, node) else {}
        else:
            fields = {k: v for k, v in (node.entries() or {}).items() if k == self.allowed}
        allowed = self._read_decisions(fields, node)
        if allowed is None:
            return None
        description = read_field(fields, "description", self._read_description)
        return self._make_rule(
            name,
            node,
            default_rule,
            allowed,
            description=description,
            when=read_field(fields, "when", _read_when),
            args_schema=read_field(fields, self.schema, read_args_schema),
        )

    def _has_decisions(self, name: str, node: ConfigNode) -> bool:
        """Whether the rule lists decisions. LangChain's own error is reported first: it names the keys, and
        one of them may be misspelled.
        """
        config = cast(Mapping[object, object], node.value)
        if not self.python or config.get(self.allowed):
            return True
        keys = _safe_repr(sorted(str(key) for key in config))
        node.add_problem(
            f"Invalid `interrupt_on` config for tool '{name}': `allowed_decisions` must be a non-empty list"
            f" of decision types (e.g. ['approve', 'reject']). Got config with keys {keys} and"
            f" allowed_decisions={_safe_repr(config.get(self.allowed))}."
        )
        return False

    def _read_decisions(
        self, fields: dict[str, ConfigNode], node: ConfigNode
    ) -> tuple[DecisionType, ...] | None:
        if self.allowed in fields:
            if self.missing is not None and fields[self.allowed].value == []:
                return ()
            return read_decisions(fields[self.allowed], self.known)
        if self.missing is None and not node.report.problems:
            node.add_problem(f"`{self.allowed}` is missing: without it nobody could decide.")
        return self.missing

    def _read_description(self, node: ConfigNode) -> str | RuleFunction | None:
        if callable(node.value):
            return _call_description(node.value)
        text = node.text()
        return text if text or self.empty_text else None

    def _make_rule(
        self,
        name: str,
        node: ConfigNode,
        default_rule: Rule,
        allowed: tuple[DecisionType, ...],
        **rule_fields: Any,
    ) -> Rule:
        """A tool without allowed decisions runs without a review."""
        return Rule(
            name=name,
            kind="review" if allowed else "allow",
            line=node.line,
            prefix=default_rule.prefix,
            route=default_rule.route,
            dialect=default_rule.dialect,
            allowed_decisions=allowed,
            **rule_fields,
        )


def _read_mode(node: ConfigNode) -> DialectName | None:
    mode = node.value
    if not isinstance(mode, str) or mode not in _MODES:
        return node.add_problem(
            f"`interrupt_mode` must be 'batched' or 'per_call', got {_safe_repr(mode)}."
        )
    return _MODES[mode]


def _read_notice(node: ConfigNode) -> str | None:
    return None if node.value is None else node.text()


def _read_when(node: ConfigNode) -> RuleFunction | None:
    """A predicate that gets LangChain's request; or a JSON Schema, as in our own policies."""
    function = node.value
    if not callable(function):
        return read_when_schema(node)

    def call_predicate(context: CallContext) -> object:
        request = SimpleNamespace(
            tool_call=_tool_call(context), tool=None, state=context.state, runtime=None
        )
        return function(request)

    return call_predicate


def _call_description(function: Callable[..., object]) -> RuleFunction:
    return lambda context: function(_tool_call(context), context.state, None)


def _tool_call(context: CallContext) -> dict[str, Any]:
    """The call in LangChain's format. The arguments are a copy: a callable can't change what will run."""
    call = context.call
    return {
        "name": call.name,
        "args": copy.deepcopy(call.args),
        "id": call.id,
        "type": "tool_call",
    }


def _safe_repr(value: object) -> str:
    try:
        return repr(value)[:500]
    except (ValueError, RecursionError):
        return "…"
