"""What the log may say of an error that nobody expected."""

from __future__ import annotations

import traceback


def told(error: BaseException) -> str:
    """Its type and where it was raised. Its text stays out: it may quote a tool's arguments."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"
