"""The URL of a Redis."""

from __future__ import annotations

import re


def hide_password(url: str) -> str:
    """The URL without user and password."""
    without = re.sub(r"(?i)(?<=password=)[^&]*", "…", url)
    return re.sub(r"^(\w+://)?.*@", r"\1…@", without)
