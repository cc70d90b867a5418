"""Reads a configuration in our own format, and checks a run's context: it comes from the agent, so it can
only make rules stricter. All problems are reported together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hitl_core.model import TOOL_NAME, DialectName, Route
from hitl_core.policy.glob import covers, is_glob, literal_start
from hitl_core.policy.reader.config_node import ConfigNode, read_field
from hitl_core.policy.reader.read_rule import read_rule
from hitl_core.policy.reader.report import Report
from hitl_core.policy.reader.route import KEYS as ROUTE_KEYS
from hitl_core.policy.reader.route import excludes_requester, read_route
from hitl_core.policy.rule import Kind, Rule
from hitl_core.policy.rule_index import RuleIndex

KEYS = (
    "default",
    "description_prefix",
    "interrupt_on",
    "allow_override",
    "trust_tool_schemas",
    "edit_notice",
    "hide_when_decided",
    *ROUTE_KEYS,
)
#: The keys that a run's context may have.
CONTEXT_KEYS = ("default", "description_prefix", "interrupt_on")
MAX_NAME = 128
DESCRIPTION_PREFIX = "Tool execution requires approval"
_KINDS: tuple[Kind, ...] = ("allow", "review", "deny")
_GLOB = re.compile(r"[A-Za-z0-9_.:/*?-]+")


@dataclass(frozen=True, slots=True, eq=False)
class ParsedConfig:
    """The content of a policy, or of one run's context. In a context `default` and `prefix` may be None.

    `dialect` is set if the configuration itself names it.
    """

    default: Rule | None
    rules: tuple[Rule, ...]
    prefix: str | None = None
    edit_notice: str | None = None
    allow_override: bool = False
    dialect: DialectName | None = None
    rule_index: RuleIndex = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rule_index", RuleIndex(self.rules))

    def rules_for(self, tool: str) -> tuple[Rule, ...]:
        """The rules that can match a tool, in their order."""
        rules = self.rule_index.rules_for(tool)
        return rules if self.default is None else (*rules, self.default)


#: Reads a configuration and adds its problems to the node's report. The second argument is the policy's
#: default for a run's context, and None for a whole policy.
ConfigReader = Callable[[ConfigNode, Rule | None], ParsedConfig]

#: Never allowed, not even with `allow_override`: with them people would see less, or decide about something
#: else.
_NEVER_ALLOWED = ("redact", "display", "hide_when_decided", "answer_schema", "output")
#: Allowed only with `allow_override`: cards show the description as the policy's own text.
_POLICY_ONLY = ("description", "idempotent")
_POLICY_ROUTE_KEYS = ("notify", "escalate", "remind", "clock", "fallback", "expire")


def read_policy(node: ConfigNode, inherited: Rule | None) -> ParsedConfig:
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
        hide_when_decided=read_field(fields, "hide_when_decided", ConfigNode.boolean) or False,
    )
    entries = read_field(fields, "interrupt_on", ConfigNode.entries) or {}
    rules: list[Rule] = []
    globs = dict[str, list[Rule]]()
    for name, each in entries.items():
        # The context of a run is written by programs, and comparing its globs with each other takes long.
        if problem := _name_problem(name) or (is_policy and _shadow_problem(name, globs)):
            each.add_problem(problem)
        elif rule := read_rule(name, each, default):
            rules.append(rule)
            if is_glob(name) and rule.when is None:
                globs.setdefault(literal_start(name), []).append(rule)
    notice = read_field(fields, "edit_notice", ConfigNode.text)
    override = read_field(fields, "allow_override", ConfigNode.boolean) or False
    node.report.check()
    return ParsedConfig(
        default if is_policy or kind else None, tuple(rules), prefix, notice, override
    )


def _read_kind(node: ConfigNode) -> Kind | None:
    return node.one_of(_KINDS)


def _name_problem(name: str) -> str | None:
    """The problem of a rule's name; None if there is none."""
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


def _shadow_problem(name: str, earlier: Mapping[str, Sequence[Rule]]) -> str | None:
    """Why a glob can never match, None if it can. An exact name can always match, because it comes before
    globs. `earlier`: the globs before it without `when`, by what they begin with.
    """
    if not is_glob(name):
        return None
    start = literal_start(name)
    begin_alike = (rule for n in range(len(start) + 1) for rule in earlier.get(start[:n], ()))
    rule = next((one for one in begin_alike if covers(one.name or "", name)), None)
    if rule is None:
        return None
    line = f" on line {rule.line}" if rule.line else ""
    return (
        f"This rule can never match: `{rule.name}`{line} comes first and matches the same tools."
        " Put this rule before it, or remove it."
    )


def check_context(
    reading: ParsedConfig, default_rule: Rule, report: Report, *, override: bool
) -> None:
    """Report each key that a run must not set, by tool and by our name of the key."""
    if reading.prefix is not None and not override:
        report.add(("description_prefix",), _explain("description_prefix"))
    for rule in reading.rules:
        for word in _forbidden_keys(rule, default_rule, override):
            report.add((str(rule.name), word), _explain(word))


def _forbidden_keys(rule: Rule, default_rule: Rule, override: bool) -> Iterator[str]:
    words = _NEVER_ALLOWED if override else (*_NEVER_ALLOWED, *_POLICY_ONLY)
    yield from (word for word in words if getattr(rule, word) not in (None, (), False))
    route, own = rule.route, default_rule.route
    if rule.dialect is None:
        yield from (
            word for word in _POLICY_ROUTE_KEYS if getattr(route, word) != getattr(own, word)
        )
    if rule.kind == "review" and "reject" not in rule.allowed_decisions:
        yield "allowed_decisions"


def _explain(word: str) -> str:
    if word == "allowed_decisions":
        return "A run's own configuration can't remove `reject`: add it."
    if word in _POLICY_ROUTE_KEYS:
        return f"Only the policy can set `{word}`: remove it from the run's own configuration."
    return (
        f"A run's own configuration can only make a rule stricter, but `{word}` changes what people see or"
        " decide: remove it, or set it in the policy."
    )
