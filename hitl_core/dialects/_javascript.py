"""The batch as LangChain for JavaScript writes it, which XpertAI's middleware came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from hitl_core.dialects._batch import COUNT, Batch, not_allowed
from hitl_core.dialects._decisions import Place, answer_wire, places
from hitl_core.dialects._json import Json, is_mapping
from hitl_core.dialects._requests import sendable
from hitl_core.errors import DecisionError
from hitl_core.model import DecisionType, Review
from hitl_core.policy.wording import as_javascript
from hitl_core.review.proposal import Proposal

ALL: tuple[DecisionType, ...] = ("approve", "edit", "reject")


@dataclass(frozen=True, slots=True)
class JavaScriptBatch(Batch):
    def dump_request(self, review: Review) -> Json:
        return sendable(Batch.dump_request(self, review), self.name)

    def dump_decisions(self, review: Review) -> Json:
        return sendable(Batch.dump_decisions(self, review), self.name)

    def load_decisions(self, wire: object, review: Review) -> dict[str, Proposal]:
        """`{decisions: […]}`."""
        found = answer_wire(wire, javascript=True)
        decisions: Any = found.get("decisions") if is_mapping(found) else None
        if not isinstance(decisions, list):
            raise DecisionError(
                "Invalid HITLResponse: decisions must be a non-empty array", field="decisions"
            )
        each = cast(list[object], decisions)
        return {
            place.action.key: self._proposal(place, decision)
            for place, decision in zip(places(review, each, COUNT), each, strict=True)
        }

    def _proposal(self, place: Place, decision: object) -> Proposal:
        if not isinstance(decision, dict):
            place.wrong(f'Decision {place.index} for "{place.tool}" must be an object', "type")
        said = cast(Json, decision)
        if "type" not in said:
            place.wrong(f'Decision {place.index} for "{place.tool}" has no type', "type")
        place.check_id(said)
        word = said["type"]
        kind: DecisionType | None = next(
            (known for known in ALL if known == word and known in place.allowed), None
        )
        if kind is None:
            shown, allowed = as_javascript(said, 0), [k for k in place.allowed if k in ALL]
            text = word if isinstance(word, str) else as_javascript(word, 0)
            place.wrong(
                not_allowed(place, shown, text, as_javascript(allowed, 0)), "type", "not_allowed"
            )
        if kind == "edit":
            return self._edit(place, self.edited_action(said))
        message = said.get("message") if kind == "reject" else None
        if kind == "reject" and "message" in said and not isinstance(message, str):
            place.wrong(
                f'Tool call response for "{place.tool}" must be a string, got {_typeof(message)}',
                "message",
            )
        return place.proposal(kind, "message", message=cast(str | None, message))

    def _edit(self, place: Place, edited: object) -> Proposal:
        action: Json = cast(Json, edited) if isinstance(edited, dict) else {}
        for key, kind, word in (("name", str, "a string"), ("args", dict, "an object")):
            if not isinstance(action.get(key), kind):
                place.wrong(
                    f'Invalid edited action for tool "{place.tool}": {key} must be {word}',
                    f"{self.spelling.edited}.{key}",
                )
        return place.proposal(
            "edit", f"{self.spelling.edited}.args", name=action["name"], args=action["args"]
        )


def _typeof(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else "object"
