"""Sagents, an agent framework for Elixir: a map of decisions by tool name, with the calls' ids.

https://hexdocs.pm/sagents
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from hitl_core.dialects import _approvals, _ask_user
from hitl_core.dialects._approvals import ALL, claims
from hitl_core.dialects._config import Words
from hitl_core.dialects._decisions import (
    Ending,
    Place,
    answer_wire,
    as_rejection,
    takes,
    word_of,
)
from hitl_core.dialects._json import Json, envelope, listing, mapping, optional_text, plain
from hitl_core.dialects._requests import Asked, request_of
from hitl_core.errors import DecisionError, DialectError
from hitl_core.gate import Request
from hitl_core.model import Action, DialectName, Review, ToolCall
from hitl_core.policy import Policy
from hitl_core.review.proposal import Proposal

_WORDS = Words(
    dialect="sagents",
    rules="interrupt_on",
    prefix=None,
    allowed="allowed_decisions",
    schema="args_schema",
    override="allow_override",
    known=ALL,
    everything=ALL,
    missing=ALL,
    strict=False,
)
_NOBODY = "No middleware handled the resume for this interrupt"
_COUNT = "Decision count ({given}) does not match HITL tool count ({asked})"


class Sagents:
    """JSON has no atoms: a text stands for one wherever Sagents has one."""

    name: DialectName = "sagents"

    def load_policy(self, config: Mapping[str, Any], *, name: str = "policy") -> Policy:
        return Policy.from_mapping(config, name=name, read=_WORDS.reader(), dialect=self.name)

    def dump_request(self, review: Review) -> Json:
        """Several at once where the review asks questions beside its tool calls."""
        if not review.actions:
            return _approvals.approvals_of(review, ())
        wires = [_wrapped(group, _interrupt(review, group)) for group in _groups(review)]
        one = _is_one(review)
        return wires[0] if one else {"type": "multiple_interrupts", "interrupts": wires}

    def load_request(self, wire: object, thread_id: str, calls: Sequence[ToolCall] = ()) -> Request:
        """Also one that a sub-agent raised: its `path` names the agents. Several at once are one Request;
        `dialects.split` takes them apart.
        """
        found = mapping(plain(wire), "The interrupt")
        parts = list(_parts(found, ()))
        if found.get("type") == "multiple_interrupts":
            parts = [
                part._replace(asked=[each._replace(interrupt_id=str(n)) for each in part.asked])
                for n, part in enumerate(parts, start=1)
            ]
        asked = [each for part in parts for each in part.asked]
        if not asked:
            raise DialectError("There is no action in this interrupt.")
        paths = {part.path for part in parts}
        path = paths.pop() if len(paths) == 1 else ()
        return request_of(self.name, asked, thread_id, calls, path)

    def load_decisions(self, wire: object, review: Review) -> dict[str, Proposal]:
        """A list, in the order of the actions, or a question's response; of several interrupts at once a list
        of these.
        """
        found = answer_wire(wire)
        if not review.actions and isinstance(found, list):
            raise DecisionError(
                "No interrupt data found in state. Cannot process decisions without interrupt context."
            )
        if not review.actions:
            raise DecisionError(_NOBODY)
        groups = _groups(review)
        if _is_one(review):
            return _answered(review, groups[0], found)
        answers = cast(list[object], found) if isinstance(found, list) else []
        if len(answers) != len(groups):
            raise DecisionError(_COUNT.format(given=len(answers), asked=len(groups)))
        decided: dict[str, Proposal] = {}
        for group, answer in zip(groups, answers, strict=True):
            decided |= _answered(review, group, answer)
        return decided

    @property
    def renames(self) -> bool:
        return False

    def word(self, review: Review, action: Action, end: Ending) -> Json | None:
        """Skipping is told as a rejection; a question is answered or cancelled."""
        if end.name != action.request.name:
            return None
        if _ask_user.is_question(action):
            return _ask_user.word(action, end)
        end = as_rejection(end)
        if end.kind not in ALL or end.kind not in takes(action):
            return None
        return {"type": "edit", "arguments": end.args} if end.kind == "edit" else {"type": end.kind}

    def dump_decisions(self, review: Review) -> Any:
        """A rejection's reason has no place here: the model gets Sagents' own sentence."""
        groups = [
            [(action, word_of(self, review, action)) for action in group]
            for group in _groups(review)
        ]
        one = _is_one(review)
        answers = [_answer(group, alone=one) for group in groups]
        return answers[0] if one and answers else answers


class _Part(NamedTuple):
    """One interrupt, with the agents that led to it."""

    path: tuple[str, ...]
    asked: list[Asked]

    def inside(self, wrapper: Json) -> _Part:
        """What names the sub-agent is kept, the innermost last, so that `dump_request` says it again."""
        extras = [each.extra or {} for each in self.asked]
        asked = [
            each._replace(extra={**extra, "inside": [wrapper, *extra.get("inside", ())]})
            for each, extra in zip(self.asked, extras, strict=True)
        ]
        return self._replace(asked=asked)


def _parts(value: Json, path: tuple[str, ...]) -> Iterator[_Part]:
    match envelope(value, "The interrupt").get("type"):
        case "multiple_interrupts":
            for each in listing(value.get("interrupts"), "`interrupts`"):
                yield from _parts(mapping(each, "An interrupt"), path)
        case "subagent_hitl":
            who = value.get("task_name") or value.get("sub_agent_id")
            name = optional_text(who, "A sub-agent's name") or "sub-agent"
            inner = value.get("interrupt_data", value.get("inner"))
            wrapper = {k: v for k, v in value.items() if k not in ("interrupt_data", "inner")}
            for part in _parts(mapping(inner, "`interrupt_data`"), (*path, name)):
                yield part.inside(wrapper)
        case _ask_user.TYPE:
            yield _Part(path, [_ask_user.asked_of(value)])
        case "halt":
            raise DialectError("A halt ends the workflow: there is nothing to decide.")
        case _ if claims(value):
            configs = mapping(value.get("review_configs", {}), "`review_configs`")
            yield _Part(
                path, [_approvals.asked_of(each, configs) for each in value["action_requests"]]
            )
        case _:
            raise DialectError(
                "This is no interrupt of Sagents: it has no list of action_requests."
            )


def _groups(review: Review) -> list[list[Action]]:
    """Those that one interrupt asks about, together."""
    found: dict[str, list[Action]] = {}
    for action in review.actions:
        asks = _ask_user.is_question(action)
        own = action.request.tool_call_id if asks else ""
        found.setdefault(action.request.interrupt_id or own, []).append(action)
    return list(found.values())


def _is_one(review: Review) -> bool:
    """Whether it is one interrupt, and not several in one."""
    several = any(action.request.interrupt_id for action in review.actions)
    return not several and len(_groups(review)) <= 1


def _wrapped(group: Sequence[Action], wire: Json) -> Json:
    for wrapper in reversed((group[0].request.extra or {}).get("inside", ())):
        wire = {**wrapper, "interrupt_data": wire}
    return wire


def _interrupt(review: Review, group: Sequence[Action]) -> Json:
    if _ask_user.is_question(group[0]):
        return _ask_user.question_of(review, group[0])
    return _approvals.approvals_of(review, group)


def _answered(review: Review, group: Sequence[Action], answer: object) -> dict[str, Proposal]:
    first = Place(review, group[0], review.actions.index(group[0]))
    if _ask_user.is_question(group[0]):
        return {group[0].key: _ask_user.proposal_of(first, answer)}
    if not isinstance(answer, list):
        raise DecisionError(_NOBODY)
    decisions = cast(list[object], answer)
    if len(decisions) != len(group):
        count = _COUNT.format(given=len(decisions), asked=len(group))
        raise DecisionError(count, field="decisions")
    return {
        action.key: _approvals.proposal_of(Place(review, action, first.index + n), decision)
        for n, (action, decision) in enumerate(zip(group, decisions, strict=True))
    }


def _answer(group: Sequence[tuple[Action, Json]], *, alone: bool) -> Any:
    """Of several questions at once each answer names its own."""
    action, said = group[0]
    if not _ask_user.is_question(action):
        return [decided for _, decided in group]
    return said if alone else {**said, "tool_call_id": action.request.tool_call_id}


dialect = Sagents()
