"""Short, valid audit histories, and their export."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Awaitable, Callable

from hitl_core.audit.export import export_lines
from hitl_core.audit.sealer import seal
from hitl_core.audit.verify import Verifier
from hitl_core.errors import Refused
from hitl_core.model import MessageRef, Place
from hitl_core.review import Cancel, Decide
from hitl_core.review.service import Reviews
from hitl_core.store import Store
from tests.support.builders import person, proposal, review_of

OPS = Place("slack:#ops")
HERE = MessageRef(channel="slack", conversation="C1", ts="1.1")

_ops = itertools.count(1)


async def submit(reviews: Reviews, thread_id: str = "t-1") -> str:
    store = reviews.store
    made = review_of(thread_id=thread_id, now=await store.now(), partitions=store.partitions)
    return (await reviews.submit(*made)).id


def steps(reviews: Reviews) -> dict[str, Callable[[str], Awaitable[object]]]:
    """What may happen to a review, by name; each may happen whenever it likes."""
    return {
        "posted": lambda id: reviews.store.record_post(id, Place(f"slack:#{next(_ops)}"), HERE),
        "refused": lambda id: reviews.record_refusal(id, "not_allowed", person("Eve"), _op()),
        "escalated": lambda id: _quiet(reviews.apply_due(id)),
        "decided": lambda id: _quiet(reviews.apply(Decide(id, "1", proposal(), person(), _op()))),
        "cancelled": lambda id: _quiet(
            reviews.apply(Cancel(id, person("Bo"), _op(), reason="a reason"))
        ),
        "policy": lambda _: reviews.store.record_policy("billing", f"{next(_ops):064x}"),
    }


async def export(store: Store, after: str = "") -> list[str]:
    """Sealed, and as lines."""
    await seal(store)
    found: list[str] = []
    for partition in range(store.partitions):
        found += [line async for line, _ in export_lines(store.ledger, partition, after)]
    return found


def verify(lines: list[str], known: tuple[tuple[str, str], ...] = ()) -> Verifier:
    """Raises Broken."""
    verifier = Verifier(known)
    for line in lines:
        verifier.add_line(line)
    verifier.finish()
    return verifier


def _op() -> str:
    return f"op-{next(_ops)}"


async def _quiet(step: Awaitable[object]) -> None:
    with contextlib.suppress(Refused):
        await step
