"""What changes in the agent's own history after the decisions: message, state and tool results. Pure."""

from __future__ import annotations

import json
from typing import Any, cast

from hitl_core.model import Action, Call, JsonObject, Review


def message_tool_calls(review: Review) -> list[JsonObject]:
    """All calls for the AI message, `{id, name, args}`, in the model's order. Calls are as the model made
    them; for LangChain for JavaScript and XpertAI they are as edited, because these rewrite the message.
    """
    rewrites = review.dialect in ("langchain_js", "xpertai")
    return [_to_dict(review, call, edited=rewrites) for call in review.calls]


def replacement_calls(review: Review) -> dict[str, JsonObject]:
    """The edited calls, `{name, args}` by tool call id: LangChain's `hitl_edited_tool_calls`."""
    replacements: dict[str, JsonObject] = {}
    for call in review.calls:
        if _is_edited(review.action(call.key)):
            replacements[call.tool_call_id] = _to_dict(review, call, edited=True)
            del replacements[call.tool_call_id]["id"]
    return replacements


def state_update(review: Review) -> JsonObject:
    """The answers for the agent's state, by the keys in the policy; none if the review was cancelled."""
    if review.cancelled is not None:
        return {}
    return {
        action.config.output.key: action.decision.answer
        for action in review.actions
        if action.config.output and action.config.output.into == "state" and action.decision
    }


def add_edit_notice(review: Review, call_id: str, content: Any) -> Any:
    """The result of a call (a text or a list of content blocks), behind a notice to the model that a person
    edited the call, with the edited name and arguments. The result is unchanged if the call was not edited,
    if the policy has no `edit_notice`, and if the notice is already there. The text is that of LangChain
    1.4.2 and later.
    """
    replacement = replacement_calls(review).get(call_id)
    if replacement is None or not review.edit_notice:
        return content
    args = json.dumps(replacement["args"], default=str)
    statement = (
        f"{review.edit_notice} Executed instead: {replacement['name']} with arguments {args}."
    )
    notice = f"{statement}\n\nTool response:" if content else statement
    if isinstance(content, str):
        return content if statement in content else f"{notice}\n{content}" if content else notice
    blocks = cast(list[Any], content)
    if any(statement in _text(block) for block in blocks):
        return blocks
    plain = bool(blocks) and all(isinstance(block, str) for block in blocks)
    return [notice if plain else {"type": "text", "text": notice}, *blocks]


def _text(block: Any) -> str:
    text = cast(JsonObject, block).get("text") if isinstance(block, dict) else block
    return text if isinstance(text, str) else ""


def _is_edited(action: Action | None) -> bool:
    return action is not None and action.decision is not None and action.decision.type == "edit"


def _to_dict(review: Review, call: Call, *, edited: bool) -> JsonObject:
    """The call as edited, or as the model made it."""
    args = review.arguments(call.key, None if edited else 1).parse()
    name = review.tool_name(call) if edited else call.name
    return {"id": call.tool_call_id, "name": name, "args": args}
