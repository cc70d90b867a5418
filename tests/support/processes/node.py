"""Node, and the npm packages that some tests run: other projects' real JavaScript code."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
#: The versions for which the tests were written.
PACKAGES = (
    "langchain@1.5.14",
    "@langchain/core@1.4.0",
    "@langchain/langgraph@1.7.3",
    "zod@4.6.7",
)


@cache
def langchain_js() -> Path:
    """A folder `node_modules` with LangChain for JavaScript, installed by npm once; HITL_NODE_MODULES may
    name one. Skips the test where there is no Node, no npm, or no way to npm's registry.
    """
    if shutil.which("node") is None:
        pytest.skip("no Node")
    if given := os.environ.get("HITL_NODE_MODULES"):
        return Path(given) if Path(given).name == "node_modules" else Path(given, "node_modules")
    if (npm := shutil.which("npm")) is None:
        pytest.skip("no npm")
    folder = ROOT / "build" / "node"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        # Two workers that install at the same time would break each other's files.
        fcntl.flock(lock, fcntl.LOCK_EX)
        _install(npm, folder)
    return folder / "node_modules"


def _install(npm: str, folder: Path) -> None:
    installed = folder / "installed"
    if installed.exists() and installed.read_text() == "\n".join(PACKAGES):
        return
    quiet = ["--silent", "--no-audit", "--no-fund", "--no-package-lock"]
    try:
        subprocess.run(
            [npm, "install", *quiet, "--prefix", str(folder), *PACKAGES],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"npm could not install LangChain: {error}")
    installed.write_text("\n".join(PACKAGES))
