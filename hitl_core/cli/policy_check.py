"""`hitl policy check FILE`: everything that is wrong with a policy, one line each."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING

from hitl_core.cli.command import add_command
from hitl_core.cli.terminal import GREEN, Paint, say, say_problems
from hitl_core.policy import InvalidPolicy, Policy

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands

_EPILOG = """\
example:
  $ hitl policy check policy.yaml
  policy.yaml:1: default: This must be `allow`, `review` or `deny`, not `alow`

It knows nothing of Slack: whether the channels, people and groups exist there,
`python -m bot check-policy FILE` says, with the bot's token.

Exits with 0 where the policy is good, 1 where it is not.
"""


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
    return 0
