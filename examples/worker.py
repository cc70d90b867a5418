"""One process asks and returns at once; a worker runs what was decided, whenever that is.

    python -m examples.worker ask 1042 80     # say, a web request
    python -m examples.worker serve           # as many of these as you like, for ever

Needs a Redis and a bot beside it (docs/quickstart.md).
"""

from __future__ import annotations

import argparse
import asyncio
import os

from examples.python_policy import POLICY
from hitl_core import Gate, HitlError, Outcome, ToolCall


async def ask(gate: Gate, order_id: int, amount: float) -> None:
    """The same order again finds the same review, until that is done: a second press asks nobody twice."""
    call = ToolCall(f"refund-{order_id}", "refund", {"order_id": order_id, "amount": amount})
    review_id = await gate.submit([call], thread_id=f"order-{order_id}")
    print(f"asked: {review_id}")


async def serve(gate: Gate) -> None:
    """Nothing waits in memory: a worker that starts tomorrow takes up what is decided tonight."""
    print("serving", flush=True)
    async for outcome in gate.outcomes():  # each goes to one worker; a dead one's to the next
        try:
            await run_outcome(outcome)
        except HitlError as error:  # its lease is lost, or the store away
            print(f"{outcome.review_id}: {error}", flush=True)
        finally:
            outcome.release()  # what is not done comes again, here or to another worker


async def run_outcome(outcome: Outcome) -> None:
    results: dict[str, str] = {}
    for call in outcome.execute:  # allowed or approved, edits applied
        if await outcome.once(call):  # True exactly once, in any process
            try:
                results[call.id] = await refund(**call.args)
            except Exception as error:  # without a result it would be in doubt
                results[call.id] = f"failed: {error}"
    await outcome.finish(results)
    for answer in outcome.answers:  # rejected, skipped, expired: tell whoever asked
        print(f"{outcome.thread_id}: {answer.content}", flush=True)


async def refund(order_id: int, amount: float) -> str:
    """The real one goes here."""
    print(f"paid back {amount:.2f} EUR for order {order_id}", flush=True)
    return f"{amount:.2f} EUR"


async def main() -> None:
    parser = argparse.ArgumentParser(description="Ask now, run what was decided later.")
    env = os.environ.get("HITL_REDIS_URL", "redis://127.0.0.1:6379/0")
    parser.add_argument("--redis", default=env, metavar="URL", help="or set HITL_REDIS_URL")
    commands = parser.add_subparsers(dest="command", required=True)
    ask_parser = commands.add_parser("ask", help="ask for a refund, and return")
    ask_parser.add_argument("order_id", type=int)
    ask_parser.add_argument("amount", type=float)
    commands.add_parser("serve", help="run what was decided")
    args = parser.parse_args()
    async with Gate.connect(args.redis, policy=POLICY, agent="refunds") as gate:
        if args.command == "ask":
            await ask(gate, args.order_id, args.amount)
        else:
            await serve(gate)


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except HitlError as error:
        raise SystemExit(f"worker: {error}") from None
