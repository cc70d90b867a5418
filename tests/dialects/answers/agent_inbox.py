"""Answers to Agent Inbox, and what its own page offers for an interrupt."""

from __future__ import annotations

from typing import NamedTuple, cast

from hitl_core.dialects.parts import Json, is_object, original_args, read_object
from hitl_core.model import DecisionType, Review
from hitl_core.review import Proposal
from tests.dialects.answers.items import AnswerItem, answer_items, read_answer

_COUNT_MESSAGE = "The answer has {given} responses for {asked} interrupts."


def read(wire: object, review: Review) -> dict[str, Proposal]:
    """Reads a list of HumanResponses, one for each interrupt, or a single one without a list."""
    answer = read_answer(wire, javascript=True)
    responses = cast(list[object], answer) if isinstance(answer, list) else [answer]
    return {
        item.action.key: _load_proposal(item, response)
        for item, response in zip(
            answer_items(review, responses, _COUNT_MESSAGE), responses, strict=True
        )
    }


def _load_proposal(item: AnswerItem, response: object) -> Proposal:
    if not is_object(response, "type"):
        item.fail(f"Response {item.index} on {item.tool} must be an object with a type.", "type")
    word, args = response["type"], response.get("args")
    match word:
        case "accept":
            if args is not None:
                edited = _read_edit_args(item, args)
                if edited != original_args(item.review, item.action):
                    item.fail("An `accept` can't change the arguments: send an `edit`.", "args")
            kind: DecisionType = "approve"
        case "edit":
            _check_allowed(item, "edit", word)
            return item.make_proposal("edit", "args.args", args=_read_edit_args(item, args))
        case "response" if isinstance(args, str):
            kind = "respond" if "respond" in item.decision_types else "reject"
            _check_allowed(item, kind, word)
            return item.make_proposal(kind, "args", message=args)
        case "response":
            item.fail(f"A response on {item.tool} needs its text in `args`.", "args")
        case "ignore":
            kind = "ignore" if "ignore" in item.decision_types else "reject"
        case _:
            item.fail(
                f"{word!r:.80} is not a response type: use accept, edit, response or ignore.",
                "type",
                "not_allowed",
            )
    _check_allowed(item, kind, str(word))
    return item.make_proposal(kind, "type")


def _check_allowed(item: AnswerItem, kind: DecisionType, word: str) -> None:
    if kind not in item.decision_types:
        item.fail(f"{item.tool} doesn't allow {word!r:.80}.", "type", "not_allowed")


def _read_edit_args(item: AnswerItem, value: object) -> Json:
    """The arguments of an ActionRequest. Its action must be that of the interrupt."""
    request: Json = cast(Json, value) if isinstance(value, dict) else {}
    title = item.action.request.title or item.tool
    if request.get("action") != title:
        item.fail(f"The `action` of this answer must be {title!r:.80}.", "args.action")
    if not isinstance(request.get("args"), dict):
        item.fail("The `args` of an edit must be an object.", "args.args")
    return cast(Json, request["args"])


class Offers(NamedTuple):
    """The page's prepared responses to one interrupt. `submit`: the type that its button sends, or None."""

    responses: list[Json]
    submit: str | None
    accepts: bool


def page_offers(interrupt: Json) -> Offers:
    """The default is accept, else response, else edit; never ignore."""
    config = read_object(interrupt.get("config"), "`config`")
    accepts, edits, responds, ignores = (
        config.get(flag) is True
        for flag in ("allow_accept", "allow_edit", "allow_respond", "allow_ignore")
    )
    responses: list[Json] = []
    if edits:
        edit: Json = {"type": "edit", "args": interrupt.get("action_request")}
        unchanged: Json = {"editsMade": False} if accepts else {}
        responses.append({**edit, "acceptAllowed": accepts, **unchanged})
    if responds:
        responses.append({"type": "response", "args": ""})
    if ignores:
        responses.append({"type": "ignore", "args": None})
    if accepts:
        responses.append({"type": "accept", "args": None})
    order = (("accept", accepts), ("response", responds), ("edit", edits))
    return Offers(responses, next((word for word, there in order if there), None), accepts)
