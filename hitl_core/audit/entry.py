"""One entry of the audit: what happened, and the hash that ties it to the entry before it. Pure."""

from __future__ import annotations

import json
from typing import Literal

from hitl_core.audit.canonical import hash_of, to_canonical_json
from hitl_core.model import Event
from hitl_core.model.value import Value


class PolicyChanged(Value):
    """An agent's calls are judged by another policy from now on: the digests of both."""

    kind: Literal["policy_changed"] = "policy_changed"
    agent: str
    at: float
    before: str
    digest: str


def link_entry(event: Event | PolicyChanged, head: str) -> tuple[str, str]:
    """The event as the next line of a chain, and the chain's head behind it.

    A head is `<n>:<hash>`, "" before the first entry. The line is a JSON object: the event's own keys, those
    without a value left out; `n`, from 1; `prev`, the hash before, "" for the first; and `hash`, the SHA-256
    over the canonical JSON (RFC 8785) of all the others.
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
    """What the line itself says that its hash is; "" for what is no entry."""
    try:
        entry = json.loads(line)
        return str(entry["hash"])
    except (ValueError, KeyError, TypeError):
        return ""
