"""The agent of `make demo CHECK=1`: LangGraph, with a model that replays turns and tools that record.

    python -m slack_sandbox.demo.check_agent --redis URL --data DIR --policy FILE --turns FILE

Any number of these may run; what one began another finishes. Turn N is begun by the line `begin N` on the
standard input of one of them. What tools receive is appended to DIR/received.jsonl; the outcome of each turn
to DIR/outcomes.jsonl.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, InterruptOnConfig
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from pydantic import Field

from hitl_core import Gate, HitlError, Policy, ToolCall
from hitl_core.integrations.langgraph import HumanReview, Run

from .turns import read_lines


class Replay(BaseChatModel):
    """Answers the message "turn N" with the calls of that turn, and what came of them with a word."""

    turns: dict[int, dict[str, Any]]

    @property
    def _llm_type(self) -> str:
        return "replay"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        last = messages[-1]
        if isinstance(last, HumanMessage):
            number = _number(last)
            calls = [{**call, "type": "tool_call"} for call in self.turns[number]["calls"]]
            # An id that is the same in every process names the turn, as a provider's does.
            message = AIMessage("", tool_calls=calls, id=f"turn-{number}")
        else:
            message = AIMessage("Done.")
        return ChatResult(generations=[ChatGeneration(message=message)])


class Recorder(BaseTool):
    """Takes any arguments, and writes down what it received before it answers."""

    description: str = "Records what it receives."
    args_schema: Any = Field(default_factory=lambda: {"type": "object", "properties": {}})
    file: Path

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        """Here and not in `_arun`: no framework code stands between the call and the record."""
        call = cast(dict[str, Any], input)
        _append(
            self.file,
            {"id": call["id"], "name": self.name, "args": call["args"], "pid": os.getpid()},
        )
        return ToolMessage("recorded", tool_call_id=call["id"], name=self.name)


def make_agent(turns: dict[int, dict[str, Any]], data: Path, policy: Policy, saver: Any) -> Any:
    """LangChain interrupts exactly where our policy asks for a person."""
    names = sorted({call["name"] for turn in turns.values() for call in turn["calls"]})
    return create_agent(
        Replay(turns=turns),
        [Recorder(name=name, file=data / "received.jsonl") for name in names],
        middleware=[HumanInTheLoopMiddleware({name: _interrupt_config(policy) for name in names})],
        checkpointer=saver,
    )


def _interrupt_config(policy: Policy) -> InterruptOnConfig:
    def needs_review(request: ToolCallRequest) -> bool:
        call = request.tool_call
        ruling = policy.judge(ToolCall(str(call["id"]), call["name"], call["args"]))
        return ruling.verdict.kind == "review"

    return {"allowed_decisions": ["approve", "edit", "reject", "respond"], "when": needs_review}


async def serve(options: argparse.Namespace) -> None:
    policy = Policy.load(options.policy)
    lines = read_lines(options.turns)
    turns = {line["number"]: line for line in lines}
    async with (
        AsyncSqliteSaver.from_conn_string(str(options.data / "runs.db")) as saver,
        Gate.connect(options.redis, policy=policy, agent=options.name, lease=10.0) as gate,
    ):
        reviews = HumanReview(gate)
        driver = reviews.drive(make_agent(turns, options.data, policy, saver))

        async def on_stop(run: Run) -> None:
            _write_outcome(options.data, run)

        async def begin() -> None:
            async for number in _turn_numbers():
                thread_id = turns[number]["thread_id"]
                text = HumanMessage(f"turn {number}", id=f"ask-{number}")
                try:
                    run = await driver.run({"messages": [text]}, thread_id=thread_id)
                except HitlError as error:
                    run = Run(thread_id, {}, finished=False, refusal=str(error))
                _write_outcome(options.data, run)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(driver.serve(on_stop))
            tasks.create_task(begin())
            print("agent: ready", flush=True)


def _write_outcome(data: Path, run: Run) -> None:
    """The outcome of the newest turn: what ran is known from the record, the rest from the messages."""
    if run.refusal:
        _append(data / "outcomes.jsonl", {"thread_id": run.thread_id, "refused": run.refusal})
    if not run.finished:
        return
    messages = cast(list[BaseMessage], run.state["messages"])
    start = max(i for i, message in enumerate(messages) if isinstance(message, HumanMessage))
    answers = [
        {
            "tool_call_id": message.tool_call_id,
            "name": message.name,
            "content": message.content,
            "status": message.status,
        }
        for message in messages[start:]
        if isinstance(message, ToolMessage)
    ]
    number = _number(messages[start])
    outcome = {
        "number": number,
        "thread_id": run.thread_id,
        "messages": answers,
        "pid": os.getpid(),
    }
    _append(data / "outcomes.jsonl", outcome)


async def _turn_numbers() -> AsyncIterator[int]:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        yield int(line.split()[1])
    await asyncio.Event().wait()  # nobody asks for more: still serve what is decided


def _number(message: BaseMessage) -> int:
    return int(str(message.content).split()[1])


def _append(file: Path, value: dict[str, Any]) -> None:
    """One write to a file opened for appending: whole lines, whichever process writes them."""
    line = json.dumps(value, ensure_ascii=False) + "\n"
    number = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(number, line.encode())
        os.fsync(number)
    finally:
        os.close(number)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--redis", required=True)
    parser.add_argument("--name", required=True, help="which agent's reviews these are")
    for name in ("--data", "--policy", "--turns"):
        parser.add_argument(name, type=Path, required=True)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
