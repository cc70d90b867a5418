"""The policy: decides which of an agent's tool calls need a person."""

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
from hitl_core.policy.reader import (
    MAX_BYTES,
    ConfigNode,
    ConfigReader,
    ParsedConfig,
    Report,
    check_context,
    parse_yaml,
    read_policy,
)
from hitl_core.policy.rule import CallContext, Rule
from hitl_core.policy.rule_index import RuleIndex, until_unconditional
from hitl_core.policy.ruling import Ruling


@dataclass(frozen=True, slots=True, eq=False)
class Policy:
    """`rules` are in the order of the file. `default` applies if no rule matches.

    - `hash`: the SHA-256 of the source, in hex. Of a callable only the name counts;
    - `dialect`: the system whose configuration it was; None for our own format;
    - `run_context`: the configuration of one run;
    - `run_budget`: shared by all checks of the run's context. It is one budget for all calls, because the
      context comes from outside.
    """

    name: str
    default: Rule
    rules: tuple[Rule, ...]
    hash: str
    dialect: DialectName | None = None
    edit_notice: str | None = None
    allow_override: bool = False
    read: ConfigReader = read_policy
    run_context: ParsedConfig | None = None
    run_budget: dict[str, Any] | None = None
    rule_index: RuleIndex = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rule_index", RuleIndex(self.rules))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a YAML file. Raises PolicyError with file, line and key of the problems."""
        report = Report(str(path))
        path = Path(path)  # a TypeError for a number, which `open` takes for an open file
        try:
            with open(path, "rb") as file:
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            report.fail("The file does not exist.")
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
        """Read YAML text. Raises PolicyError with line and key of the problems."""
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
        """Read a Python mapping with the same keys. Raises PolicyError with the key of the problems.

        Here a rule's `when` may be a callable `(args) -> bool`, and its `description` a callable
        `(args) -> str`. Both may be async, which only a gate supports. They are called once for each call,
        with a copy of the arguments. If a `when` returns neither True nor False, it counts as True. A dialect
        passes its own `read`.
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
        assert reading.default is not None  # a reader without an inherited default always makes one
        return cls(
            node.report.file,
            reading.default,
            reading.rules,
            _hash_of(source, node.report),
            reading.dialect or dialect,
            reading.edit_notice,
            reading.allow_override,
            read,
        )

    def for_run(self, context: Mapping[str, Any]) -> Self:
        """This policy together with one run's own configuration, in the format of the policy's dialect.

        The context can only make rules stricter: the stricter of the two rulings counts. If the policy has
        `allow_override: true`, the context's rule for a tool replaces the policy's.

        Raises PolicyError, also for keys that would change what people see (see `check_context`). All `when`s
        of the context share one budget. If it is used up, a `when` counts as True.
        """
        report = Report("context", bounded=True)
        reading = self.read(ConfigNode(context, (), report), self.default)
        report.check()
        check_context(reading, self.default, report, override=self.allow_override)
        report.check()
        return replace(self, run_context=reading, run_budget={"outside": True})

    def judge(self, call: ToolCall, state: object = None) -> Ruling:
        """The ruling on a call: the first rule that matches decides. `state` is the agent's state, for
        callables that need it. Raises PolicyError only if a callable is async.
        """
        coroutine = self.judge_async(call, state)
        try:
            coroutine.send(None)
        except StopIteration as done:
            return done.value
        coroutine.close()
        raise PolicyError(
            f"{self.name}: a `when` or `description` about `{call.name}` is async, which only a gate"
            " supports: submit the call to a gate, or use a plain function."
        )

    async def judge_async(self, call: ToolCall, state: object = None) -> Ruling:
        """Like `judge`, also with async callables."""
        run_context = self.run_context
        context = CallContext(call, {}, state, run_context.prefix if run_context else None)
        ruling = await _first_ruling(self.rules_for(call.name), context)
        assert ruling is not None  # the default has no `when`
        if run_context is None:
            return ruling
        shared = context.shared if self.run_budget is None else self.run_budget
        run_ruling = await _first_ruling(
            run_context.rules_for(call.name), context._replace(shared=shared, by_agent=True)
        )
        if run_ruling is None:
            return ruling
        # `allow_override` does not apply if the context's `when` could not be checked.
        replaces = self.allow_override and not run_ruling.unsure
        return override_ruling(ruling, run_ruling) if replaces else tighten(ruling, run_ruling)

    def rules_for(self, tool: str) -> tuple[Rule, ...]:
        return (*self.rule_index.rules_for(tool), self.default)

    def preload_rules(self, tool: str) -> bool:
        """Look up the tool's rules now, which takes a while, so that `judge` and `dump_kept_policy` are fast.
        False if they were looked up before.
        """
        configs = (self, self.run_context) if self.run_context else (self,)
        is_new = not all(config.rule_index.knows(tool) for config in configs)
        for config in configs:
            config.rules_for(tool)
        return is_new

    def can_hide(self, tool: str) -> bool:
        """Whether a rule for this tool hides values, of some arguments at least. No `when` is called."""
        return any(rule.can_hide for rule in self.rules_for(tool))

    @property
    def trusts_tools(self) -> bool:
        """Whether the policy also hides what the tools' own schemas hide."""
        return self.default.trusts_tools

    def always_allows(self, tool: str) -> bool:
        """Whether calls of this tool need no review, whatever their arguments. No `when` is called."""
        rules = until_unconditional(self.rules_for(tool))
        return all(rule.kind == "allow" for rule in rules)

    def can_edit_into(self, tool: str) -> bool:
        """Whether an edit can change a call to this tool, with at least some arguments. No `when` is
        called.
        """
        own = _can_edit(self.rules_for(tool))
        if self.run_context is None:
            return own
        run = self.run_context.rules_for(tool)
        if self.allow_override:
            return own or _can_edit(run)
        return own and (_can_edit(run) or not any(rule.when is None for rule in run))


def _can_edit(rules: Iterable[Rule]) -> bool:
    """Whether one of these rules, up to the first without a `when`, accepts an edited call. The default
    always accepts it, because a default never removes a decision.
    """
    return any(
        rule.kind == "allow"
        or (rule.kind == "review" and (rule.name is None or "edit" in rule.allowed_decisions))
        for rule in until_unconditional(rules)
    )


async def _first_ruling(rules: Iterable[Rule], context: CallContext) -> Ruling | None:
    """The ruling of the first rule that matches. If a `when` failed, its rule may match or not: then the next
    rule counts too, and the stricter result is used.
    """
    unsure: Ruling | None = None
    for rule in rules:
        ruling = await rule.judge(context)
        if ruling is not None and unsure is not None:
            ruling = combine_unsure(ruling, unsure)
        if ruling is not None and not ruling.unsure:
            return ruling
        unsure = ruling or unsure
    return unsure


def _hash_of(source: object, report: Report) -> str:
    try:
        text = source if isinstance(source, str) else json.dumps(source, default=_to_plain_json)
    except (TypeError, ValueError, RecursionError):
        report.fail("This can't be written as JSON: it is nested too deeply, or contains itself.")
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _to_plain_json(value: object) -> object:
    """JSON for the hash: mappings become objects, callables their name."""
    if isinstance(value, Mapping):
        return dict(cast(Mapping[str, object], value))
    module = getattr(value, "__module__", type(value).__module__)
    return f"{module}.{getattr(value, '__qualname__', type(value).__qualname__)}"
