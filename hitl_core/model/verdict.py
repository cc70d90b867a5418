"""The policy's answer about one call."""

from __future__ import annotations

from typing import Literal

from hitl_core.model.value import Value


class Verdict(Value):
    """`rule` is the name of the rule in the policy; None if the policy's default decided. `retry`: the model
    may call the tool again, with other arguments.
    """

    kind: Literal["allow", "review", "deny"]
    rule: str | None
    reason: str
    retry: bool = False
