"""The texts of the Lua scripts. Each folder of `lua` has the scripts of one part of the store; `functions`
has functions that several scripts use.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

#: The scripts that use the functions of queue.lua.
_QUEUE_SCRIPTS = frozenset(
    {
        "commit", "take", "finish", "dead_letter", "requeue", "redraw", "slot", "drop_dead_letter",
        "add_to_digest", "update_digest", "leave_digest", "check_history",
    }
)  # fmt: skip
#: The scripts that also use the functions of digest.lua.
_DIGEST_SCRIPTS = frozenset({"add_to_digest", "update_digest", "leave_digest"})
#: The scripts that use the functions of history.lua.
_HISTORY_SCRIPTS = frozenset({"commit", "check_history", "confirm"})
#: The scripts that look at the types of all their keys before they write, see types.lua.
_TYPES_SCRIPTS = frozenset(
    {
        "commit", "set_with_audit", "check_history", "unschedule", "take", "finish", "dead_letter", "requeue",
        "redraw", "drop_dead_letter", "add_to_digest", "update_digest", "leave_digest", "foreign_keys",
        "drop_missing", "trim",
    }
)  # fmt: skip
#: The scripts that use the function of server.lua.
_SERVER_SCRIPTS = frozenset({"commit", "run_id"})
#: The scripts that use the functions of fields.lua.
_FIELDS_SCRIPTS = frozenset({"load", "outline", "commit"})
#: A command in a script, or in its table SIZE_OF. A script that goes on after an error (`pcall`) expects a
#: key of another type: without the permission it would, for example, take a lease that another one holds.
_COMMAND = re.compile(r"(?:\bp?call\(|= )'([A-Z]+)'")
#: A managed service may forbid it, see server.lua.
_OPTIONAL = {"INFO"}


@cache
def read_script(name: str) -> str:
    """The text of a script, after the check of its commands and the functions that it uses."""
    files = _script_files()
    names = [
        *(["types"] if name in _TYPES_SCRIPTS else []),
        *(["queue"] if name in _QUEUE_SCRIPTS else []),
        *(["digest"] if name in _DIGEST_SCRIPTS else []),
        *(["history"] if name in _HISTORY_SCRIPTS else []),
        *(["server"] if name in _SERVER_SCRIPTS else []),
        *(["fields"] if name in _FIELDS_SCRIPTS else []),
        name,
    ]
    text = "".join(files[each].read_text("utf-8") for each in names)
    commands = ", ".join(f"'{each}'" for each in sorted(_commands_of(text)))
    check = files["permissions"].read_text("utf-8")
    return f"local COMMANDS = {{ {commands} }}\n{check}{text}"


@cache
def script_commands() -> frozenset[str]:
    """The Redis commands without which a script fails."""
    texts = [file.read_text("utf-8") for file in _script_files().values()]
    return _commands_of("".join(texts))


def _commands_of(text: str) -> frozenset[str]:
    return frozenset(_COMMAND.findall(text)) - _OPTIONAL


@cache
def _script_files() -> dict[str, Traversable]:
    """The files by script name. Names are unique over all folders."""
    lua = resources.files("hitl_core.store.redis") / "lua"
    files = [file for folder in lua.iterdir() if folder.is_dir() for file in folder.iterdir()]
    return {file.name.removesuffix(".lua"): file for file in files}
