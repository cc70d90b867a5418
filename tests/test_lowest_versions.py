"""The lowest versions that pyproject.toml allows are those that the tests run with on one Python."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_each_lower_bound_is_a_version_that_is_tested() -> None:
    """Given a dependency of an agent or a bot, then constraints-lowest.txt has its lower bound."""
    lines = (ROOT / "constraints-lowest.txt").read_text().splitlines()
    tested = {
        _normal(name): version
        for name, version in (line.split("==") for line in lines if not line.startswith("#"))
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"]]
    needed += [one for extra in ("slack", "teams", "langgraph", "otel") for one in extras[extra]]
    bounds = dict(re.split(">=", one.split(",")[0]) for one in needed)
    assert bounds
    for name, bound in bounds.items():
        assert _is_release_of(tested[_normal(name)], bound), (name, bound)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _is_release_of(version: str, bound: str) -> bool:
    """`2.7` stands for its newest repair, `2.7.4`."""
    return version == bound or version.startswith(f"{bound}.")
