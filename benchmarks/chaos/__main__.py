"""`make chaos [SHORT=1] [SEED=n] [FAULTS=…] [CHANNEL=teams] [MODE=socket] [REDIS=…] [BUG=…]`"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from benchmarks.chaos.faults.bugs import BUGS
from benchmarks.chaos.names import CHATS
from benchmarks.chaos.plan import FAULT_GROUPS, MODES, SETUPS, Plan
from benchmarks.chaos.run import StatusPrinter, run
from benchmarks.chaos.verdict.figures import figures
from benchmarks.chaos.verdict.judge import judge
from benchmarks.support.process import ROOT

#: With digests, so many waiting cards are shown one by one.
DIGEST_AFTER = 4
#: How many violations of one kind are printed.
SHOWN = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0 if there is no violation, else 1. The last line that it prints is the verdict."""
    options = _parse(arguments)
    plan = _plan(options)
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    names = ",".join(plan.faults) or "none"
    again = f"seed {plan.seed}, faults {names}, records in {options.folder}"
    print(again, flush=True)
    try:
        evidence = asyncio.run(run(plan, options.folder, StatusPrinter()))
    except Exception as error:
        traceback.print_exc()
        print(f"chaos: FAILED, it could not be judged: {error} ({again})")
        return 1
    for line in figures(evidence):
        print(line)
    violations = judge(evidence)
    for name, found in violations.items():
        print(f"{len(found):6}  {name}")
        for each in found[:SHOWN]:
            print(f"          {each}")
    count = sum(map(len, violations.values()))
    if count:
        print(f"chaos: FAILED, {count} violations ({again})")
        return 1
    print(f"chaos: passed, nothing lost, nothing twice ({again})")
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--short", action="store_true", help="a run of about 60 s")
    parser.add_argument("--tiny", action="store_true", help="the smallest run, for tests")
    parser.add_argument("--seed", type=int, help="the seed of an earlier run; default: a new one")
    parser.add_argument("--faults", help=f"some of {','.join(FAULT_GROUPS)}, or none; default: all")
    parser.add_argument("--redis", choices=SETUPS, default="single", help="the kind of Redis")
    parser.add_argument("--channel", choices=CHATS, default="slack", help="the chat system")
    parser.add_argument(
        "--mode",
        choices=MODES,
        default="http",
        help="how Slack reaches the bots: socket for Socket Mode",
    )
    parser.add_argument(
        "--digests", action="store_true", help="many waiting reviews share a message; only in Teams"
    )
    parser.add_argument("--pending", type=int, help="how many reviews wait; default: 10,000")
    parser.add_argument(
        "--rate", type=float, help="on how many of them people act in each second; default: 100"
    )
    parser.add_argument(
        "--bug",
        choices=sorted(BUGS),
        default="",
        help="add this bug to the product: the run must fail",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=ROOT / "build" / "chaos",
        help="the folder for the records; it is emptied first",
    )
    options = parser.parse_args(arguments)
    names = FAULT_GROUPS if options.faults is None else options.faults.split(",")
    options.faults = tuple(name for name in names if name != "none")
    if unknown := set(options.faults) - set(FAULT_GROUPS):
        parser.error(f"unknown faults: {','.join(sorted(unknown))}")
    if options.mode == "socket" and options.channel != "slack":
        parser.error("only Slack has Socket Mode")
    if options.digests and options.channel != "teams":
        parser.error("nobody opens digests in this bench's Slack, so only Teams has them")
    if options.bug == "early-ack" and options.channel != "slack":
        parser.error("the bug early-ack is added to Bolt: only Slack has it")
    return options


def _plan(options: argparse.Namespace) -> Plan:
    make = Plan.tiny if options.tiny else Plan.short if options.short else Plan
    seed = random.randrange(1_000_000) if options.seed is None else options.seed
    given = {"pending": options.pending, "rate": options.rate}
    sizes = {name: size for name, size in given.items() if size is not None}
    more = {"faults": options.faults, "bug": options.bug, "setup": options.redis}
    if options.digests:  # with faster limits too few cards wait
        more |= {"digest_after": DIGEST_AFTER, "scale": 20.0}
    return make(seed=seed, chat=options.channel, mode=options.mode, **more, **sizes)


if __name__ == "__main__":
    sys.exit(main())
