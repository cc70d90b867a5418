"""The entry point of `hitl`: parses the command line, runs the command, and maps errors to exit codes."""

from __future__ import annotations

import argparse
import errno
import importlib.metadata
import sys
from collections.abc import Sequence

from hitl_core.cli import audit, dead, policy, reviews, tokens
from hitl_core.cli.command import add_plugin_commands, add_subject
from hitl_core.cli.terminal import (
    complain,
    discard_output,
    escape_unknown_characters,
    open_closed_streams,
)
from hitl_core.errors import HitlError, Refused, ReviewNotFound, StoreError, StoreUnavailable

_EPILOG = """\
examples:
  $ hitl demo
  $ hitl policy check policy.yaml
  $ hitl reviews list

Every command has its own help: `hitl reviews list --help`. Colours are used
on a terminal only, and not if NO_COLOR is set.

Exit codes:
  0  success
  1  a problem was found, the name was not found, or the change was refused
  2  the command or a setting is wrong
  3  Redis can't be reached, or failed
"""
_POLICY = """\
examples:
  $ hitl policy check policy.yaml
  $ hitl policy test new.yaml calls.jsonl --against policy.yaml
"""
_REVIEWS = """\
examples:
  $ hitl reviews list
  $ hitl reviews show 0-93b4c7d2
  $ hitl reviews cancel 0-93b4c7d2 --reason "The wrong customer"

They use the Redis of the agents and the bot: --redis URL or HITL_REDIS_URL.
The variable is safer: other users of the machine can't see it.
"""
_AUDIT = """\
examples:
  $ hitl audit show 0-93b4c7d2
  $ hitl audit export --out audit.jsonl
  $ hitl audit verify audit.jsonl
"""
_DEAD = """\
examples:
  $ hitl dead list
  $ hitl dead retry --all
"""
_TOKENS = """\
example:
  $ hitl tokens create billing > /run/secrets/hitl-token
"""


#: Why standard output takes no more.
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code. `argv` doesn't include the program's name."""
    argv = sys.argv[1:] if argv is None else argv
    parser = build_parser(argv[0] if argv else "")
    if not argv:
        parser.print_help(sys.stderr)
        parser.exit(2)
    args, unknown = parser.parse_known_args(argv)
    if unknown:  # by the command itself, whose usage has the options that there are
        args.command.error(f"unrecognized arguments: {' '.join(unknown)}")
    open_closed_streams()
    escape_unknown_characters()
    try:
        code = args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:  # `… | head`
        discard_output()
        return 141
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130
    except HitlError as error:
        complain(str(error))
        return _exit_code(error)
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
        discard_output()
        return complain(f"The output can't be written: {error.strerror}.")
    return code


def _exit_code(error: HitlError) -> int:
    if isinstance(error, Refused | ReviewNotFound):
        return 1
    return 3 if isinstance(error, StoreUnavailable | StoreError) else 2


def build_parser(subject: str = "") -> argparse.ArgumentParser:
    """The parser of all commands, each with its `run`. If `subject` is a command of this package, the
    commands of other packages are left out and not imported.
    """
    top = argparse.ArgumentParser(
        prog="hitl",
        description="Human approval for AI agents' tool calls.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"hitl {_version()}")
    subjects = top.add_subparsers(metavar="SUBJECT", required=True)
    for room, name, about, epilog in (
        (policy, "policy", "the file that says which calls need a person", _POLICY),
        (reviews, "reviews", "the calls that wait for people or for their agent", _REVIEWS),
        (dead, "dead", "dead letters: the cards that could not be shown", _DEAD),
        (tokens, "tokens", "access tokens for agents that use the HTTP API", _TOKENS),
        (audit, "audit", "the record of who did what, and its verification", _AUDIT),
    ):
        room.add_to(add_subject(subjects, name, help=about, epilog=epilog))
    if subject not in subjects.choices:
        add_plugin_commands(subjects)
    return top


def _version() -> str:
    try:
        return importlib.metadata.version("hitl-core")
    except importlib.metadata.PackageNotFoundError:
        return "from a checkout"
