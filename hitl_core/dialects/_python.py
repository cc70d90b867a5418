"""One decision as LangChain for Python writes it, in both of its modes."""

from __future__ import annotations

from typing import cast

from hitl_core.dialects._batch import CAMEL, SNAKE, not_allowed
from hitl_core.dialects._config import Words
from hitl_core.dialects._decisions import ALIASES, Place
from hitl_core.dialects._json import Json, first
from hitl_core.model import DecisionType
from hitl_core.review.proposal import Proposal

ALL: tuple[DecisionType, ...] = ("approve", "edit", "reject", "respond")
WORDS = Words(
    dialect="langchain",
    rules="interrupt_on",
    prefix="description_prefix",
    allowed="allowed_decisions",
    schema="args_schema",
    override="allow_override",
    known=ALL,
    everything=ALL,
    python=True,
)


def python_proposal(place: Place, decision: object) -> Proposal:
    """Raises DecisionError."""
    if not isinstance(decision, dict):
        place.wrong(f"Decision {place.index} for `{place.tool}` must be an object.", "type")
    said = cast(Json, decision)
    if "type" not in said:
        place.wrong(f"Decision {place.index} for `{place.tool}` has no `type`.", "type")
    kind = read_kind(place, said)
    place.check_id(said)
    match kind:
        case "approve":
            return place.proposal("approve", "type")
        case "edit":
            return _edit(place, said)
        case "respond":
            message = (
                first(said, "message", "args") if said["type"] != "respond" else said.get("message")
            )
            if not isinstance(message, str):
                place.wrong(
                    f"Decision {place.index} for `{place.tool}` needs a `message`: what the model gets to"
                    " read in place of the tool's result.",
                    "message",
                )
            return place.proposal("respond", "message", message=message)
        case _:
            reason = said.get("message")
            return place.proposal("reject", "message", message=str(reason) if reason else None)


def read_kind(place: Place, said: Json) -> DecisionType:
    """LangChain's own words, and Agent Inbox's for the same."""
    word = said["type"]
    kind = ALIASES.get(word, word) if isinstance(word, str) else word
    found: DecisionType | None = next(
        (known for known in ALL if known == kind and known in place.allowed), None
    )
    if found is None:
        allowed = [known for known in place.allowed if known in ALL]
        place.wrong(not_allowed(place, str(said), word, str(allowed)), "type", "not_allowed")
    return found


def _edit(place: Place, said: Json) -> Proposal:
    key = next((k for k in (SNAKE.edited, CAMEL.edited, "args") if k in said), SNAKE.edited)
    edited = said.get(key)
    if not isinstance(edited, dict):
        place.wrong(
            f"Decision {place.index} for `{place.tool}` needs an `{SNAKE.edited}`: its `name` and `args`.",
            SNAKE.edited,
        )
    action = cast(Json, edited)
    name = first(action, "name", "action")
    if not isinstance(name, str):
        place.wrong(f"The edited action for `{place.tool}` has no `name`.", f"{key}.name")
    return place.proposal("edit", f"{key}.args", name=name, args=action.get("args"))
