"""The policy: which of an agent's tool calls need a person."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, cast

from hitl_core.errors import PolicyError
from hitl_core.model import DialectName, ToolCall
from hitl_core.policy.combine_rulings import combine_unsure, override_ruling, tighten
from hitl_core.policy.context_limits import check_context
from hitl_core.policy.reader.config_node import ConfigNode
from hitl_core.policy.reader.parsed_config import ConfigReader, ParsedConfig
from hitl_core.policy.reader.read_policy import read_policy
from hitl_core.policy.reader.report import Report
from hitl_core.policy.rule import CallContext, Rule
from hitl_core.policy.rule_index import RuleIndex, until_unconditional
from hitl_core.policy.ruling import Ruling
from hitl_core.policy.stored_rule import dump_rule, load_rule


@dataclass(frozen=True, slots=True, eq=False)
class Policy:
    """`rules` are in the order of the file; `default` speaks where none of them matches.

    `digest` is the SHA-256, in hex, of the source; of a callable it covers the name only. `dialect` is the
    system whose configuration it was, None where it is ours. `over` is what one run's context says, and
    `spent` what its checks have in common: one budget for all calls, as it comes from outside.
    """

    name: str
    default: Rule
    rules: tuple[Rule, ...]
    digest: str
    dialect: DialectName | None = None
    edit_notice: str | None = None
    allow_override: bool = False
    read: ConfigReader = read_policy
    run_context: ParsedConfig | None = None
    run_budget: dict[str, Any] | None = None
    _rule_index: RuleIndex = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_rule_index", RuleIndex(self.rules))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """From a YAML file. Raises PolicyError with file, line and key of what is wrong."""
        from hitl_core.policy.reader.yaml_document import (
            MAX_BYTES,  # with PyYAML, only where it is needed
        )

        report = Report(str(path))
        try:
            with open(path, "rb") as file:
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            report.fail("There is no such file.")
        except IsADirectoryError:
            report.fail("This is a directory; a policy is a YAML file.")
        except OSError as error:
            report.fail(f"The file can't be read: {error.strerror or error}.")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            report.fail("The file is not UTF-8 text.")
        return cls.from_yaml(text, name=str(path))

    @classmethod
    def from_yaml(cls, text: str, *, name: str = "policy") -> Self:
        """From YAML. Raises PolicyError with the line and the key of what is wrong."""
        from hitl_core.policy.reader.yaml_document import parse_yaml

        report = Report(name)
        return cls._of(ConfigNode(parse_yaml(text, report), (), report), text, read_policy)

    @classmethod
    def from_mapping(
        cls,
        config: Mapping[str, Any],
        *,
        name: str = "policy",
        read: ConfigReader = read_policy,
        dialect: DialectName | None = None,
    ) -> Self:
        """From Python: the same keys. Raises PolicyError with the key of what is wrong.

        A rule's `when` may be a callable `(args) -> bool` here, and its `description` one
        `(args) -> str`, sync or async, called once a call with arguments of its own. What else than True or
        False a `when` answers counts as met. Only a gate can wait for an async one. A dialect gives its
        own `read`.
        """
        return cls._of(ConfigNode(config, (), Report(name)), config, read, dialect)

    @classmethod
    def _of(
        cls,
        node: ConfigNode,
        source: object,
        read: ConfigReader,
        dialect: DialectName | None = None,
    ) -> Self:
        reading = read(node, None)
        node.report.check()
        assert reading.default is not None  # every reader has one where nothing is inherited
        return cls(
            node.report.file,
            reading.default,
            reading.rules,
            _digest(source, node.report),
            reading.dialect or dialect,
            reading.edit_notice,
            reading.allow_override,
            read,
        )

    def for_run(self, context: Mapping[str, Any]) -> Self:
        """This policy under one run's own configuration, in the words of its dialect.

        It may only tighten: of the two rulings the stricter counts. With `allow_override: true` in the
        policy, what the context says of a tool replaces what the policy does. Raises PolicyError, also for
        what would change what people see: hidden values, answers, and texts in the policy's voice. Its
        `when`s have one budget for all calls that are judged; one that is beyond it counts as met.
        """
        report = Report("context", bounded=True)
        reading = self.read(ConfigNode(context, (), report), self.default)
        report.check()
        check_context(reading, self.default, report, override=self.allow_override)
        report.check()
        return replace(self, run_context=reading, run_budget={"outside": True})

    def judge(self, call: ToolCall, state: object = None) -> Ruling:
        """One ruling for every call. The first rule that matches speaks. `state` is the agent's, for
        callables that want it. Raises PolicyError where a callable has to be awaited, and nothing else.
        """
        coroutine = self.judge_async(call, state)
        try:
            coroutine.send(None)
        except StopIteration as done:
            return done.value
        coroutine.close()
        raise PolicyError(
            f"{self.name}: a `when` or `description` about `{call.name}` is async, and only a gate can wait"
            " for it: submit the call, or make it a plain function."
        )

    async def judge_async(self, call: ToolCall, state: object = None) -> Ruling:
        """The same, waiting for callables that are async."""
        run_context = self.run_context
        context = CallContext(call, {}, state, run_context.prefix if run_context else None)
        ruling = await _first_ruling(
            (*self._rule_index.rules_for(call.name), self.default), context
        )
        assert ruling is not None  # the default has no `when`
        if run_context is None:
            return ruling
        if self.run_budget is not None:
            context = context._replace(shared=self.run_budget)
        run_ruling = await _first_ruling(run_context.rules_for(call.name), context)
        if run_ruling is None:
            return ruling
        # What nobody could check is not what the policy's word was given for.
        replaces = self.allow_override and not run_ruling.unsure
        return override_ruling(ruling, run_ruling) if replaces else tighten(ruling, run_ruling)

    def preload_rules(self, tool: str) -> None:
        """Look its rules up, which takes a while, so that `judge` and `excerpt` have them at hand."""
        self._rule_index.rules_for(tool)
        if self.run_context is not None:
            self.run_context.rules_for(tool)

    def can_edit_into(self, tool: str) -> bool:
        """Whether an edit may make a call of this tool, at least with some arguments. No `when` is asked."""
        own = _can_edit((*self._rule_index.rules_for(tool), self.default))
        if self.run_context is None:
            return own
        run = self.run_context.rules_for(tool)
        if self.allow_override:
            return own or _can_edit(run)
        return own and (_can_edit(run) or not any(rule.when is None for rule in run))

    def excerpt(self, tools: Iterable[str]) -> str:
        """All that it says of these tools, the run's context with it, as JSON text: `from_excerpt` of that
        judges every call of them as this policy does. A `when` that is Python code can't be written down;
        there the rule may match any call, which only tightens.
        """
        names = tuple(tools)
        kept: dict[str, Any] = {
            "default": dump_rule(self.default),
            "rules": _dump_rules(self._rule_index, names),
        }
        if self.run_context is not None:
            default, prefix = self.run_context.default, self.run_context.prefix
            kept["over"] = {
                "default": default and dump_rule(default),
                "rules": _dump_rules(self.run_context.rule_index, names),
                "prefix": prefix,
                "replaces": self.allow_override,
            }
        return json.dumps(kept)

    @classmethod
    def from_excerpt(cls, text: str) -> Self:
        """What `excerpt` wrote."""
        kept: dict[str, Any] = json.loads(text)
        over = kept.get("over")
        return cls(
            "the review",
            load_rule(kept["default"]),
            tuple(map(load_rule, kept["rules"])),
            digest="",
            allow_override=bool(over and over["replaces"]),
            run_context=over
            and ParsedConfig(
                over["default"] and load_rule(over["default"]),
                tuple(map(load_rule, over["rules"])),
                over["prefix"],
            ),
        )


def _dump_rules(rules: RuleIndex, tools: Iterable[str]) -> list[dict[str, Any]]:
    """Those that may speak of one of these tools, each once, and of each tool in their order."""
    rules_by_id = {
        id(rule): rule for tool in tools for rule in until_unconditional(rules.rules_for(tool))
    }
    return [dump_rule(rule) for rule in rules.sort_rules(rules_by_id.values())]


def _can_edit(rules: Iterable[Rule]) -> bool:
    """Whether one of them, up to the first that always speaks, takes an edited call. The default takes no
    decision away from a call that is asked about.
    """
    return any(
        rule.kind == "allow"
        or (rule.kind == "review" and (rule.name is None or "edit" in rule.allowed_decisions))
        for rule in until_unconditional(rules)
    )


async def _first_ruling(rules: Iterable[Rule], context: CallContext) -> Ruling | None:
    """The first that matches. One whose `when` failed may match or not: the search goes on, and tightens."""
    unsure: Ruling | None = None
    for rule in rules:
        ruling = await rule.judge(context)
        if ruling is not None and unsure is not None:
            ruling = combine_unsure(ruling, unsure)
        if ruling is not None and not ruling.unsure:
            return ruling
        unsure = ruling or unsure
    return unsure


def _digest(source: object, report: Report) -> str:
    try:
        text = source if isinstance(source, str) else json.dumps(source, default=_to_plain_json)
    except (TypeError, ValueError, RecursionError):
        report.fail("This can't be written as JSON: it nests too deeply, or in a circle.")
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _to_plain_json(value: object) -> object:
    """For the digest: other mappings as objects, callables by their name."""
    if isinstance(value, Mapping):
        return dict(cast(Mapping[str, object], value))
    module = getattr(value, "__module__", type(value).__module__)
    return f"{module}.{getattr(value, '__qualname__', type(value).__qualname__)}"
