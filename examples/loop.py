"""A plain loop over a model's tool calls, with human approval and no framework.

    python -m examples.loop "Refund order 1042"

Needs Redis and a running bot (docs/quickstart.md).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from typing import Any
from uuid import uuid4

from examples.python_policy import POLICY
from hitl_core import Gate, HitlError, ToolCall

Message = dict[str, Any]  # in the format of the chat APIs

TOOLS = {
    "refund": lambda order_id, amount: f"paid back {amount:.2f} EUR for order {order_id}",
    "send_email": lambda to, body: f"sent to {to}: {body}",
}


async def ask_model(messages: list[Message]) -> Message:
    """Replace this with your client: `await client.chat.completions.create(messages=messages, …)`."""
    if results := [message["content"] for message in messages if message["role"] == "tool"]:
        return {"role": "assistant", "content": "\n".join(results)}
    wanted = {
        "refund": {"order_id": 1042, "amount": 80},
        "send_email": {"to": "jo@example.com", "body": "Your refund is on its way."},
    }
    calls = [
        {"id": f"call_{name}", "function": {"name": name, "arguments": json.dumps(args)}}
        for name, args in wanted.items()
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


async def run(gate: Gate, messages: list[Message], thread_id: str) -> str:
    """Runs until the model calls no more tools. In production, store each message outside this process: a
    loop that starts again with the same thread, turn and calls finds its review and its results.
    """
    while True:
        message = await ask_model(messages)
        messages.append(message)
        calls = [
            ToolCall(
                call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])
            )
            for call in message.get("tool_calls", [])
        ]
        if not calls:
            return message["content"]
        # One review per turn: all its calls are on one card, and people decide each call separately.
        outcome = await gate.review(calls, thread_id=thread_id, turn=f"message-{len(messages)}")
        results = {answer.tool_call_id: answer.content for answer in outcome.answers}
        if outcome.jump_to_model:
            print("No call may run: the model gets the answers.")
        for call in outcome.execute:  # allowed or approved calls, with edits
            if await outcome.once(call):  # True exactly once, in any process
                results[call.id] = run_tool(call)
        await outcome.finish(results)  # the card shows the first line of each result
        # Answer every call: otherwise the chat APIs refuse the next request.
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": results[call.id]} for call in calls
        ]


def run_tool(call: ToolCall) -> str:
    """The answer for the model. It includes the arguments, because a person may have changed them."""
    try:
        result = TOOLS[call.name](**call.args)
    except Exception as error:  # the tool failed, or the edited arguments don't fit it
        return f"{call.name} failed: {error}"
    print(f"{call.name}: {result}")
    return f"{call.name} ran with {json.dumps(call.args)}: {result}"


async def main() -> None:
    parser = argparse.ArgumentParser(description="A loop over a model's tool calls.")
    parser.add_argument("text", help="what the user says")
    parser.add_argument("--thread", default=uuid4().hex, help="the conversation's id")
    env = os.environ.get("HITL_REDIS_URL", "redis://127.0.0.1:6379/0")
    parser.add_argument("--redis", default=env, metavar="URL", help="or set HITL_REDIS_URL")
    args = parser.parse_args()
    async with Gate.connect(args.redis, policy=POLICY, agent="shop") as gate:
        print(await run(gate, [{"role": "user", "content": args.text}], args.thread))


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except HitlError as error:
        raise SystemExit(f"loop: {error}") from None
