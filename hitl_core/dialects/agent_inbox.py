"""The dialect: interrupts and answers of Agent Inbox ↔ ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from hitl_core.dialects.parts import (
    FinalDecision,
    InterruptAction,
    Json,
    build_request,
    check_wire,
    common_decisions,
    dialect_description,
    dump_each,
    ensure_sendable,
    interrupt_decisions,
    is_object,
    original_args,
    parse_json,
    read_envelope,
    read_optional_text,
)
from hitl_core.errors import DialectError, UnsupportedByDialect
from hitl_core.gate import JudgedCalls
from hitl_core.model import Action, DecisionType, DialectName, Review, ToolCall, read_arguments
from hitl_core.policy import Policy

FLAGS: dict[str, DecisionType] = {
    "allow_accept": "approve",
    "allow_edit": "edit",
    "allow_respond": "respond",
    "allow_ignore": "ignore",
}
#: The page shows this interrupt for a value that it can't read: it offers only Ignore.
IMPROPER_INTERRUPT: Json = {
    "action_request": {"action": "improper_schema", "args": {}},
    "config": {
        "allow_ignore": True,
        "allow_respond": False,
        "allow_edit": False,
        "allow_accept": False,
    },
}
_KNOWN_DECISIONS: tuple[DecisionType, ...] = ("approve", "edit", "respond", "ignore", "reject")


class AgentInbox:
    name: DialectName = "agent_inbox"

    def load_policy(self, config: Mapping[str, Any], *, name: str = "policy") -> Policy:
        raise UnsupportedByDialect(
            self.name,
            "policy",
            "Agent Inbox has no configuration of its own: each interrupt says what it allows.",
        )

    def dump_request(self, review: Review) -> list[Json]:
        return ensure_sendable(
            [_dump_interrupt(review, action) for action in review.actions], self.name
        )

    def load_request(
        self, wire: object, thread_id: str, calls: Sequence[ToolCall] = ()
    ) -> JudgedCalls:
        """A HumanInterrupt, a list of them, or either as JSON text. Any other value becomes an action that
        can only be ignored, as on Agent Inbox's own page.
        """
        value = check_wire(wire, javascript=True)
        interrupts = find_interrupts(value)
        if interrupts is None:
            interrupts = [IMPROPER_INTERRUPT]
        return build_request(
            self.name, [_load_action(each) for each in interrupts], thread_id, calls
        )

    @property
    def can_rename(self) -> bool:
        return False

    def dump_decision(self, review: Review, action: Action, final: FinalDecision) -> Json | None:
        """Agent Inbox has no rejection, so a rejected action is ignored. If the interrupt is ours and offers
        a response in place of a rejection, the reason is sent as that response.
        """
        allowed = interrupt_decisions(action)
        if final.name != action.request.name:
            return None
        request = {"action": action.request.title or final.name, "args": final.args}
        match final.kind:
            case "approve" if "approve" in allowed:
                return {"type": "accept", "args": request if "edit" in allowed else None}
            case "edit" if "edit" in allowed:
                return {"type": "edit", "args": request}
            case "respond" if "respond" in allowed:
                return {"type": "response", "args": final.message or ""}
            case "reject" if final.message and "reject" in allowed:
                return {"type": "response", "args": final.message}
            case "reject" | "ignore" if "ignore" in allowed:
                return {"type": "ignore", "args": None}
            case _:
                return None

    def dump_decisions(self, review: Review) -> list[Json]:
        """A cancelled review has no answer: end the thread, as "Mark as Resolved" does, with
        `updateState(threadId, {values: null, asNode: END})`.
        """
        if review.cancelled is not None:
            raise UnsupportedByDialect(
                self.name,
                "cancel",
                "Agent Inbox has no answer that cancels: end the thread instead.",
            )
        return ensure_sendable(dump_each(self, review), self.name)


def find_interrupts(wire: object) -> list[Json] | None:
    """The HumanInterrupts in this value; None if it has anything else."""
    value = wire
    if isinstance(value, str):
        try:
            value = check_wire(parse_json(value), javascript=True)
        except DialectError:
            return None
    each = cast(list[object], value) if isinstance(value, list) else [value]
    known = [one for one in each if is_object(one, "action_request", "config")]
    return known if known and len(known) == len(each) else None


def _dump_interrupt(review: Review, action: Action) -> Json:
    """Agent Inbox has no rejection, so a response is offered in place of it."""
    allowed = set(common_decisions("agent_inbox", action, _KNOWN_DECISIONS))
    if "reject" in allowed:
        allowed.add("respond")
    title = action.request.title or action.request.name
    interrupt: Json = {
        "action_request": {"action": title, "args": original_args(review, action)},
        "config": {
            "allow_ignore": "ignore" in allowed,
            "allow_respond": "respond" in allowed,
            "allow_edit": "edit" in allowed,
            "allow_accept": "approve" in allowed,
        },
    }
    text = dialect_description(review, action)
    return {**interrupt, "description": text} if text else interrupt


def _load_action(interrupt: Json) -> InterruptAction:
    read_envelope(interrupt, "A HumanInterrupt")
    request = read_envelope(interrupt["action_request"], "`action_request`")
    config = read_envelope(interrupt["config"], "`config`")
    title = request.get("action")
    if not isinstance(title, str):
        raise DialectError("An `action_request` has no `action`.")
    # A title may be a sentence: characters that a tool's name can't have become "_".
    name = re.sub(r"[^A-Za-z0-9_.:/-]", "_", title)[:128] or "_"
    return InterruptAction(
        name=name,
        args=read_arguments(request, "args", tool=title),
        description=read_optional_text(interrupt.get("description"), "A description"),
        allowed=tuple(kind for flag, kind in FLAGS.items() if config.get(flag) is True),
        title=title if title != name else None,
    )


dialect = AgentInbox()
