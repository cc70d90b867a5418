"""One entry of the audit: what happened, with the hash of the entry before it. Pure."""

from __future__ import annotations

import json
from typing import Literal

from hitl_core.audit.canonical import hash_of, to_canonical_json
from hitl_core.model import Event, Value


class PolicyChanged(Value):
    """An agent's policy has changed: the digest of the policy before, and of the new one."""

    kind: Literal["policy_changed"] = "policy_changed"
    agent: str
    at: float
    before: str
    digest: str


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
    digest = hash_of(entry)
    return to_canonical_json({**entry, "hash": digest}), f"{entry['n']}:{digest}"


def read_hash(line: str) -> str:
    """The hash in the line, not checked; "" for a line that is not an entry."""
    try:
        entry = json.loads(line)
        return str(entry["hash"])
    except (ValueError, KeyError, TypeError):
        return ""
