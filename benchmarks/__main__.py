"""`python -m benchmarks`: measure, print a table, write results.json."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.measures import (
    backlog,
    burst,
    click_latency,
    click_rate,
    drawing,
    growth,
    home,
    hostile_load,
    http_submit,
    imports,
    memory,
    policy,
    submit,
    teams,
    timers,
)
from benchmarks.report.chart import svg
from benchmarks.report.figure import Figure
from benchmarks.report.table import table
from benchmarks.support.amount import FULL, TINY, Amount
from benchmarks.support.process import ROOT

BENCHMARKS: Mapping[str, tuple[Callable[[Amount], Coroutine[Any, Any, list[Figure]]], str]] = {
    "click": (click_latency.measure, "a click, until the agent is resumed in another process"),
    "clicks": (click_rate.measure, "clicks per second, through one bot and through two"),
    "teams": (teams.measure, "a click and clicks per second in Teams; drawing its card"),
    "submit": (submit.measure, "submits per second"),
    "http": (http_submit.measure, "submits per second over HTTP"),
    "policy": (policy.measure, "ten tool calls become a review, without Redis"),
    "drawing": (drawing.measure, "drawing cards, opening and checking forms"),
    "timers": (timers.measure, "due escalations, with few and with many pending reviews"),
    "burst": (burst.measure, "a burst to one channel while bots are killed; the cost of a backlog"),
    "backlog": (backlog.measure, "a backlog in one channel, on a virtual clock"),
    "home": (home.measure, "App Home of a person with many waiting reviews"),
    "import": (imports.measure, "import hitl_core, and the dependencies of the wheel"),
    "hostile": (hostile_load.measure, "hostile requests while a person clicks"),
    "growth": (growth.measure, "the same operations with 1,000 and with 100,000 stored reviews"),
    "memory": (memory.measure, "pending reviews, in Redis and in a bot"),
}
RESULTS = ROOT / "benchmarks" / "results.json"
PICTURE = ROOT / "docs" / "performance.svg"


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0 if everything was measured, even if a figure misses its aim."""
    options = _parser().parse_args(arguments)
    figures: list[Figure] = []
    amount = TINY if options.tiny else FULL
    if options.sizes:
        amount = replace(amount, sizes=options.sizes)
    for name in options.only or BENCHMARKS:
        measure, what = BENCHMARKS[name]
        print(f"{name}: {what} ...", file=sys.stderr, flush=True)
        figures += asyncio.run(_cancel_on_sigterm(measure(amount)))
        results = [figure.as_json() for figure in figures]
        options.results.write_text(json.dumps(results, indent=2) + "\n", "utf-8")
    print(table(figures))
    if options.picture:
        PICTURE.write_text(svg(figures), "utf-8")
    return 0


async def _cancel_on_sigterm(work: Coroutine[Any, Any, list[Figure]]) -> list[Figure]:
    """Makes SIGTERM stop the started processes, as Ctrl-C does."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await work


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="make bench ARGS=…",
        description="Measures speed and size, each figure with a floor in the same run. Takes a few"
        " minutes; run nothing else meanwhile. ✓ and ✗ show whether the ratio meets its aim.",
        epilog="\n".join(f"  {name:8} {what}" for name, (_, what) in BENCHMARKS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only", action="append", choices=BENCHMARKS, help="measure only this; can be repeated"
    )
    parser.add_argument(
        "--tiny", action="store_true", help="only check that it works: the figures mean nothing"
    )
    parser.add_argument(
        "--sizes",
        type=_parse_sizes,
        help="for growth: numbers of stored reviews, such as 1000,100000,1000000 (4 GB each million)",
        metavar="N,N",
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=RESULTS,
        help="the file for the figures, as JSON",
        metavar="FILE",
    )
    parser.add_argument(
        "--picture", action="store_true", help="draw docs/performance.svg from these figures"
    )
    return parser


def _parse_sizes(text: str) -> tuple[int, ...]:
    sizes = tuple(int(part) for part in text.split(",") if part.isdecimal())
    if len(sizes) < 2 or min(sizes) < 2:
        raise argparse.ArgumentTypeError(f"{text!r} is not two or more numbers above 1")
    return sizes


if __name__ == "__main__":
    sys.exit(main())
