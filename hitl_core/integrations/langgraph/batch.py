"""The interrupt of LangChain's HumanInTheLoopMiddleware, in its default mode: one a turn. Pure.

The value carries no ids, so the calls are found in the last AI message, and the decisions go back in
the order of the requests.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.types import Interrupt

from hitl_core.gate import Outcome
from hitl_core.integrations.langgraph.graph import Json, last_ai_message
from hitl_core.integrations.langgraph.model_turn import ModelTurn, read_asked

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Batch(ModelTurn):
    """`poisoned`: LangChain saved an answer that it then refused, and will refuse every other as
    well."""

    interrupt_id: str
    poisoned: bool

    def answer(self, outcome: Outcome) -> Json:
        """What to resume with: one decision a request. Raises IntegrationError (see `decision`)."""
        decisions = [self.decision(position, outcome) for position in sorted(self.asked)]
        return {self.interrupt_id: {"decisions": decisions}}


def read_batch(
    interrupt: Interrupt, messages: Sequence[AnyMessage], poisoned: bool
) -> Batch | None:
    """None where this is no such interrupt, or its requests are not the message's."""
    value = interrupt.value
    requests, configs = _lists(value)
    message = last_ai_message(messages)
    if not requests or len(requests) != len(configs) or message is None:
        return None
    positions = _match(requests, message)
    if positions is None:
        log.warning("An interrupt's requests are not among the calls of the last AI message.")
        return None
    backwards = _match(requests[::-1], message, backwards=True)
    if backwards is not None and backwards[::-1] != positions:
        log.warning("Some calls of %s look the same, and not all of them interrupt.", message.id)
    asked = {
        position: read_asked(request, config.get("allowed_decisions", ()))
        for position, request, config in zip(positions, requests, configs, strict=True)
    }
    return Batch(message, asked, interrupt.id, poisoned)


def _lists(value: object) -> tuple[list[Json], list[Json]]:
    if not isinstance(value, dict):
        return [], []
    found = cast(Json, value)
    requests, configs = found.get("action_requests"), found.get("review_configs")
    if not isinstance(requests, list) or not isinstance(configs, list):
        return [], []
    return cast(list[Json], requests), cast(list[Json], configs)


def _match(
    requests: Sequence[Json], message: AIMessage, backwards: bool = False
) -> list[int] | None:
    """Where in the message each request is: in its order, by name and arguments."""
    places = list(enumerate(message.tool_calls))
    rest = iter(places[::-1] if backwards else places)
    found: list[int] = []
    for request in requests:
        wanted = (request.get("name"), request.get("args"))
        position = next((at for at, call in rest if (call["name"], call["args"]) == wanted), None)
        if position is None:
            return None
        found.append(position)
    return found
