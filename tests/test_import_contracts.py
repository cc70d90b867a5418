"""The borders of packages: pyproject.toml says who may import whom, and import-linter checks it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUN = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def test_every_import_keeps_the_contracts():
    """Given the tree as it is, when import-linter reads it, then no contract is broken."""
    linter = subprocess.run(
        [sys.executable, "-c", RUN, "--no-cache", "--no-logo"],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )

    assert linter.returncode == 0, linter.stdout + linter.stderr


def test_an_agent_imports_only_what_it_needs():
    """`import hitl_core` reads no schema and no YAML, so it loads nothing that could."""
    heavy = "{'jsonschema', 'yaml', 'aiohttp', 'slack_bolt', 'langchain', 'hitl_core.dialects'}"
    check = f"import sys, hitl_core; print(sorted({heavy} & set(sys.modules)))"
    loaded = subprocess.run(
        [sys.executable, "-c", check], cwd=ROOT, capture_output=True, check=True, text=True
    )
    assert loaded.stdout.strip() == "[]"
