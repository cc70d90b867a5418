"""What a reader makes of a configuration, and what every reader is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hitl_core.model import DialectName
from hitl_core.policy.node import Node
from hitl_core.policy.rule import Rule
from hitl_core.policy.rules import Rules


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """Of a whole policy; or of one run's context, where `default` and `prefix` may be None: not said.

    `dialect` is set where the configuration itself says which one it is.
    """

    default: Rule | None
    rules: tuple[Rule, ...]
    prefix: str | None = None
    edit_notice: str | None = None
    allow_override: bool = False
    dialect: DialectName | None = None
    found: Rules = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "found", Rules(self.rules))

    def about(self, tool: str) -> tuple[Rule, ...]:
        """The rules that may speak about a tool, in their order."""
        found = self.found.about(tool)
        return found if self.default is None else (*found, self.default)


#: Reads a configuration, adding what is wrong to the node's report. The rule is the default of the policy
#: that a run's context is about, None for a whole policy.
Reader = Callable[[Node, Rule | None], Reading]
