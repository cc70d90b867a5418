"""`hitl policy check FILE`: prints all errors of a policy, one on each line."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING

from hitl_core.cli.command import add_command, load_policy_check
from hitl_core.cli.terminal import GREEN, YELLOW, Paint, say, say_problems
from hitl_core.policy import InvalidPolicy, Policy, find_gaps

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands

_EPILOG = """\
examples:
  $ hitl policy check policy.yaml
  policy.yaml:1: default: This must be `allow`, `review` or `deny`, not `alow`
  $ hitl policy check policy.yaml --channels
  ok policy.yaml: 1 rule (review), default review
  NOT USABLE  slack:#suport: there is no channel #suport

It warns if a `when` lets a call run without review only because an argument is
missing or has another type. With --channels it also asks Slack and Teams which
places, people and groups of the policy the bot can use: this needs the bot's
settings (SLACK_BOT_TOKEN or TEAMS_…, and HITL_CHANNEL), and changes nothing.

Exits with 0 if the policy is valid; 1 if it is not, or if the bot can't use a
place, 2 if a setting is wrong. Warnings don't count.
"""


_ADVICE = (
    "Use `not` to describe the harmless calls, each argument with its `type`, and all of them as `required`:"
    " then `when` matches all others."
)


def add_to(commands: Commands) -> None:
    parser = add_command(commands, "check", run, help="find all errors in a policy", epilog=_EPILOG)
    parser.add_argument("file", metavar="FILE", help="the policy, a YAML file")
    parser.add_argument(
        "--channels",
        action="store_true",
        help="ask Slack and Teams too whether places, people and groups exist",
    )


def run(args: argparse.Namespace) -> int:
    try:
        policy = Policy.load(args.file)
    except InvalidPolicy as error:
        return say_problems(error)
    kinds = Counter(rule.kind for rule in policy.rules)
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    number = f"{len(policy.rules)} rule{'' if len(policy.rules) == 1 else 's'}"
    rules = f"{number} ({counts})" if counts else number
    say(Paint("ok ", GREEN), f"{policy.name}: {rules}, default {policy.default.kind}")
    for rule in policy.rules:
        where = policy.name if rule.line is None else f"{policy.name}:{rule.line}"
        for gap in find_gaps(policy, rule):
            say(
                Paint("warning ", YELLOW),
                f"{where}: interrupt_on.{rule.name}.when: {gap} {_ADVICE}",
            )
    return load_policy_check()(policy) if args.channels else 0
