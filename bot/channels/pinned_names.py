"""The names of places that a channel keeps in the store, with the conversation that each led to first: nobody
takes over a place by taking its name.
"""

from __future__ import annotations

from collections.abc import Mapping

#: The prefix of those values of a channel in the store that are names.
PREFIX = "name:"


def pinned_names(values: Mapping[str, bytes]) -> dict[str, str]:
    """The conversations to which names lead, by name, among all values of the channel."""
    return {
        name.removeprefix(PREFIX): data.decode(errors="replace")
        for name, data in sorted(values.items())
        if name.startswith(PREFIX)
    }
