"""`hitl policy explain FILE 'tool {json}'`: what the policy says about one call, and why."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hitl_core.cli.terminal import DIM, GREEN, RED, YELLOW, Paint, complain, say, say_problems
from hitl_core.errors import InvalidToolCall
from hitl_core.model import DEFAULT_PLACE, Place, ToolCall, decode, encode
from hitl_core.policy import InvalidPolicy, Policy, Ruling

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # pyright: ignore[reportPrivateUsage]

_EPILOG = """\
example:
  $ hitl policy explain policy.yaml 'run_sql {"query": "DELETE FROM orders"}'
  run_sql: review
    rule       run_sql (policy.yaml:9)
    reason     Review this SQL statement before execution.
    decisions  approve, reject
    shown in   slack:#support
    escalates  after 10m to slack:#team-ops
    expires    after 4h: reject

Exits with 0 for every verdict, 1 where the policy is not good, 2 where the call is not.
"""
_COLOURS = {"allow": GREEN, "review": YELLOW, "deny": RED}
_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


def add_to(commands: Commands) -> None:
    parser = commands.add_parser(
        "explain",
        help="what a policy says about one call, and why",
        description="What a policy says about one call, and why.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="the policy, a YAML file")
    parser.add_argument(
        "call",
        metavar="CALL",
        help="a tool's name and its arguments as JSON, in one pair of quotes",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    try:
        policy = Policy.load(args.file)
        call = _read_call(args.call)
    except InvalidPolicy as error:
        return say_problems(error)
    except InvalidToolCall as error:
        return complain(str(error))
    ruling = policy.judge(call)
    say(f"{call.name}: ", Paint(ruling.verdict.kind, _COLOURS[ruling.verdict.kind]))
    for label, text in _lines(policy, ruling):
        say(Paint(f"  {label:<9}  ", DIM), text)
    return 0


def _read_call(text: str) -> ToolCall:
    """Held to what the gate accepts. Raises InvalidToolCall."""
    name, _, args = text.strip().partition(" ")
    call = ToolCall(id="explain", name=name, args=decode(args.strip() or "{}"))
    encode(call.args)
    return call


def _lines(policy: Policy, ruling: Ruling) -> Iterator[tuple[str, str]]:
    where = policy.name if ruling.line is None else f"{policy.name}:{ruling.line}"
    yield "rule", f"{ruling.verdict.rule or 'none, the default'} ({where})"
    yield "reason", " ".join(ruling.verdict.reason.split())
    if ruling.verdict.kind != "review":
        return
    route = ruling.route
    needs = " (a rejection needs a reason)" if ruling.reject_reason == "required" else ""
    yield "decisions", ", ".join(ruling.allowed_decisions) + needs
    yield "shown in", ", ".join(_place(place) for place in route.notify)
    for step in route.escalate:
        yield "escalates", f"after {_duration(step.after)} to {_place(step.to)}"
    if not route.escalate:
        yield "escalates", "never"
    if route.expire is None:
        yield "expires", "never: it waits until somebody decides"
    else:
        message = f", with the message: {route.expire.message}" if route.expire.message else ""
        yield "expires", f"after {_duration(route.expire.after)}: {route.expire.decision}{message}"


def _place(place: Place) -> str:
    return "the bot's own channel (HITL_CHANNEL)" if place == DEFAULT_PLACE else place


def _duration(seconds: float) -> str:
    """As a policy writes it: `1h30m`."""
    rest, text = int(seconds), ""
    for unit, size in _UNITS:
        count, rest = divmod(rest, size)
        text += f"{count}{unit}" if count else ""
    return text
