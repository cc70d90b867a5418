"""The result of reading a configuration, and the type of the functions that read one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hitl_core.model import DialectName
from hitl_core.policy.reader.config_node import ConfigNode
from hitl_core.policy.rule import Rule
from hitl_core.policy.rule_index import RuleIndex


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
