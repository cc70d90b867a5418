"""What the policy says about one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from hitl_core.model import DecisionType, Output, Route, Verdict


@dataclass(frozen=True, slots=True)
class Ruling:
    """Everything that is frozen into the review when the call is submitted. Nobody changes its schemas.

    `description` tells people why they are asked. `allowed_decisions` is empty unless the verdict
    is `review`, and never empty then. `says_reviewers`: its rule itself says who may decide.
    `needs_requester`: it says that the requester must not, so who that is has to be known. `line` is where
    the rule stands, None without a file. `unsure`: its `when` failed, so it may not be the rule that speaks.
    `says_no`, of an interrupt: the rule lets people reject or skip the call, whatever the interrupt takes.
    `trusts_tools`: the policy vouches for the tools' own schemas. `computed`: Python code of the policy made
    its description, and may have quoted the arguments. The rest is as in `ActionRequest` and
    `ReviewConfig`.
    """

    verdict: Verdict
    description: str
    allowed_decisions: tuple[DecisionType, ...]
    args_schema: dict[str, Any] | None
    reject_reason: Literal["optional", "required"]
    route: Route
    idempotent: bool
    line: int | None
    answer_schema: dict[str, Any] | None = None
    output: Output | None = None
    text: str | None = None
    title: str | None = None
    interrupt_id: str | None = None
    takes: tuple[DecisionType, ...] = ()
    extra: dict[str, Any] | None = None
    must_read: bool = False
    confirm: bool = False
    redact: tuple[str, ...] = ()
    says_reviewers: bool = False
    needs_requester: bool = False
    unsure: bool = False
    says_no: bool = False
    policy_schema: dict[str, Any] | None = None
    trusts_tools: bool = False
    by_agent: bool = False
    computed: bool = False
