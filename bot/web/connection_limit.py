"""How many files this process may open: each connection is one."""

from __future__ import annotations

import resource
from contextlib import suppress

#: The most connections, if the system allows this process that many files plus RESERVED_FILES.
MAX_CONNECTIONS = 4000
RESERVED_FILES = 200


def open_more_files() -> None:
    """Raise the limit of open files to what the connections need, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = (
        MAX_CONNECTIONS + RESERVED_FILES
        if hard == resource.RLIM_INFINITY
        else min(MAX_CONNECTIONS + RESERVED_FILES, hard)
    )
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def default_max_connections() -> int:
    """The most connections of a server that this process can open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    limited = files != resource.RLIM_INFINITY
    return max(50, min(MAX_CONNECTIONS, files - RESERVED_FILES)) if limited else MAX_CONNECTIONS
