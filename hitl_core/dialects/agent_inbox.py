"""Agent Inbox: `HumanInterrupt` and `HumanResponse`, with flags in place of decisions.

https://github.com/langchain-ai/agent-inbox
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from hitl_core.dialects._decisions import Ending, Place, answer_wire, places, takes, words_of
from hitl_core.dialects._json import Json, envelope, is_mapping, optional_text, parse, plain
from hitl_core.dialects._requests import (
    Asked,
    allowed_words,
    asked_args,
    request_of,
    sendable,
    texts_of,
)
from hitl_core.dialects.inbox_page import IMPROPER
from hitl_core.errors import DialectError, Unsayable
from hitl_core.gate import Request
from hitl_core.model import Action, DecisionType, DialectName, Review, ToolCall
from hitl_core.model.call_shapes import arguments_in
from hitl_core.policy import Policy
from hitl_core.review.proposal import Proposal

FLAGS: dict[str, DecisionType] = {
    "allow_accept": "approve",
    "allow_edit": "edit",
    "allow_respond": "respond",
    "allow_ignore": "ignore",
}
_COUNT = "The answer has {given} responses for {asked} interrupts."
_WORDS: tuple[DecisionType, ...] = ("approve", "edit", "respond", "ignore", "reject")


class AgentInbox:
    name: DialectName = "agent_inbox"

    def load_policy(self, config: Mapping[str, Any], *, name: str = "policy") -> Policy:
        raise Unsayable(
            self.name,
            "policy",
            "Agent Inbox has no configuration of its own: each interrupt says what it allows.",
        )

    def dump_request(self, review: Review) -> list[Json]:
        return sendable([_interrupt(review, action) for action in review.actions], self.name)

    def load_request(self, wire: object, thread_id: str, calls: Sequence[ToolCall] = ()) -> Request:
        """A HumanInterrupt, a list of them, or either as JSON text. What is none of these becomes an action
        that can only be ignored, as on Agent Inbox's own page.
        """
        found = plain(wire, javascript=True)
        interrupts = interrupts_in(found)
        if interrupts is None:
            interrupts = [IMPROPER]
        return request_of(self.name, [_asked(each) for each in interrupts], thread_id, calls)

    def load_decisions(self, wire: object, review: Review) -> dict[str, Proposal]:
        """A list of HumanResponses, one for each interrupt; one alone may stand without its list."""
        found = answer_wire(wire, javascript=True)
        responses = cast(list[object], found) if isinstance(found, list) else [found]
        return {
            place.action.key: _proposal(place, response)
            for place, response in zip(places(review, responses, _COUNT), responses, strict=True)
        }

    @property
    def renames(self) -> bool:
        return False

    def word(self, review: Review, action: Action, end: Ending) -> Json | None:
        """There is no word for a rejection: the action is ignored. Where the interrupt is ours, and offers a
        rejection as a response, its reason is one.
        """
        allowed = takes(action)
        if end.name != action.request.name:
            return None
        request = {"action": action.request.title or end.name, "args": end.args}
        match end.kind:
            case "approve" if "approve" in allowed:
                return {"type": "accept", "args": request if "edit" in allowed else None}
            case "edit" if "edit" in allowed:
                return {"type": "edit", "args": request}
            case "respond" if "respond" in allowed:
                return {"type": "response", "args": end.message or ""}
            case "reject" if end.message and "reject" in allowed:
                return {"type": "response", "args": end.message}
            case "reject" | "ignore" if "ignore" in allowed:
                return {"type": "ignore", "args": None}
            case _:
                return None

    def dump_decisions(self, review: Review) -> list[Json]:
        """What was cancelled has no answer: end the thread, as "Mark as Resolved" does, with
        `updateState(threadId, {values: null, asNode: END})`.
        """
        if review.cancelled is not None:
            raise Unsayable(
                self.name,
                "cancel",
                "Agent Inbox has no answer that cancels: end the thread instead.",
            )
        return sendable(words_of(self, review), self.name)


def interrupts_in(wire: object) -> list[Json] | None:
    """The HumanInterrupts of this wire, None where it holds anything else."""
    value = wire
    if isinstance(value, str):
        try:
            value = plain(parse(value), javascript=True)
        except DialectError:
            return None
    each = cast(list[object], value) if isinstance(value, list) else [value]
    known = [one for one in each if is_mapping(one, "action_request", "config")]
    return known if known and len(known) == len(each) else None


def _interrupt(review: Review, action: Action) -> Json:
    """A rejection is offered as a response: there is no other word for it."""
    allowed = set(allowed_words("agent_inbox", action, _WORDS))
    if "reject" in allowed:
        allowed.add("respond")
    title = action.request.title or action.request.name
    interrupt: Json = {
        "action_request": {"action": title, "args": asked_args(review, action)},
        "config": {
            "allow_ignore": "ignore" in allowed,
            "allow_respond": "respond" in allowed,
            "allow_edit": "edit" in allowed,
            "allow_accept": "approve" in allowed,
        },
    }
    text = texts_of(review, action)
    return {**interrupt, "description": text} if text else interrupt


def _asked(interrupt: Json) -> Asked:
    envelope(interrupt, "A HumanInterrupt")
    request = envelope(interrupt["action_request"], "`action_request`")
    config = envelope(interrupt["config"], "`config`")
    title = request.get("action")
    if not isinstance(title, str):
        raise DialectError("An `action_request` has no `action`.")
    # What a tool's name can't hold becomes "_": a title may be a sentence.
    name = re.sub(r"[^A-Za-z0-9_.:/-]", "_", title)[:128] or "_"
    return Asked(
        name=name,
        args=arguments_in(request, "args", tool=title),
        description=optional_text(interrupt.get("description"), "A description"),
        allowed=tuple(kind for flag, kind in FLAGS.items() if config.get(flag) is True),
        title=title if title != name else None,
    )


def _proposal(place: Place, response: object) -> Proposal:
    if not is_mapping(response, "type"):
        place.wrong(
            f"Response {place.index} on {place.tool} must be an object with a type.", "type"
        )
    word, args = response["type"], response.get("args")
    match word:
        case "accept":
            if args is not None:
                edited = _edited(place, args)
                if edited != asked_args(place.review, place.action):
                    place.wrong("An accept changes nothing: send an `edit`.", "args")
            kind: DecisionType = "approve"
        case "edit":
            _allow(place, "edit", word)
            return place.proposal("edit", "args.args", args=_edited(place, args))
        case "response" if isinstance(args, str):
            kind = "respond" if "respond" in place.allowed else "reject"
            _allow(place, kind, word)
            return place.proposal(kind, "args", message=args)
        case "response":
            place.wrong(f"A response on {place.tool} needs its text in `args`.", "args")
        case "ignore":
            kind = "ignore" if "ignore" in place.allowed else "reject"
        case _:
            place.wrong(
                f"{word!r:.80} is no response: accept, edit, response or ignore.",
                "type",
                "not_allowed",
            )
    _allow(place, kind, str(word))
    return place.proposal(kind, "type")


def _allow(place: Place, kind: DecisionType, word: str) -> None:
    if kind not in place.allowed:
        place.wrong(f"{place.tool} doesn't allow {word!r:.80}.", "type", "not_allowed")


def _edited(place: Place, value: object) -> Json:
    """The arguments of an ActionRequest, whose action can't be another one."""
    request: Json = cast(Json, value) if isinstance(value, dict) else {}
    title = place.action.request.title or place.tool
    if request.get("action") != title:
        place.wrong(f"The `action` of this answer must be {title!r:.80}.", "args.action")
    if not isinstance(request.get("args"), dict):
        place.wrong("The `args` of an edit must be an object.", "args.args")
    return cast(Json, request["args"])


dialect = AgentInbox()
