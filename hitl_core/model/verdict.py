"""The policy's answer for one call."""

from __future__ import annotations

from typing import Literal

from hitl_core.model.value import Value


class Verdict(Value):
    """`rule` is the rule's name in the policy, None where the default spoke. `retry`: the model may call
    again, with other arguments."""

    kind: Literal["allow", "review", "deny"]
    rule: str | None
    reason: str
    retry: bool = False
