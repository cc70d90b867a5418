"""`make chaos [SHORT=1] [SEED=n] [FAULTS=bots,agents,redis,network,slack] [REDIS=…] [PLANT=…]`"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from benchmarks.chaos.faults.plants import PLANTS
from benchmarks.chaos.plan import FAULT_GROUPS, SETUPS, Plan
from benchmarks.chaos.run import Sayer, run
from benchmarks.chaos.verdict.figures import figures
from benchmarks.chaos.verdict.judge import judge
from benchmarks.support.process import ROOT

#: How many violations of one kind are printed.
SHOWN = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """0 if there is no violation, 1 otherwise. The last line is the verdict."""
    options = _parse(arguments)
    plan = _plan(options)
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    names = ",".join(plan.faults) or "none"
    again = f"seed {plan.seed}, faults {names}, records in {options.folder}"
    print(again, flush=True)
    try:
        evidence = asyncio.run(run(plan, options.folder, Sayer()))
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
    parser.add_argument("--short", action="store_true", help="60 s in all")
    parser.add_argument("--tiny", action="store_true", help="for a test")
    parser.add_argument("--seed", type=int, help="of an earlier run; default: a new one")
    parser.add_argument("--faults", help=f"some of {','.join(FAULT_GROUPS)}, or none; default: all")
    parser.add_argument("--redis", choices=SETUPS, default="single", help="what Redis consists of")
    parser.add_argument("--pending", type=int, help="reviews that wait; default: 10,000")
    parser.add_argument("--rate", type=float, help="of these, each second; default: 100")
    parser.add_argument(
        "--plant", choices=sorted(PLANTS), default="", help="a fault of the product"
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=ROOT / "build" / "chaos",
        help="for the records; emptied first",
    )
    options = parser.parse_args(arguments)
    names = FAULT_GROUPS if options.faults is None else options.faults.split(",")
    options.faults = tuple(name for name in names if name != "none")
    if unknown := set(options.faults) - set(FAULT_GROUPS):
        parser.error(f"no such faults: {','.join(sorted(unknown))}")
    return options


def _plan(options: argparse.Namespace) -> Plan:
    make = Plan.tiny if options.tiny else Plan.short if options.short else Plan
    seed = random.randrange(1_000_000) if options.seed is None else options.seed
    given = {"pending": options.pending, "rate": options.rate}
    sizes = {name: size for name, size in given.items() if size is not None}
    more = {"faults": options.faults, "plant": options.plant, "setup": options.redis}
    return make(seed=seed, **more, **sizes)


if __name__ == "__main__":
    sys.exit(main())
