"""One rule: which calls it is about, and what it says of them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from hitl_core.model import DecisionType, Route, ToolCall, Verdict
from hitl_core.model.arguments import JsonObject
from hitl_core.policy.ruling import Ruling

Kind = Literal["allow", "review", "deny"]
#: What may be decided where the policy doesn't say.
DEFAULT_DECISIONS: tuple[DecisionType, ...] = ("approve", "edit", "reject")

_SAYS: dict[Kind, str] = {
    "allow": "allows it without asking",
    "review": "asks for a person",
    "deny": "denies it",
}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Rule:
    """`name` is a tool's name or a glob, None for the default. The callables may raise."""

    name: str | None
    kind: Kind
    line: int | None
    prefix: str
    route: Route
    description: str | Callable[[JsonObject], str] = ""
    when: Callable[[JsonObject], object] | None = None
    allowed_decisions: tuple[DecisionType, ...] = DEFAULT_DECISIONS
    args_schema: dict[str, Any] | None = None
    reject_reason: Literal["optional", "required"] = "optional"
    idempotent: bool = False

    def judge(self, call: ToolCall) -> Ruling | None:
        """None where `when` is not met. A `when` that fails counts as met: in doubt, ask."""
        failure = ""
        if self.when is not None:
            try:
                if not self.when(call.args):
                    return None
            except Exception as error:  # its text may hold arguments, so only its kind is told
                failure = f" Its `when` failed ({type(error).__name__}), which counts as met."
        description = self._describe(call.args)
        subject = f"The rule `{self.name}`" if self.name else "No rule matched; the default"
        reason = description or f"{subject} {_SAYS[self.kind]}."
        return Ruling(
            verdict=Verdict(kind=self.kind, rule=self.name, reason=reason + failure),
            description=description or self.prefix,
            allowed_decisions=self.allowed_decisions if self.kind == "review" else (),
            args_schema=copy.deepcopy(self.args_schema),
            reject_reason=self.reject_reason,
            route=self.route,
            idempotent=self.idempotent,
            line=self.line,
        )

    def _describe(self, args: JsonObject) -> str:
        if isinstance(self.description, str):
            return self.description
        try:
            text = self.description(args)
            # Half a surrogate pair, from the arguments, could be neither stored nor shown.
            return text.encode("utf-8", "backslashreplace").decode("utf-8").strip()
        except Exception:  # a review without its description is better than none
            return ""
