"""Configurations of the LangChain kind, which five systems write in their own words: a map of tools."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

from hitl_core.model import DecisionType, DialectName, Route
from hitl_core.model.call import TOOL_NAME
from hitl_core.policy.node import Node, take
from hitl_core.policy.read import DESCRIPTION_PREFIX
from hitl_core.policy.read_rule import (
    read_args_schema,
    read_decisions,
    read_when_schema,
)
from hitl_core.policy.reading import Reader, Reading
from hitl_core.policy.rule import Ask, Rule, Seen

#: langchain 1.4.2 and later, `_EDIT_NOTICE`.
EDIT_NOTICE = (
    "Note: a human reviewer replaced this tool call before it ran. The call recorded in your message is"
    " the one you produced, not the one that executed. This was intentional and authorized. Do not"
    " re-issue your original call."
)
_MODES: dict[str, DialectName] = {"batched": "langchain", "per_call": "langchain_per_call"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """How one system writes its configuration. `everything` is what `true` allows, `known` what it knows.

    `missing` is what a rule without a list of decisions means: None where that is an error. `strict`:
    an unknown key of a rule is an error.
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

    def reader(self) -> Reader:
        return self._read

    def _read(self, node: Node, inherited: Rule | None) -> Reading:
        run = inherited is not None
        fields = node.fields(
            self._keys(run), required=(self.rules,) if self.python and not run else ()
        )
        dialect = take(fields, "interrupt_mode", _mode) or self.dialect
        prefix = take(fields, self.prefix, Node.text) if self.prefix else None
        if run and not self.context_prefix:
            prefix = None
        standing = prefix if prefix is not None else DESCRIPTION_PREFIX
        if inherited is not None and prefix is None:
            standing = inherited.prefix
        free = Rule(
            name=None, kind="allow", line=None, prefix=standing, route=Route(), dialect=dialect
        )
        entries = take(fields, self.rules, Node.entries) or {}
        rules = [rule for name, each in entries.items() if (rule := self._rule(name, each, free))]
        return Reading(
            free if not run or self.rules in fields else None,
            tuple(rules),
            prefix,
            take(fields, "edit_notice", _notice, EDIT_NOTICE) if self.python else None,
            take(fields, self.override, Node.boolean) or False,
            dialect,
        )

    def _keys(self, run: bool) -> tuple[str, ...]:
        keys = (self.rules, *((self.prefix,) if self.prefix else ()))
        if run:
            return keys
        python = ("edit_notice", "interrupt_mode") if self.python else ()
        return (*keys, *python, self.override)

    def _rule(self, name: str, node: Node, free: Rule) -> Rule | None:
        if not TOOL_NAME.fullmatch(name):
            return node.problem(
                "No tool is ever called that: names are literal here, 1 to 128 of A-Z a-z 0-9 _ . : / -."
            )
        value = node.value
        if isinstance(value, bool):
            return self._made(name, node, free, self.everything if value else ())
        if not isinstance(value, Mapping):
            return node.problem(
                f"The configuration of a tool is true, false or a mapping, not {node}."
            )
        keys = (self.allowed, "description", self.schema, "when")
        if self.strict:
            fields = node.fields(keys) if self._named(name, node) else {}
        else:
            fields = {k: v for k, v in (node.entries() or {}).items() if k == self.allowed}
        allowed = self._decisions(fields, node)
        if allowed is None:
            return None
        description = take(fields, "description", self._description)
        return self._made(
            name,
            node,
            free,
            allowed,
            description=description,
            when=take(fields, "when", _when),
            args_schema=take(fields, self.schema, read_args_schema),
        )

    def _named(self, name: str, node: Node) -> bool:
        """LangChain's own complaint comes first: it names the keys, of which one may be misspelt."""
        config = cast(Mapping[object, object], node.value)
        if not self.python or config.get(self.allowed):
            return True
        keys = _shown(sorted(str(key) for key in config))
        node.problem(
            f"Invalid `interrupt_on` config for tool '{name}': `allowed_decisions` must be a non-empty list"
            f" of decision types (e.g. ['approve', 'reject']). Got config with keys {keys} and"
            f" allowed_decisions={_shown(config.get(self.allowed))}."
        )
        return False

    def _decisions(self, fields: dict[str, Node], node: Node) -> tuple[DecisionType, ...] | None:
        if self.allowed in fields:
            if self.missing is not None and fields[self.allowed].value == []:
                return ()
            return read_decisions(fields[self.allowed], self.known)
        if self.missing is None and not node.report.found:
            node.problem(f"`{self.allowed}` is missing: nobody could ever decide.")
        return self.missing

    def _description(self, node: Node) -> str | Ask | None:
        if callable(node.value):
            return _described(node.value)
        text = node.text()
        return text if text or self.empty_text else None

    def _made(
        self, name: str, node: Node, free: Rule, allowed: tuple[DecisionType, ...], **said: Any
    ) -> Rule:
        """A tool on which nothing may be decided is one that runs without asking."""
        return Rule(
            name=name,
            kind="review" if allowed else "allow",
            line=node.line,
            prefix=free.prefix,
            route=free.route,
            dialect=free.dialect,
            allowed_decisions=allowed,
            **said,
        )


def _mode(node: Node) -> DialectName | None:
    mode = node.value
    if not isinstance(mode, str) or mode not in _MODES:
        return node.problem(
            f"`interrupt_mode` must be 'batched' or 'per_call', got {_shown(mode)}."
        )
    return _MODES[mode]


def _notice(node: Node) -> str | None:
    return None if node.value is None else node.text()


def _when(node: Node) -> Ask | None:
    """LangChain's predicate takes a request; beside it we take a JSON Schema, as in a policy of ours."""
    function = node.value
    if not callable(function):
        return read_when_schema(node)

    def asked(seen: Seen) -> object:
        request = SimpleNamespace(
            tool_call=_tool_call(seen), tool=None, state=seen.state, runtime=None
        )
        return function(request)

    return asked


def _described(function: Callable[..., object]) -> Ask:
    return lambda seen: function(_tool_call(seen), seen.state, None)


def _tool_call(seen: Seen) -> dict[str, Any]:
    """As LangChain has it; a copy, so that what a callable does to it never reaches what will run."""
    call = seen.call
    return {
        "name": call.name,
        "args": copy.deepcopy(call.args),
        "id": call.id,
        "type": "tool_call",
    }


def _shown(value: object) -> str:
    try:
        return repr(value)[:500]
    except (ValueError, RecursionError):
        return "…"
