"""An anchor: one hash over a range of the audit, and over all anchors before it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Self

from pydantic import ConfigDict, Field, StringConstraints

from hitl_core.audit.canonical import hash_of, to_canonical_json
from hitl_core.model.value import Value

_ID = re.compile(r"(0|[1-9][0-9]*):(0|[1-9][0-9]*)-(0|[1-9][0-9]*)")
_EntryId = Annotated[str, StringConstraints(pattern=f"^{_ID.pattern}$")]


def parse_position(entry: str) -> tuple[int, int, int]:
    """Where the entry of this id, `<partition>:<milliseconds>-<number>`, stands: in its partition the later
    one is the larger. Raises ValueError for what is no such id.
    """
    parts = _ID.fullmatch(entry)
    if parts is None:
        raise ValueError(f"{entry!r} is no entry's id")
    return int(parts[1]), int(parts[2]), int(parts[3])


class Anchor(Value):
    """`first` and `last` are entries' ids ("from" and "to" as JSON), `count` how many there are from the one
    to the other. `root` is the SHA-256 over all of them and over `prev`, the root before, "" for the first:
    who knows one root can tell whether anything up to there was changed.
    """

    model_config = ConfigDict(strict=True)

    first: _EntryId = Field(alias="from")
    last: _EntryId = Field(alias="to")
    count: int
    root: str
    prev: str

    @classmethod
    def from_entries(cls, entries: Iterable[tuple[str, str]], prev: str) -> Self:
        """Over the ids and hashes of at least one entry, in order."""
        pairs = [list(pair) for pair in entries]
        root = hash_of({"prev": prev, "entries": pairs})
        ends = {"from": pairs[0][0], "to": pairs[-1][0]}
        return cls.model_validate({**ends, "count": len(pairs), "root": root, "prev": prev})

    def to_line(self) -> str:
        """As it stands in an export, and is read again: `model_validate_json`."""
        return to_canonical_json(self.model_dump(by_alias=True))
