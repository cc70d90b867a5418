"""The dialect: policies, interrupts and answers of Sagents ↔ ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hitl_core.dialects.parts import (
    ConfigFormat,
    FinalDecision,
    InterruptAction,
    Json,
    build_request,
    check_wire,
    dump_or_raise,
    interrupt_decisions,
    read_envelope,
    read_list,
    read_object,
    read_optional_text,
    to_rejection,
)
from hitl_core.dialects.sagents import approvals, ask_user
from hitl_core.dialects.sagents.approvals import APPROVAL_DECISIONS, is_approval
from hitl_core.errors import DialectError
from hitl_core.gate import JudgedCalls
from hitl_core.model import Action, DialectName, Review, ToolCall
from hitl_core.policy import Policy

_CONFIG_FORMAT = ConfigFormat(
    dialect="sagents",
    rules="interrupt_on",
    prefix=None,
    allowed="allowed_decisions",
    schema="args_schema",
    override="allow_override",
    known=APPROVAL_DECISIONS,
    everything=APPROVAL_DECISIONS,
    missing=APPROVAL_DECISIONS,
    strict=False,
)


class Sagents:
    """The dialect of Sagents. JSON has no atoms, so an Elixir atom is a string here."""

    name: DialectName = "sagents"

    def load_policy(self, config: Mapping[str, Any], *, name: str = "policy") -> Policy:
        return Policy.from_mapping(
            config, name=name, read=_CONFIG_FORMAT.get_reader(), dialect=self.name
        )

    def dump_request(self, review: Review) -> Json:
        """One interrupt, or several combined in one, if the review has questions beside its tool calls."""
        if not review.actions:
            return approvals.dump_approvals(review, ())
        wires = [_wrap(group, _dump_interrupt(review, group)) for group in _group_actions(review)]
        is_single = _is_single(review)
        return wires[0] if is_single else {"type": "multiple_interrupts", "interrupts": wires}

    def load_request(
        self, wire: object, thread_id: str, calls: Sequence[ToolCall] = ()
    ) -> JudgedCalls:
        """Reads an interrupt, also one of a sub-agent: `path` names the agents. Several interrupts combined
        in one become one `JudgedCalls`; use `dialects.split` to make a review of each.
        """
        interrupt = read_object(check_wire(wire), "The interrupt")
        parts = list(_interrupt_parts(interrupt, ()))
        if len(parts) > 1 or interrupt.get("type") == "multiple_interrupts":
            parts = [
                part._replace(actions=[each._replace(interrupt_id=str(n)) for each in part.actions])
                for n, part in enumerate(parts, start=1)
            ]
        actions = [each for part in parts for each in part.actions]
        if not actions:
            raise DialectError("There is no action in this interrupt.")
        paths = {part.path for part in parts}
        path = paths.pop() if len(paths) == 1 else ()
        return build_request(self.name, actions, thread_id, calls, path)

    @property
    def can_rename(self) -> bool:
        return False

    def dump_decision(self, review: Review, action: Action, final: FinalDecision) -> Json | None:
        """An ignored call is sent as a rejection; a question is answered or cancelled."""
        if final.name != action.request.name:
            return None
        if ask_user.is_question(action):
            return ask_user.dump_answer(action, final)
        final = to_rejection(final)
        if final.kind not in APPROVAL_DECISIONS or final.kind not in interrupt_decisions(action):
            return None
        return (
            {"type": "edit", "arguments": final.args}
            if final.kind == "edit"
            else {"type": final.kind}
        )

    def dump_decisions(self, review: Review) -> Any:
        """The answer to the interrupt. It has no reasons of rejections: Sagents gives the model its own
        text.
        """
        groups = [
            [(action, dump_or_raise(self, review, action)) for action in group]
            for group in _group_actions(review)
        ]
        is_single = _is_single(review)
        answers = [_dump_group(group, is_single=is_single) for group in groups]
        return answers[0] if is_single and answers else answers


class _InterruptPart(NamedTuple):
    """One interrupt, with the path of agents that led to it."""

    path: tuple[str, ...]
    actions: list[InterruptAction]

    def wrap_in(self, wrapper: Json) -> _InterruptPart:
        """The part inside this wrapper. It keeps what names the sub-agents, the innermost last, so that
        `dump_request` can write them again.
        """
        extras = [each.extra or {} for each in self.actions]
        wrapped_actions = [
            each._replace(extra={**extra, "inside": [wrapper, *extra.get("inside", ())]})
            for each, extra in zip(self.actions, extras, strict=True)
        ]
        return self._replace(actions=wrapped_actions)


def _interrupt_parts(value: Json, path: tuple[str, ...]) -> Iterator[_InterruptPart]:
    match read_envelope(value, "The interrupt").get("type"):
        case "multiple_interrupts":
            for each in read_list(value.get("interrupts"), "`interrupts`"):
                yield from _interrupt_parts(read_object(each, "An interrupt"), path)
        case "subagent_hitl":
            who = value.get("task_name") or value.get("sub_agent_id")
            name = read_optional_text(who, "A sub-agent's name") or "sub-agent"
            inner = value.get("interrupt_data", value.get("inner"))
            wrapper = {k: v for k, v in value.items() if k not in ("interrupt_data", "inner")}
            for part in _interrupt_parts(read_object(inner, "`interrupt_data`"), (*path, name)):
                yield part.wrap_in(wrapper)
        case ask_user.TYPE:
            yield _InterruptPart(path, [ask_user.load_question(value)])
        case "halt":
            raise DialectError("A halt ends the workflow: there is nothing to decide.")
        case _ if is_approval(value):
            configs = read_object(value.get("review_configs", {}), "`review_configs`")
            actions = [approvals.load_action(each, configs) for each in value["action_requests"]]
            approvals.check_call_ids(value, actions)
            yield _InterruptPart(path, actions)
        case _:
            raise DialectError(
                "This is not an interrupt of Sagents: it has no list `action_requests`."
            )


def _group_actions(review: Review) -> list[list[Action]]:
    """The actions, grouped by interrupt."""
    groups_by_id: dict[str, list[Action]] = {}
    for action in review.actions:
        asks = ask_user.is_question(action)
        own = action.request.tool_call_id if asks else ""
        groups_by_id.setdefault(action.request.interrupt_id or own, []).append(action)
    return list(groups_by_id.values())


def _is_single(review: Review) -> bool:
    """Whether the review comes from one interrupt, not from several combined in one."""
    several = any(action.request.interrupt_id for action in review.actions)
    return not several and len(_group_actions(review)) <= 1


def _wrap(group: Sequence[Action], wire: Json) -> Json:
    for wrapper in reversed((group[0].request.extra or {}).get("inside", ())):
        wire = {**wrapper, "interrupt_data": wire}
    return wire


def _dump_interrupt(review: Review, group: Sequence[Action]) -> Json:
    if ask_user.is_question(group[0]):
        return ask_user.dump_question(review, group[0])
    return approvals.dump_approvals(review, group)


def _dump_group(group: Sequence[tuple[Action, Json]], *, is_single: bool) -> Any:
    """The answer for one group. With several groups, the answer to a question names its call."""
    action, decision = group[0]
    if not ask_user.is_question(action):
        return [decided for _, decided in group]
    return decision if is_single else {**decision, "tool_call_id": action.request.tool_call_id}


dialect = Sagents()
