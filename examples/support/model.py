"""The demo agent's model: a small script that follows the user's words, or a real one by key.

The script is a pure function of the conversation, so any process can go on where another stopped.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

SYSTEM_PROMPT = (
    "You are a support desk agent. Look an order up before you act on it. Call every tool that "
    "the request needs in one turn. A person may reject or change a call: say so, never try it "
    "again. Answer in one or two sentences."
)
HELP = (
    "I can: refund order 1042 · delete order 1043 · make customer C-1 vip · "
    "email jo@example.com Your parcel is on its way · run SQL SELECT * FROM orders"
)
LOOKED_UP = ("find_order", "success")
REAL_MODELS = [  # first key that is set, the package it needs, the model (DEMO_MODEL overrides)
    ("ANTHROPIC_API_KEY", "langchain-anthropic", "anthropic:claude-sonnet-4-5"),
    ("OPENAI_API_KEY", "langchain-openai", "openai:gpt-5-mini"),
]


def choose_model() -> BaseChatModel:
    """A real model where a key is set and its package installed, else the scripted one."""
    for key, package, name in REAL_MODELS:
        if not os.environ.get(key):
            continue
        try:
            from langchain.chat_models import init_chat_model

            return init_chat_model(os.environ.get("DEMO_MODEL") or name)
        except ImportError:
            print(
                f"{key} is set but {package} is not installed: `pip install {package}`."
                " The scripted model answers instead.",
                file=sys.stderr,
            )
    return ScriptedModel()


class ScriptedModel(BaseChatModel):
    """Calls tools by what the last user message says, then tells what came of them."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        return self  # the script knows its tools

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=reply(messages))])


def reply(messages: Sequence[BaseMessage]) -> AIMessage:
    """The next message: tool calls, or a sentence when nothing is left to call."""
    position = max((i for i, m in enumerate(messages) if isinstance(m, HumanMessage)), default=-1)
    ask = messages[position].text.strip() if position >= 0 else ""
    results = [m for m in messages[position + 1 :] if isinstance(m, ToolMessage)]
    match results:
        case []:
            answer = _first_step(ask)
        case [ToolMessage(name="find_order", status="success") as found]:
            answer = _refund_calls(ask, found.text)
        case _:
            answer = " ".join(
                _result_sentence(r) for r in results if (r.name, r.status) != LOOKED_UP
            )
    if isinstance(answer, str):
        return AIMessage(content=answer, id=_id("msg"))
    return AIMessage(content="", tool_calls=answer, id=_id("msg"))


def _first_step(ask: str) -> list[ToolCall] | str:
    """What the user's words start: the first phrase that fits."""
    if sql := re.search(r"\bsql\b:?\s+(.+)", ask, re.IGNORECASE | re.DOTALL):
        return [_call("run_sql", query=sql[1])]
    if mail := re.search(r"\be-?mail\s+(\S+@[\w.-]+\w)[\s:,]*(.*)", ask, re.IGNORECASE | re.DOTALL):
        body = mail[2].strip() or "Hello from the support desk."
        return [_call("send_email", to=mail[1], subject="A note about your order", body=body)]
    if customer := re.search(
        r"\bcustomer\s+(\S+)\s+(?:to\s+|as\s+)?(?:an?\s+)?(\w+)", ask, re.IGNORECASE
    ):
        return [_call("update_customer", customerId=customer[1], status=customer[2].lower())]
    order = re.search(r"\border\s*#?\s*(\d{1,9})\b", ask, re.IGNORECASE)
    if order and re.search(r"\b(delete|remove|drop)\b", ask, re.IGNORECASE):
        return [_call("run_sql", query=f"DELETE FROM orders WHERE id = {order[1]}")]
    if order:
        return [_call("find_order", order_id=int(order[1]))]
    return HELP


def _refund_calls(ask: str, order_line: str) -> list[ToolCall] | str:
    """The three calls of a refund, from the line that `find_order` gave."""
    line = re.search(r"order (\d+): (.+?), ([\d.]+) EUR, .*customer (\S+) (.+) <(.+)>", order_line)
    if not line or not re.search(r"\brefund", ask, re.IGNORECASE):
        return order_line
    order, item, total, _, name, address = line.groups()
    amount_match = re.search(r"(\d+(?:\.\d+)?)\s*(?:eur|€)", ask, re.IGNORECASE)
    amount = float(amount_match[1]) if amount_match else float(total)
    return [
        _call("refund_order", order_id=int(order), amount=amount, reason="asked by the customer"),
        _call(
            "send_email",
            to=address,
            subject=f"Your refund for order {order}",
            body=f"Hello {name},\n\nwe have paid back {amount:.2f} EUR for: {item}.\n",
        ),
        _call("run_sql", query=f"UPDATE orders SET status = 'refunded' WHERE id = {order}"),
    ]


def _result_sentence(result: ToolMessage) -> str:
    """One sentence on what came of a call; a rejected one is told and not tried again."""
    text = result.text.rpartition("Tool response:\n")[2]  # after LangChain's note on an edit
    changed = " (changed by the reviewer)" if text != result.text else ""
    if result.status == "success":
        return f"{result.name}{changed}: {text}."
    if "rejected" in text:
        reason = text.partition("with reason: ")[2]
        return f"{result.name} was rejected{': ' + reason if reason else ''}, so I left it."
    return f"{result.name}{changed} failed: {text}."


def _call(name: str, **args: Any) -> ToolCall:
    return ToolCall(name=name, args=args, id=_id("call"))


def _id(kind: str) -> str:
    return f"{kind}_{uuid4().hex[:24]}"
