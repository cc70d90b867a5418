"""The texts of the Lua scripts."""

from __future__ import annotations

from functools import cache
from importlib import resources

#: The scripts that use the functions of queue.lua.
_QUEUE_SCRIPTS = frozenset({"write", "take", "finish", "dead_letter", "requeue", "redraw", "slot"})


@cache
def read_script(name: str) -> str:
    """The text of a script, with queue.lua in front if the script needs it."""
    folder = resources.files("hitl_core.store.redis") / "lua"
    names = ("queue", name) if name in _QUEUE_SCRIPTS else (name,)
    return "".join((folder / f"{each}.lua").read_text("utf-8") for each in names)
