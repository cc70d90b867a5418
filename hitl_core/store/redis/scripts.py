"""The texts of the Lua scripts."""

from __future__ import annotations

from functools import cache
from importlib import resources

#: The scripts that use the functions of queue.lua.
_QUEUE_SCRIPTS = frozenset(
    {
        "write", "take", "finish", "dead_letter", "requeue", "redraw", "slot",
        "add_to_digest", "update_digest", "leave_digest", "check_history",
    }
)  # fmt: skip
#: Those of them that use the functions of digest.lua.
_DIGEST_SCRIPTS = frozenset({"update_digest", "leave_digest"})
#: Those that use the functions of history.lua.
_HISTORY_SCRIPTS = frozenset({"write", "check_history"})


@cache
def read_script(name: str) -> str:
    """The text of a script, behind the functions that it uses."""
    folder = resources.files("hitl_core.store.redis") / "lua"
    names = [
        *(["queue"] if name in _QUEUE_SCRIPTS else []),
        *(["digest"] if name in _DIGEST_SCRIPTS else []),
        *(["history"] if name in _HISTORY_SCRIPTS else []),
        name,
    ]
    return "".join((folder / f"{each}.lua").read_text("utf-8") for each in names)
