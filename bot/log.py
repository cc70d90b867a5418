"""What the log may say of an error."""

from __future__ import annotations

import traceback

from hitl_core.errors import HitlError


def told(error: BaseException) -> str:
    """Ours by their sentence. Of others the type and where it was raised: their text stays out, as it may
    quote a tool's arguments.
    """
    if isinstance(error, HitlError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"
