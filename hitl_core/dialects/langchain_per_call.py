"""LangChain for Python with `interrupt_mode="per_call"`: one interrupt for each call, answered by its id.

https://docs.langchain.com/oss/python/langchain/human-in-the-loop
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from hitl_core.dialects.parts import (
    CONFIG_FORMAT,
    PYTHON_DECISIONS,
    SNAKE,
    FinalDecision,
    InterruptAction,
    Json,
    build_request,
    check_wire,
    common_decisions,
    dialect_description,
    dump_or_raise,
    final_decision,
    format_decision,
    make_response_schema,
    original_args,
    read_envelope,
    read_name,
    read_object,
    read_optional_text,
    read_response_schema,
)
from hitl_core.errors import DialectError
from hitl_core.gate import JudgedCalls
from hitl_core.model import Action, DialectName, Review, ToolCall, read_arguments
from hitl_core.policy import Policy

_CONFIG_FORMAT = replace(CONFIG_FORMAT, dialect="langchain_per_call")


class PerCall:
    """An interrupt is the list of a turn's interrupts, each `{"id", "value", "response_schema"}`, as in
    LangGraph; a bare value is accepted too. Without a schema every decision is allowed, as with `true`.
    """

    name: DialectName = "langchain_per_call"

    def load_policy(self, config: Mapping[str, Any], *, name: str = "policy") -> Policy:
        return Policy.from_mapping(
            config, name=name, read=_CONFIG_FORMAT.get_reader(), dialect=self.name
        )

    def dump_request(self, review: Review) -> list[Json]:
        return [
            {
                "id": _interrupt_id(action),
                "value": {
                    "type": "tool_approval",
                    "tool_call_id": action.request.tool_call_id,
                    "name": action.request.name,
                    "args": original_args(review, action),
                    "description": dialect_description(review, action),
                },
                "response_schema": make_response_schema(
                    action, common_decisions(self.name, action, PYTHON_DECISIONS)
                ),
            }
            for action in review.actions
        ]

    def load_request(
        self, wire: object, thread_id: str, calls: Sequence[ToolCall] = ()
    ) -> JudgedCalls:
        value = check_wire(wire)
        interrupts = cast(list[object], value) if isinstance(value, list) else [value]
        if not interrupts:
            raise DialectError("The list of interrupts is empty.")
        actions = [_load_action(each) for each in interrupts]
        _check_ids(actions)
        return build_request(self.name, actions, thread_id, calls)

    @property
    def can_rename(self) -> bool:
        return False

    def dump_decision(self, review: Review, action: Action, final: FinalDecision) -> Json | None:
        """Like LangChain's default mode, but an edit can't choose another tool."""
        renamed = final.name != action.request.name
        return None if renamed else format_decision(final, action, PYTHON_DECISIONS, SNAKE)

    def dump_decisions(self, review: Review) -> Json:
        """The decisions so far, by interrupt id."""
        decided = [a for a in review.actions if not a.is_pending or review.cancelled is not None]
        if not decided:
            for action in review.actions:
                final_decision(review, action)  # raises: the action is undecided
        return {_interrupt_id(action): dump_or_raise(self, review, action) for action in decided}


def _interrupt_id(action: Action) -> str:
    return action.request.interrupt_id or action.request.tool_call_id


def _load_action(interrupt: object) -> InterruptAction:
    outer = read_envelope(interrupt, "An interrupt")
    value = read_envelope(outer["value"], "An interrupt's value") if "value" in outer else outer
    if value.get("type") != "tool_approval":
        raise DialectError("The interrupt's type is not `tool_approval`.")
    call_id, interrupt_id = value.get("tool_call_id"), outer.get("id")
    if not isinstance(call_id, str) or not call_id:
        raise DialectError(
            f"Tool call `{value.get('name')!s:.80}` has no ID, so its result can't be matched to it. Make"
            " sure the chat model returns tool call IDs."
        )
    schema = outer.get("response_schema")
    allowed, edits = (
        (PYTHON_DECISIONS, None)
        if schema is None
        else read_response_schema(read_object(schema, "The schema"))
    )
    return InterruptAction(
        name=read_name(value.get("name")),
        args=read_arguments(value, "args", tool=value.get("name"), texts=("description",)),
        description=read_optional_text(value.get("description"), "A description"),
        allowed=allowed,
        id=call_id,
        args_schema=edits,
        interrupt_id=read_optional_text(interrupt_id, "An interrupt's id"),
    )


def _check_ids(actions: Sequence[InterruptAction]) -> None:
    """Raises DialectError if one id is used for an interrupt and for the call of another one: an answer by
    that id could decide the wrong call.
    """
    call_of: dict[str | None, str | None] = {}
    for each in actions:
        for id in {each.interrupt_id, each.id} - {None}:
            if call_of.setdefault(id, each.id) != each.id:
                raise DialectError(
                    f"The id {id!r:.80} is used for two interrupts: give each interrupt and call its own id."
                )


dialect = PerCall()
