"""LangChain for Python with `interrupt_mode="per_call"`: an interrupt a call, each answered by its id.

https://docs.langchain.com/oss/python/langchain/human-in-the-loop
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from hitl_core.dialects._batch import SNAKE, decision_word, read_name
from hitl_core.dialects._decisions import Ending, Place, answer_wire, ending, word_of
from hitl_core.dialects._json import Json, envelope, is_mapping, mapping, optional_text, plain
from hitl_core.dialects._python import ALL, WORDS, python_proposal
from hitl_core.dialects._requests import Asked, allowed_words, asked_args, request_of, texts_of
from hitl_core.dialects._response_schema import read_response_schema, response_schema
from hitl_core.errors import DecisionError, DialectError
from hitl_core.gate import Request
from hitl_core.model import Action, DialectName, Review, ToolCall
from hitl_core.model.call_shapes import arguments_in
from hitl_core.policy import Policy
from hitl_core.review.proposal import Proposal

_WORDS = replace(WORDS, dialect="langchain_per_call")


class PerCall:
    """A wire is the list of a turn's interrupts, each `{"id", "value", "response_schema"}`, as LangGraph has
    them; a bare value is taken as well. One without a schema takes every decision, as `true` does.
    """

    name: DialectName = "langchain_per_call"

    def load_policy(self, config: Mapping[str, Any], *, name: str = "policy") -> Policy:
        return Policy.from_mapping(config, name=name, read=_WORDS.reader(), dialect=self.name)

    def dump_request(self, review: Review) -> list[Json]:
        return [
            {
                "id": _id(action),
                "value": {
                    "type": "tool_approval",
                    "tool_call_id": action.request.tool_call_id,
                    "name": action.request.name,
                    "args": asked_args(review, action),
                    "description": texts_of(review, action),
                },
                "response_schema": response_schema(action, allowed_words(self.name, action, ALL)),
            }
            for action in review.actions
        ]

    def load_request(self, wire: object, thread_id: str, calls: Sequence[ToolCall] = ()) -> Request:
        found = plain(wire)
        interrupts = cast(list[object], found) if isinstance(found, list) else [found]
        if not interrupts:
            raise DialectError("There is no interrupt in this.")
        asked = [_asked(each) for each in interrupts]
        _check_ids(asked)
        return request_of(self.name, asked, thread_id, calls)

    def load_decisions(self, wire: object, review: Review) -> dict[str, Proposal]:
        """By interrupt id or tool call id, some or all of them; or a bare decision where one call waits.
        Interrupt ids win: tool call ids are the model's.
        """
        answer = answer_wire(wire)
        if not is_mapping(answer):
            raise DecisionError("The answer must be an object: decisions by their interrupt's id.")
        waiting = [action for action in review.actions if action.pending]
        by_id = {action.request.tool_call_id: action for action in review.actions}
        by_id |= {_id(action): action for action in review.actions}
        if "type" in answer and not set(answer) & set(by_id):
            if len(waiting) != 1:
                raise DecisionError(
                    "When there are multiple pending interrupts, you must specify the interrupt id when"
                    " resuming."
                )
            answer = {_id(waiting[0]): answer}
        if (unknown := next((key for key in answer if key not in by_id), None)) is not None:
            raise DecisionError(f"No interrupt here has the id {unknown!r:.80}.", field="id")
        decided: dict[str, Proposal] = {}
        for index, (key, decision) in enumerate(answer.items()):
            place = Place(review, by_id[key], index)
            if place.action.key in decided:
                place.wrong("This interrupt is answered twice: by its id and by its call's.", "id")
            decided[place.action.key] = _proposal(place, decision)
        return decided

    @property
    def renames(self) -> bool:
        return False

    def word(self, review: Review, action: Action, end: Ending) -> Json | None:
        """As in LangChain's other mode, but that an edit keeps its tool."""
        renamed = end.name != action.request.name
        return None if renamed else decision_word(end, action, ALL, SNAKE)

    def dump_decisions(self, review: Review) -> Json:
        """Those that are decided, by their interrupt's id."""
        decided = [a for a in review.actions if not a.pending or review.cancelled is not None]
        if not decided:
            for action in review.actions:
                ending(review, action)  # raises: it waits
        return {_id(action): word_of(self, review, action) for action in decided}


