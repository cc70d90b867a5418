"""Answers to ArcGIS: payloads by the ids of their interrupts."""

from __future__ import annotations

from typing import cast

from hitl_core.dialects.arcgis.interrupts import _agent_id, _interrupt_id
from hitl_core.dialects.parts import Json
from hitl_core.errors import DecisionError
from hitl_core.model import Review
from hitl_core.review import Proposal
from tests.dialects.answers.items import AnswerItem, read_answer


def read(wire: object, review: Review) -> dict[str, Proposal]:
    """A HITLResponse, or a list of them. Their ids say which interrupts they answer."""
    answer = read_answer(wire, javascript=True)
    responses = cast(list[object], answer) if isinstance(answer, list) else [answer]
    by_id = {_interrupt_id(action): action for action in review.actions}
    proposals: dict[str, Proposal] = {}
    for index, one in enumerate(responses):
        response: Json = cast(Json, one) if isinstance(one, dict) else {}
        interrupt_id = response.get("id")
        action = by_id.get(interrupt_id) if isinstance(interrupt_id, str) else None
        if action is None:
            raise DecisionError("No interrupt of this review has this id.", index=index, field="id")
        item = AnswerItem(review, action, index)
        if response.get("agentId") != _agent_id(review):
            item.fail("This interrupt belongs to another agent.", "agentId")
        if action.key in proposals:
            item.fail("This interrupt is answered twice.", "id")
        proposals[action.key] = read_payload(item, response)
    if not proposals:
        raise DecisionError("The answer is an empty list.")
    return proposals


def read_payload(item: AnswerItem, response: Json) -> Proposal:
    """Reads `true` as approve and `false` as reject, by the app's convention."""
    given = response.get("payload")
    if given is None:
        item.fail("The answer has no `payload`.", "payload")
    if given is False and "reject" in item.decision_types:
        return item.make_proposal("reject", "payload")
    if "approve" in item.decision_types:
        asks = item.action.config.answer_schema is not None
        if given is not True and not asks:
            item.fail("The `payload` must be true or false.", "payload", "invalid_answer")
        return item.make_proposal("approve", "payload", answer=given if asks else None)
    if "respond" not in item.decision_types:
        item.fail(f"{item.tool} doesn't allow this answer.", "payload", "not_allowed")
    return item.make_proposal("respond", "payload", answer=given)
