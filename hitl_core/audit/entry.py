"""One entry of the audit: what happened, and the hash that ties it to the entry before it. Pure."""

from __future__ import annotations

import json
from typing import Literal

from hitl_core.audit.canonical import canonical, hash_of
from hitl_core.model import Event
from hitl_core.model.value import Value


class PolicyChanged(Value):
    """An agent's calls are judged by another policy from now on: the digests of both."""

    kind: Literal["policy_changed"] = "policy_changed"
    agent: str
    at: float
    before: str
    digest: str


def linked(event: Event | PolicyChanged, head: str) -> tuple[str, str]:
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
    hashed = hash_of(entry)
    return canonical({**entry, "hash": hashed}), f"{entry['n']}:{hashed}"


def hash_in(line: str) -> str:
    """What the line itself says that its hash is; "" for what is no entry."""
    try:
        said = json.loads(line)
        return str(said["hash"])
    except (ValueError, KeyError, TypeError):
        return ""
