"""One process submits and returns at once; a worker runs the calls after people have decided.

    python -m examples.worker ask 1042 80     # for example in a web request
    python -m examples.worker serve           # start as many workers as you like

Needs Redis and a running bot (docs/quickstart.md).
"""

from __future__ import annotations

import argparse
import asyncio
import os

from examples.python_policy import POLICY
from hitl_core import Gate, HitlError, Outcome, ToolCall


async def ask(gate: Gate, order_id: int, amount: float) -> None:
    """A second submit of the same order finds the same review until it is done, so nobody is asked twice."""
    call = ToolCall(f"refund-{order_id}", "refund", {"order_id": order_id, "amount": amount})
    review_id = await gate.submit([call], thread_id=f"order-{order_id}")
    print(f"submitted: {review_id}")


async def serve(gate: Gate) -> None:
    """Nothing waits in memory: a worker that starts tomorrow gets the reviews that are decided tonight."""
    print("serving", flush=True)
    async for outcome in gate.outcomes():  # each goes to one worker; if that dies, to another
        try:
            await run_outcome(outcome)
        except HitlError as error:  # its lease is lost, or Redis can't be reached
            print(f"{outcome.review_id}: {error}", flush=True)
        finally:
            outcome.release()  # an unfinished review comes again, here or in another worker


async def run_outcome(outcome: Outcome) -> None:
    results: dict[str, str] = {}
    for call in outcome.execute:  # allowed or approved calls, with edits
        if await outcome.once(call):  # True exactly once, in any process
            try:
                results[call.id] = await refund(**call.args)
            except Exception as error:  # without a result, the call would be in doubt
                results[call.id] = f"failed: {error}"
    await outcome.finish(results)
    for answer in outcome.answers:  # rejected, skipped or expired: tell the user
        print(f"{outcome.thread_id}: {answer.content}", flush=True)


async def refund(order_id: int, amount: float) -> str:
    """Replace this with a real refund."""
    print(f"paid back {amount:.2f} EUR for order {order_id}", flush=True)
    return f"{amount:.2f} EUR"


async def main() -> None:
    parser = argparse.ArgumentParser(description="Submit now, run the decided calls later.")
    env = os.environ.get("HITL_REDIS_URL", "redis://127.0.0.1:6379/0")
    parser.add_argument("--redis", default=env, metavar="URL", help="or set HITL_REDIS_URL")
    commands = parser.add_subparsers(dest="command", required=True)
    ask_parser = commands.add_parser("ask", help="submit a refund, and return")
    ask_parser.add_argument("order_id", type=int)
    ask_parser.add_argument("amount", type=float)
    commands.add_parser("serve", help="run decided refunds")
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
