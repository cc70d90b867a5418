"""Answers to LangChain for Python with one interrupt for each call."""

from __future__ import annotations

from typing import cast

from hitl_core.dialects.langchain_per_call import _interrupt_id
from hitl_core.dialects.parts import PYTHON_DECISIONS, Json, is_object
from hitl_core.errors import DecisionError
from hitl_core.model import Review
from hitl_core.review import Proposal
from tests.dialects.answers.items import AnswerItem, read_answer
from tests.dialects.answers.langchain import load_python_proposal


def read(wire: object, review: Review) -> dict[str, Proposal]:
    """Decisions by interrupt id or tool call id, for some or all calls; or a bare decision if only one
    call waits. Interrupt ids come first, because the model makes the tool call ids.
    """
    answer = read_answer(wire)
    if not is_object(answer):
        raise DecisionError("The answer must be an object with decisions by interrupt id.")
    waiting = [action for action in review.actions if action.is_pending]
    by_id = {action.request.tool_call_id: action for action in review.actions}
    by_id |= {_interrupt_id(action): action for action in review.actions}
    if "type" in answer and not set(answer) & set(by_id):
        if len(waiting) != 1:
            raise DecisionError(
                "When there are multiple pending interrupts, you must specify the interrupt id when"
                " resuming."
            )
        answer = {_interrupt_id(waiting[0]): answer}
    if (unknown := next((key for key in answer if key not in by_id), None)) is not None:
        raise DecisionError(f"No interrupt of this review has the id {unknown!r:.80}.", field="id")
    proposals: dict[str, Proposal] = {}
    for index, (key, decision) in enumerate(answer.items()):
        item = AnswerItem(review, by_id[key], index)
        if item.action.key in proposals:
            item.fail("This interrupt is answered twice: by its id and by its call's id.", "id")
        proposals[item.action.key] = _load_proposal(item, decision)
    return proposals


def _load_proposal(item: AnswerItem, decision: object) -> Proposal:
    """Reads one decision. It checks the decision as LangGraph does before it saves the answer: with the same
    paths, and with a fixed tool name.
    """
    if not is_object(decision, "type"):
        return load_python_proposal(item, decision)  # raises: the type is missing
    kind, allowed = (
        decision["type"],
        [each for each in item.decision_types if each in PYTHON_DECISIONS],
    )
    if kind not in allowed:
        tags = ", ".join(f"'{each}'" for each in allowed)
        item.fail(
            f"Input tag '{kind!s:.80}' found using 'type' does not match any of the expected tags: {tags}"
            " [type=union_tag_invalid]",
            "type",
            "not_allowed",
        )
    if kind == "edit":
        _check_edit(item, decision)
    if kind in ("reject", "respond") and not isinstance(decision.get("message", ""), str):
        item.fail(f"{kind}.message: Input should be a valid string", "message")
    try:
        return load_python_proposal(item, decision)
    except DecisionError as error:
        field, text = error.field or "", str(error)
        where = kind if text.startswith(f"{field}:") else f"{kind}.{field}"
        item.fail(f"{where}{'.' if where == kind else ': '}{text}", field, error.code)


def _check_edit(item: AnswerItem, fields: Json) -> None:
    action = fields.get("edited_action")
    if not is_object(action):
        item.fail("edit.edited_action: Field required", "edited_action")
    if action.get("name") != item.tool:
        item.fail(f"edit.edited_action.name: Input should be '{item.tool}'", "edited_action.name")
    if not isinstance(action.get("args"), dict):
        item.fail(
            "edit.edited_action.args: Input should be a valid dictionary", "edited_action.args"
        )
    schema = item.action.config.args_schema or {}
    required = schema.get("required")
    for name in cast(list[object], required) if isinstance(required, list) else []:
        if name not in action["args"]:
            where = f"edited_action.args.{name}"
            item.fail(f"edit.{where}: Field required", where, "invalid_args")
