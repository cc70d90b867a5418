"""The entries of the audit, each with the hash of the one before, and anchors: hashes over a range. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, StringConstraints

from hitl_core.model import Event, Value

#: A number of Redis has at most 20 digits.
_ID = re.compile(r"(0|[1-9][0-9]{0,3}):(0|[1-9][0-9]{0,19})-(0|[1-9][0-9]{0,19})")
_ENCODER = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
)
_EntryId = Annotated[str, StringConstraints(pattern=f"^{_ID.pattern}$")]


class PolicyChanged(Value):
    """An agent's policy has changed: the hash of the policy before, and of the new one."""

    kind: Literal["policy_changed"] = "policy_changed"
    agent: str
    at: float
    before: str
    policy_hash: str


def link_entry(event: Event | PolicyChanged, head: str) -> tuple[str, str]:
    """The event as the next line of a chain, and the chain's new head.

    A head is `<n>:<hash>`, or "" before the first entry. The line is a JSON object: the event's keys that
    have a value; `n`, counted from 1; `prev`, the hash of the entry before, "" for the first; and `hash`, the
    SHA-256 over the canonical JSON (RFC 8785) of all other keys.
    """
    number, _, prev = head.partition(":")
    entry = {
        **event.model_dump(mode="json", exclude_none=True),
        "n": int(number or 0) + 1,
        "prev": prev,
    }
    # In canonical JSON, `hash` comes between these two parts: so each key is written once.
    before = to_canonical_json({key: entry[key] for key in entry if key < "hash"})[:-1]
    after = to_canonical_json({key: entry[key] for key in entry if key > "hash"})[1:]
    entry_hash = hashlib.sha256(f"{before},{after}".encode()).hexdigest()
    return f'{before},"hash":"{entry_hash}",{after}', f"{entry['n']}:{entry_hash}"


def read_hash(line: str) -> str:
    """The hash in the line, not checked; "" for a line that is not an entry."""
    try:
        entry = json.loads(line)
        return str(entry["hash"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def to_canonical_json(value: Mapping[str, Any]) -> str:
    """RFC 8785, for objects with ASCII keys whose numbers are integers or times."""
    return _ENCODER.encode({key: _plain(each) for key, each in value.items()})


def hash_of(value: Mapping[str, Any]) -> str:
    """The SHA-256 of its canonical JSON in UTF-8, in hex."""
    return hashlib.sha256(to_canonical_json(value).encode()).hexdigest()


def _plain(value: object) -> object:
    """RFC 8785 writes numbers as JavaScript does: 5, never 5.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


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

    `first` and `last` are the ids of the first and last entry ("from" and "to" in JSON), `count` is the
    number of entries. `root` is the SHA-256 over all of them and over `prev`, the root of the anchor before
    ("" for the first anchor). A person who has kept one root can detect every change of an entry before it.
    """

    model_config = ConfigDict(strict=True)

    first: _EntryId = Field(alias="from")
    last: _EntryId = Field(alias="to")
    count: int = Field(ge=1)
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