def _id(action: Action) -> str:
    return action.request.interrupt_id or action.request.tool_call_id


def _asked(interrupt: object) -> Asked:
    outer = envelope(interrupt, "An interrupt")
    value = envelope(outer["value"], "An interrupt's value") if "value" in outer else outer
    if value.get("type") != "tool_approval":
        raise DialectError("This is no `tool_approval`.")
    call_id, interrupt_id = value.get("tool_call_id"), outer.get("id")
    if not isinstance(call_id, str) or not call_id:
        raise DialectError(
            f"Tool call `{value.get('name')!s:.80}` has no ID, so its result can't be matched to it. Make"
            " sure the chat model returns tool call IDs."
        )
    schema = outer.get("response_schema")
    allowed, edits = (
        (ALL, None) if schema is None else read_response_schema(mapping(schema, "The schema"))
    )
    return Asked(
        name=read_name(value.get("name")),
        args=arguments_in(value, "args", tool=value.get("name")),
        description=optional_text(value.get("description"), "A description"),
        allowed=allowed,
        id=call_id,
        args_schema=edits,
        interrupt_id=optional_text(interrupt_id, "An interrupt's id"),
    )


def _check_ids(asked: Sequence[Asked]) -> None:
    """An id that names one interrupt and another one's call could decide the wrong one."""
    call_of: dict[str | None, str | None] = {}
    for each in asked:
        for id in {each.interrupt_id, each.id} - {None}:
            if call_of.setdefault(id, each.id) != each.id:
                raise DialectError(
                    f"The id {id!r:.80} means two interrupts here: give each interrupt and each call its own."
                )


def _proposal(place: Place, decision: object) -> Proposal:
    """LangGraph checks an answer before it keeps it: the same paths, and the tool's name is pinned."""
    if not is_mapping(decision, "type"):
        return python_proposal(place, decision)  # raises: there is no type
    kind, allowed = decision["type"], [each for each in place.allowed if each in ALL]
    if kind not in allowed:
        tags = ", ".join(f"'{each}'" for each in allowed)
        place.wrong(
            f"Input tag '{kind!s:.80}' found using 'type' does not match any of the expected tags: {tags}"
            " [type=union_tag_invalid]",
            "type",
            "not_allowed",
        )
    if kind == "edit":
        _check_edit(place, decision)
    if kind in ("reject", "respond") and not isinstance(decision.get("message", ""), str):
        place.wrong(f"{kind}.message: Input should be a valid string", "message")
    try:
        return python_proposal(place, decision)
    except DecisionError as error:
        field, text = error.field or "", str(error)
        where = kind if text.startswith(f"{field}:") else f"{kind}.{field}"
        place.wrong(f"{where}{'.' if where == kind else ': '}{text}", field, error.code)


def _check_edit(place: Place, said: Json) -> None:
    action = said.get("edited_action")
    if not is_mapping(action):
        place.wrong("edit.edited_action: Field required", "edited_action")
    if action.get("name") != place.tool:
        place.wrong(
            f"edit.edited_action.name: Input should be '{place.tool}'", "edited_action.name"
        )
    if not isinstance(action.get("args"), dict):
        place.wrong(
            "edit.edited_action.args: Input should be a valid dictionary", "edited_action.args"
        )
    schema = place.action.config.args_schema or {}
    required = schema.get("required")
    for name in cast(list[object], required) if isinstance(required, list) else []:
        if name not in action["args"]:
            where = f"edited_action.args.{name}"
            place.wrong(f"edit.{where}: Field required", where, "invalid_args")


dialect = PerCall()
