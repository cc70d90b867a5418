"""`hitl policy explain FILE TOOL '{json}'`: the policy's ruling on one call, and why."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from hitl_core.cli import phrases
from hitl_core.cli.command import add_command
from hitl_core.cli.terminal import DIM, Paint, complain, say, say_problems
from hitl_core.errors import InvalidToolCall, Refused
from hitl_core.gate import JudgedCalls, ReviewKey, build_review, check_redaction, judge_calls
from hitl_core.model import ORIGIN, Place, ToolCall, decode, encode
from hitl_core.policy import InvalidPolicy, Policy, Ruling, is_glob
from hitl_core.review import judge_edit
from hitl_core.sentences import join_names

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands

_EPILOG = """\
example:
  $ hitl policy explain policy.yaml run_sql '{"query": "DELETE FROM orders"}'
  run_sql: review
    rule       run_sql (policy.yaml:9)
    reason     Review this SQL statement before execution.
    decisions  approve, reject
    shown in   slack:#support
    reviewers  the members of the channel where it is shown
    escalates  after 10m to slack:#team-ops
    expires    after 4h: reject

Exits with 0 for any verdict, 1 if the policy is invalid, 2 if the call is
invalid.
"""
#: The most other tools that are listed.
_MAX_TOOLS = 8


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands, "explain", run, help="show a policy's ruling on one call, and why", epilog=_EPILOG
    )
    parser.add_argument("file", metavar="FILE", help="the policy, a YAML file")
    parser.add_argument(
        "call",
        metavar="CALL",
        help="a tool's name; its arguments as JSON can follow inside the same quotes",
    )
    parser.add_argument(
        "args", metavar="ARGS", nargs="?", default="", help="the arguments as JSON (default: {})"
    )


def run(args: argparse.Namespace) -> int:
    try:
        policy = Policy.load(args.file)
        call = _read_call(f"{args.call} {args.args}")
        ruling = policy.judge(call)
        check_redaction(JudgedCalls([call], [ruling]))
    except InvalidPolicy as error:
        return say_problems(error)
    except InvalidToolCall as error:
        return complain(str(error))
    say(f"{call.name}: ", Paint(ruling.verdict.kind, phrases.VERDICT_COLOURS[ruling.verdict.kind]))
    for label, value in [*_main_fields(policy, ruling), *_extra_fields(policy, call, ruling)]:
        say(Paint(f"  {label:<9}  ", DIM), value)
    return 0


def _read_call(text: str) -> ToolCall:
    """The call, checked as the gate does. Raises InvalidToolCall."""
    name, _, args = text.strip().partition(" ")
    if name.startswith("{"):
        example = 'send_email {"to": "jo@example.com"}'
        raise InvalidToolCall(f"The tool's name comes first, then its arguments: '{example}'.")
    call = ToolCall(id="explain", name=name, args=decode(args.strip() or "{}"))
    encode(call.args)
    return call


def _main_fields(policy: Policy, ruling: Ruling) -> Iterator[tuple[str, str]]:
    where = policy.name if ruling.line is None else f"{policy.name}:{ruling.line}"
    yield "rule", f"{ruling.verdict.rule or 'none, the default'} ({where})"
    yield "reason", " ".join(ruling.verdict.reason.split())
    if ruling.verdict.kind != "review":
        return
    route = ruling.route
    needs = " (a rejection needs a reason)" if ruling.reject_reason == "required" else ""
    yield "decisions", ", ".join(ruling.allowed_decisions) + needs
    yield "shown in", ", ".join(map(_place_text, route.notify))
    yield "reviewers", phrases.describe_reviewers(route.reviewers)
    if route.remind is not None:
        yield "reminds", f"every {phrases.duration(route.remind)}"
    for step in route.escalate:
        also = (
            f"; {phrases.describe_reviewers(step.reviewers)}" if step.reviewers.is_explicit else ""
        )
        yield "escalates", f"after {phrases.duration(step.after)} to {_place_text(step.to)}{also}"
    if not route.escalate:
        yield "escalates", "never"
    if route.expire is None:
        yield "expires", "never: it waits until a person decides"
    else:
        message = f", with the message: {route.expire.message}" if route.expire.message else ""
        yield (
            "expires",
            f"after {phrases.duration(route.expire.after)}: {route.expire.decision}{message}",
        )


def _place_text(where: Place) -> str:
    return (
        "the thread in which the agent was asked" if where == ORIGIN else phrases.place_text(where)
    )


def _extra_fields(policy: Policy, call: ToolCall, ruling: Ruling) -> Iterator[tuple[str, str]]:
    """Fields that only few rules have, and fields about edits."""
    route = ruling.route
    if route.clock == "delivered":
        yield "clock", "starts when the first message is posted"
    if route.fallback is not None:
        yield "fallback", f"{_place_text(route.fallback)}, if a place can't be reached"
    asks = {
        "be read whole (must_read)": ruling.must_read is True,
        "be confirmed (confirm)": ruling.confirm,
    }
    if needs := [what for what, is_asked in asks.items() if is_asked]:
        yield "approval", f"must {join_names(needs)}"
    if ruling.redact:
        yield "hides", ", ".join(ruling.redact)
    if ruling.display:
        yield "shows", ", ".join(f"{hint.pointer} as {hint.style}" for hint in ruling.display)
    if ruling.hide_when_decided:
        yield "decided", "the card keeps no argument (hide_when_decided)"
    if ruling.answer_schema is not None:
        yield "answer", f"must satisfy {json.dumps(ruling.answer_schema, ensure_ascii=False)}"
    if ruling.output is not None:
        places = {"state": "the agent's state", "input": "the tool's arguments"}
        yield "answer to", f"{ruling.output.key} in {places[ruling.output.into]}"
    if "edit" in ruling.allowed_decisions:
        others = [*_other_tools(policy, call)]
        more = f" and {len(others) - _MAX_TOOLS} more" if len(others) > _MAX_TOOLS else ""
        yield (
            "edits to",
            (", ".join(others[:_MAX_TOOLS]) + more) or "no other tool",
        )
    if ruling.idempotent:
        yield "in doubt", "it runs again automatically (idempotent)"
    if policy.allow_override:
        yield "overrides", "the configuration of a run may loosen this (allow_override)"


def _other_tools(policy: Policy, call: ToolCall) -> Iterator[str]:
    """The tools with their own rule to which an edit of this call may switch."""
    names = [rule.name for rule in policy.rules if rule.name and not is_glob(rule.name)]
    turn = ReviewKey("explain", "explain", "", "U0")
    judged_request = asyncio.run(judge_calls(policy, [call], tools=dict.fromkeys(names)))
    review, _ = build_review(turn, judged_request, 1, 0.0)
    for name in names:
        with suppress(Refused):
            if name != call.name:
                judge_edit(review, review.actions[0], name, review.arguments("1").parse(), 0.0)
                yield name
