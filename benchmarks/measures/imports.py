"""Importing `hitl_core` and its `Gate`, compared with its dependencies; and the wheel's dependencies."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
import tomllib

from benchmarks.report.figure import Figure
from benchmarks.support.amount import Amount
from benchmarks.support.process import ROOT

PACKAGE = "import hitl_core"
GATE = "from hitl_core import Gate"
DEPENDENCIES = "import pydantic, redis.asyncio, jsonschema"
#: `import pydantic` alone loads almost nothing of it: its names are lazy, as ours are.
USED_DEPENDENCIES = (
    "import pydantic, redis.asyncio, jsonschema; pydantic.create_model('Model', name=(str, ...))"
)
TIMING_SCRIPT = "from time import perf_counter as now; start = now(); {}; print(now() - start)"
EXPECTED = frozenset({"jsonschema", "pydantic", "pyyaml", "redis"})


async def measure(amount: Amount) -> list[Figure]:
    statements = (PACKAGE, DEPENDENCIES, GATE, USED_DEPENDENCIES)
    times: dict[str, list[float]] = {statement: [] for statement in statements}
    with tempfile.TemporaryDirectory() as compiled:
        for number in range(amount.imports + 1):
            for statement in statements:
                seconds = await _run(statement, compiled)
                if number:  # the first run compiles the bytecode
                    times[statement].append(seconds * 1000)
    # Other programs on the machine can only add time, so the fastest run is the best measure.
    fastest = {statement: min(each) for statement, each in times.items()}
    return [
        Figure(PACKAGE, "ms", fastest[PACKAGE], fastest[DEPENDENCIES], 1.2, "lower"),
        Figure(GATE, "ms", fastest[GATE], fastest[USED_DEPENDENCIES], 1.2, "lower"),
        Figure("dependencies of the wheel", "", len(dependencies()), len(EXPECTED), 1.0, "lower"),
    ]


async def _run(statement: str, compiled: str) -> float:
    """In a fresh interpreter, in seconds, without its own start. Bytecode is stored in `compiled`, even if
    the environment forbids writing it.
    """
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", TIMING_SCRIPT.format(statement),
        cwd=ROOT, env=environment, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, _ = await process.communicate()
    return float(output)


def dependencies() -> frozenset[str]:
    """The wheel's dependencies, from pyproject.toml. Raises RuntimeError for an unexpected one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = frozenset(re.split(r"[^\w-]", each)[0].lower() for each in project["dependencies"])
    if unexpected := names - EXPECTED:
        raise RuntimeError(f"The wheel has unexpected dependencies: {', '.join(unexpected)}.")
    return names
