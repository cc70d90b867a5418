"""The policy's full answer about one call."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from hitl_core.model import DecisionType, DisplayHint, Output, Route, Verdict


class Ruling(NamedTuple):
    """Frozen into the review when the call is submitted. Do not change its schemas.

    - `description`: tells people why they are asked;
    - `allowed_decisions`: never empty if the verdict is `review`, otherwise always empty;
    - `says_reviewers`, `says_description`: the rule itself has `reviewers`, or a description;
    - `needs_requester`: the requester must not decide, so the requester must be known;
    - `line`: the rule's line in the file; None without a file;
    - `unsure`: why it is unknown whether the rule matches (its `when` failed); "" if it is known;
    - `says_no`: for an interrupt: the rule allows reject or ignore, even if the interrupt can't express it;
    - `trusts_tools`: the policy trusts the tools' own schemas;
    - `by_agent`: the agent wrote the description, in an interrupt or in a run's context;
    - `must_read`: None if the rule doesn't say it; it then counts as true, see `needs_reading`;
    - `computed`: Python code of the policy wrote the description, so it may quote the arguments.

    To make a ruling from two, use `_replace` of the policy's ruling, never of the agent's: then a forgotten
    field stays as the policy says. tests/policy/test_marks.py checks every function that does this.

    The other fields: see `ActionRequest` and `ReviewConfig`.
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
    accepted_decisions: tuple[DecisionType, ...] = ()
    extra: dict[str, Any] | None = None
    must_read: bool | None = None
    confirm: bool = False
    redact: tuple[str, ...] = ()
    display: tuple[DisplayHint, ...] = ()
    hide_when_decided: bool = False
    says_reviewers: bool = False
    says_description: bool = False
    needs_requester: bool = False
    unsure: str = ""
    says_no: bool = False
    policy_schema: dict[str, Any] | None = None
    hiding_schema: dict[str, Any] | None = None
    trusts_tools: bool = False
    by_agent: bool = False
    answer_by_agent: bool = False
    computed: bool = False

    @property
    def needs_reading(self) -> bool:
        """Whether only a person who has opened everything may approve what a card cuts."""
        return self.must_read is not False
