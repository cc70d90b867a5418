"""`hitl policy check FILE`: everything that is wrong with a policy, one line each."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING

from hitl_core.cli.command import add_command
from hitl_core.cli.terminal import GREEN, YELLOW, Paint, say, say_problems
from hitl_core.policy import InvalidPolicy, Policy
from hitl_core.policy.gaps import find_gaps

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands

_EPILOG = """\
example:
  $ hitl policy check policy.yaml
  policy.yaml:1: default: This must be `allow`, `review` or `deny`, not `alow`

It warns where a `when` lets a call through because an argument is missing or of
another type. It knows nothing of Slack: whether the channels, people and groups
exist there, `python -m bot check-policy FILE` says, with the bot's token.

Exits with 0 where the policy is good, 1 where it is not. Warnings don't count.
"""


_ADVICE = "Say by `not` which calls are harmless; all others then meet it."


def add_to(commands: Commands) -> None:
    parser = add_command(
        commands, "check", run, help="find everything that is wrong with a policy", epilog=_EPILOG
    )
    parser.add_argument("file", metavar="FILE", help="the policy, a YAML file")


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
    return 0
