"""The rooms' walls: pyproject.toml says who may import whom, a machine checks it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUN = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def test_every_import_keeps_the_contracts():
    """Given the tree as it stands, when import-linter reads it, then no contract is broken."""
    linter = subprocess.run(
        [sys.executable, "-c", RUN, "--no-cache", "--no-logo"],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
    )

    assert linter.returncode == 0, linter.stdout + linter.stderr
