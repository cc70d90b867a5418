"""The calls of an AI message after a review, as LangChain leaves them."""

from __future__ import annotations

from hitl_core.model import JsonObject, Review


def message_tool_calls(review: Review) -> list[JsonObject]:
    """`{id, name, args}` in the model's order. Calls are as the model made them; for LangChain for JavaScript
    and XpertAI they are as edited, because these rewrite the message.
    """
    rewrites = review.dialect in ("langchain_js", "xpertai")
    return [
        {
            "id": call.tool_call_id,
            "name": review.tool_name(call) if rewrites else call.name,
            "args": review.arguments(call.key, None if rewrites else 1).parse(),
        }
        for call in review.calls
    ]
