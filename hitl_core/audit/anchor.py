"""An anchor: one hash over a range of audit entries, and over all anchors before it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Self

from pydantic import ConfigDict, Field, StringConstraints

from hitl_core.audit.canonical import hash_of, to_canonical_json
from hitl_core.model import Value

_ID = re.compile(r"(0|[1-9][0-9]*):(0|[1-9][0-9]*)-(0|[1-9][0-9]*)")
_EntryId = Annotated[str, StringConstraints(pattern=f"^{_ID.pattern}$")]


def parse_position(entry: str) -> tuple[int, int, int]:
    """The numbers of an entry's id, `<partition>:<milliseconds>-<number>`. In one partition a later entry has
    a greater position. Raises ValueError for any other text.
    """
    parts = _ID.fullmatch(entry)
    if parts is None:
        raise ValueError(f"{entry!r} is not the id of an audit entry")
    return int(parts[1]), int(parts[2]), int(parts[3])


class Anchor(Value):
    """The hash of a range of entries.

    `first` and `last` are the ids of the first and last entry ("from" and "to" in JSON), `count` says how
    many entries there are. `root` is the SHA-256 over all of them and over `prev`, the root of the anchor
    before ("" for the first anchor). A person who has kept one root can detect any change up to there.
    """

    model_config = ConfigDict(strict=True)

    first: _EntryId = Field(alias="from")
    last: _EntryId = Field(alias="to")
    count: int
    root: str
    prev: str

    @classmethod
    def from_entries(cls, entries: Iterable[tuple[str, str]], prev: str) -> Self:
        """The anchor over these entries' ids and hashes, in order. There must be at least one."""
        pairs = [list(pair) for pair in entries]
        root = hash_of({"prev": prev, "entries": pairs})
        ends = {"from": pairs[0][0], "to": pairs[-1][0]}
        return cls.model_validate({**ends, "count": len(pairs), "root": root, "prev": prev})

    def to_line(self) -> str:
        """The anchor's line in an export. `model_validate_json` reads it."""
        return to_canonical_json(self.model_dump(by_alias=True))
