"""`import hitl_core`, compared with importing its three large dependencies; and the wheel's dependencies."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
import tomllib

from benchmarks.amount import Amount
from benchmarks.figure import Figure
from benchmarks.process import ROOT

OURS = "hitl_core"
DEPENDENCIES = "pydantic, redis.asyncio, jsonschema"
TIMING_SCRIPT = (
    "from time import perf_counter as now; start = now(); import {}; print(now() - start)"
)
EXPECTED = frozenset({"jsonschema", "pydantic", "pyyaml", "redis"})


async def measure(amount: Amount) -> list[Figure]:
    times_by_name: dict[str, list[float]] = {OURS: [], DEPENDENCIES: []}
    with tempfile.TemporaryDirectory() as compiled:
        for number in range(amount.imports + 1):
            for names, times in times_by_name.items():
                seconds = await _import(names, compiled)
                if number:  # the first run compiles the bytecode
                    times.append(seconds * 1000)
    # Other programs on the machine can only add time, so the fastest run is the best measure.
    ours, floor = min(times_by_name[OURS]), min(times_by_name[DEPENDENCIES])
    return [
        Figure("import hitl_core", "ms", ours, floor, 1.3, "lower"),
        Figure("dependencies of the wheel", "", len(dependencies()), len(EXPECTED), 1.0, "lower"),
    ]


async def _import(names: str, compiled: str) -> float:
    """In a fresh interpreter, in seconds, without its own start. Bytecode is stored in `compiled`, even if
    the environment forbids writing it.
    """
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", TIMING_SCRIPT.format(names),
        cwd=ROOT, env=environment, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, _ = await process.communicate()
    return float(output)


def dependencies() -> frozenset[str]:
    """The wheel's dependencies, from pyproject.toml. Raises RuntimeError for an unexpected one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = frozenset(re.split(r"[^\w-]", each)[0].lower() for each in project["dependencies"])
    if unexpected := names - EXPECTED:
        raise RuntimeError(f"The wheel has come to depend on {', '.join(unexpected)}.")
    return names
