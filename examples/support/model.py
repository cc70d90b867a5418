"""The agent's model: the demo's script, or a real model if an API key is set."""

from __future__ import annotations

import os
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

from slack_sandbox.demo import Result, next_step

SYSTEM_PROMPT = (
    "You are a support desk agent. Look an order up before you act on it. Call every tool that "
    "the request needs in one turn. A person may reject or change a call: say so, never try it "
    "again. Answer in one or two sentences."
)
REAL_MODELS = [  # key, package, model: the first key that is set counts; DEMO_MODEL overrides the model
    ("ANTHROPIC_API_KEY", "langchain-anthropic", "anthropic:claude-sonnet-4-5"),
    ("OPENAI_API_KEY", "langchain-openai", "openai:gpt-5-mini"),
]


def choose_model() -> BaseChatModel:
    """A real model if a key is set and its package is installed; otherwise the scripted one."""
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
    """Calls tools for the last user message, then reports their results."""

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
    ask = messages[position].text if position >= 0 else ""
    tool_messages = [m for m in messages[position + 1 :] if isinstance(m, ToolMessage)]
    step = next_step(ask, [Result(m.name or "", m.status, m.text) for m in tool_messages])
    if isinstance(step, str):
        return AIMessage(content=step, id=_id("msg"))
    calls = [ToolCall(name=call.name, args=call.args, id=_id("call")) for call in step]
    return AIMessage(content="", tool_calls=calls, id=_id("msg"))


def _id(kind: str) -> str:
    return f"{kind}_{uuid4().hex[:24]}"
