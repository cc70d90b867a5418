"""`verify` accepts a complete export, and names the first broken link of any other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitl_core.audit import sealer
from hitl_core.audit.entry import hash_of, link_entry
from hitl_core.audit.export import entry_line
from hitl_core.audit.ledger import Entry
from hitl_core.audit.verify import BrokenChain, Verifier
from hitl_core.model import Event, EventKind
from hitl_core.review import Cancel, Decide
from hitl_core.review.service import Reviews
from hitl_core.store import MemoryStore
from tests.audit.histories import HERE, OPS, export, steps, submit, verify
from tests.support.builders import START, person, proposal

STEPS = list(steps(Reviews(MemoryStore())))


async def two_reviews() -> list[str]:
    """Lines 1 and 2: both submitted. 3: the first is posted. 4: the second is decided. 5: the first is
    decided. 6: the anchor.
    """
    reviews = Reviews(MemoryStore(lambda: START))
    one, two = await submit(reviews), await submit(reviews)
    await reviews.store.record_post(one, OPS, HERE)
    await reviews.apply(Decide(two, "1", proposal("reject"), person("Bo"), "op-2"))
    await reviews.apply(Decide(one, "1", proposal(), person(), "op-1"))
    return await export(reviews.store)


def with_(line: str, **changed: Any) -> str:
    return json.dumps({**json.loads(line), **changed})


async def test_what_nobody_touched_is_whole():
    """And an entry says who (id, name, workspace), what, when, by which operation, on which arguments."""
    lines = await two_reviews()

    found = verify(lines)

    assert (found.entries, found.anchors, found.subjects) == (5, 1, 2)
    decided = json.loads(lines[4])
    assert decided["by"] == {"channel": "slack", "team": "T1", "id": "U_ADA", "name": "Ada"}
    assert (decided["kind"], decided["what"], decided["at"]) == ("decided", "approve", START)
    assert (decided["op"], decided["n"], len(decided["args_hash"])) == ("op-1", 3, 64)
    assert decided["prev"] == json.loads(lines[2])["hash"]


@pytest.mark.parametrize(
    ("change", "line", "problem"),
    [
        (lambda ls: [*ls[:3], with_(ls[3], what="approve"), *ls[4:]], 4, "it was changed"),
        (lambda ls: [*ls[:3], with_(ls[3], at=1.5), *ls[4:]], 4, "it was changed"),
        (lambda ls: [*ls[:3], with_(ls[3], note="x"), *ls[4:]], 4, "it was changed"),
        (lambda ls: [*ls[:2], *ls[3:]], 4, "it is entry 3, and entries after 1 are missing"),
        (lambda ls: [*ls[:4], *ls[5:]], 5, "this anchor is over 5 entries, and only 4 are here"),
        (lambda ls: ls[1:], 2, "it is entry 2, and the entries before it are missing"),
        (lambda ls: [ls[1], ls[0], *ls[2:]], 2, "it is out of order"),
        (lambda ls: [*ls[:3], ls[2], *ls[3:]], 4, "it is out of order, or there twice"),
        (lambda ls: ls[:5], 5, "it was cut off here, before the anchor of 0:"),
        (lambda ls: ls[:3], 3, "it was cut off here, before the anchor of 0:"),
        (lambda ls: [*ls[:5], with_(ls[5], root="0" * 64)], 6, "this anchor doesn't match"),
        (
            lambda ls: [*ls[:5], with_(ls[5], prev="0" * 64)],
            6,
            "this anchor doesn't follow the one before",
        ),
        (lambda ls: [*ls[:5], with_(ls[5], count="5")], 6, "this anchor was changed"),
        (lambda ls: [*ls[:5], with_(ls[5], more=1)], 6, "this anchor was changed"),
        (lambda ls: [*ls[:3], "{", *ls[4:]], 4, "it is not a JSON object"),
        (lambda ls: [*ls[:3], ls[3].replace("{", '{"what":"x",', 1), *ls[4:]], 4, "twice"),
        (lambda ls: [*ls[:3], "", *ls[3:]], 4, "it is not a JSON object"),
    ],
)
async def test_the_first_broken_link_is_named(
    change: Callable[[list[str]], list[str]], line: int, problem: str
):
    """T49: Changed, deleted, moved, cut off: each is found, with the line on which it shows."""
    with pytest.raises(BrokenChain, match=problem) as broken:
        verify(change(await two_reviews()))
    assert broken.value.line == line


async def test_a_changed_entry_names_its_review():
    """So that somebody can go and look."""
    lines = await two_reviews()
    review = json.loads(lines[3])["review_id"]

    with pytest.raises(BrokenChain, match=f"line 4: review {review}: it was changed"):
        verify([*lines[:3], with_(lines[3], what="approve"), *lines[4:]])


async def test_a_forged_entry_is_betrayed_by_the_next_one():
    """Given somebody who changes an entry and computes its hash again."""
    lines = await two_reviews()
    entry = json.loads(lines[2])
    id = entry.pop("id")
    del entry["hash"]
    entry["what"] = "slack:C9/9.9"
    forged = json.dumps({**entry, "id": id, "hash": hash_of(entry)})

    with pytest.raises(BrokenChain, match=r"line 5: .* it doesn't follow entry 2"):
        verify([*lines[:2], forged, *lines[3:]])


async def test_a_forged_chain_differs_from_the_anchored_one():
    """Given somebody who can compute hashes as well as we: what was anchored before, and kept, betrays it."""
    lines, forged = await two_reviews(), await two_reviews()
    kept = json.loads(lines[-1])["to"], json.loads(lines[-1])["root"]

    assert verify(lines, (kept,)).entries == 5
    with pytest.raises(BrokenChain, match="not the one that was kept"):
        verify(forged, (kept,))


async def test_what_was_cut_off_behind_an_anchor_is_told_by_the_next_one():
    """Given a file that ends well, but earlier than the anchor that was kept."""
    reviews = Reviews(MemoryStore(lambda: START))
    one = await submit(reviews)
    short = await export(reviews.store)
    await reviews.apply(Decide(one, "1", proposal(), person(), "op"))
    long = await export(reviews.store)
    last = json.loads(long[-1])["to"], json.loads(long[-1])["root"]

    assert long[: len(short)] == short
    assert verify(short).last_anchors[0].root == json.loads(short[-1])["root"]
    assert verify(long, (last,))
    with pytest.raises(BrokenChain, match=r"line 2: it was cut off here, before the anchor 0:"):
        verify(short, (last,))
    with pytest.raises(BrokenChain, match="cut off"):
        verify([], (last,))


async def test_a_later_part_follows_the_anchor_that_the_earlier_one_ended_with():
    """Each night's export is a file of its own: it says behind which anchor it begins."""
    reviews = Reviews(MemoryStore(lambda: START))
    one = await submit(reviews)
    monday = await export(reviews.store)
    end = json.loads(monday[-1])
    kept = ((end["to"], end["root"]),)
    await reviews.apply(Decide(one, "1", proposal(), person(), "op"))
    await export(reviews.store)
    await reviews.apply(Cancel(await submit(reviews), None, "op"))

    tuesday = await export(reviews.store, end["to"])

    assert (found := verify(tuesday, kept)).entries == 3
    assert not found.is_complete
    assert verify(monday).is_complete
    assert json.loads(tuesday[0]) == {"follows": end}
    for wrong in (tuesday[1:], [tuesday[0], *tuesday[2:]], [tuesday[0], *tuesday[3:]], []):
        with pytest.raises(BrokenChain):
            verify(wrong, kept)
    other = json.dumps({"follows": {**end, "root": "0" * 64}})
    with pytest.raises(BrokenChain, match=r"line 1: the anchor .* is not the one that was kept"):
        verify([other, *tuesday[1:]], kept)
    quiet = await export(reviews.store, json.loads(tuesday[-1])["to"])
    assert [[*json.loads(line)] for line in quiet] == [["follows"]]
    assert verify(quiet, tuple((a.last, a.root) for a in found.last_anchors)).entries == 0


@pytest.mark.parametrize("end", ["done", "cancelled"])
def test_a_review_that_was_forgotten_may_come_again(end: EventKind):
    """Given a review that was done, or cancelled over HTTP, and is kept no longer; then its second chain
    breaks nothing. One that was not done can't begin again.
    """
    verifier, head = Verifier(), ""
    kinds: tuple[EventKind, ...] = ("submitted", end, "submitted", "decided")
    for number, kind in enumerate(kinds):
        line, head = link_entry(an_event(kind), "" if kind == "submitted" else head)
        verifier.add_line(entry_line(Entry(f"0:{number}-0", line)))

    with pytest.raises(BrokenChain, match="out of order, or there twice"):
        verifier.add_line(entry_line(Entry("0:9-0", link_entry(an_event("submitted"), "")[0])))


def an_event(kind: EventKind) -> Event:
    return Event(kind=kind, review_id=f"0-{'a' * 32}", at=START)


@given(
    happened=st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 2)), max_size=12),
    seals=st.sets(st.integers(0, 12), max_size=3),
    kind=st.sampled_from(["change", "delete", "swap", "cut"]),
    where=st.integers(0, 10_000),
    other=st.integers(0, 10_000),
)
def test_any_true_history_is_whole_and_no_other(
    happened: list[tuple[str, int]], seals: set[int], kind: str, where: int, other: int
):
    """Whatever happened, in whatever order, sealed whenever: it verifies. With one thing changed, deleted or
    swapped, or with its end cut off, it doesn't.
    """
    lines = asyncio.run(_history(happened, seals))
    last = json.loads(lines[-1])
    kept = ((last["to"], last["root"]),)
    verify(lines, kept)

    with pytest.raises(BrokenChain):
        verify(_manipulate(lines, kind, where, other), kept)


async def _history(happened: list[tuple[str, int]], seals: set[int]) -> list[str]:
    now = START
    reviews = Reviews(MemoryStore(lambda: now))
    ids = [await submit(reviews, f"t-{n}") for n in range(3)]
    for number, (step, which) in enumerate(happened):
        now += 0.25
        await steps(reviews)[step](ids[which])
        if number in seals:
            await sealer.seal(reviews.store)
    return await export(reviews.store)


def _manipulate(lines: list[str], kind: str, where: int, other: int) -> list[str]:
    at = where % len(lines)
    if kind == "cut":
        return lines[:at]
    if kind == "delete":
        return [*lines[:at], *lines[at + 1 :]]
    if kind == "swap":
        to = (at + 1 + other % (len(lines) - 1)) % len(lines)
        changed = list(lines)
        changed[at], changed[to] = lines[to], lines[at]
        return changed
    message = json.loads(lines[at])
    key = sorted(message)[other % len(message)]
    message[key] = _other(message[key])
    return [*lines[:at], json.dumps(message), *lines[at + 1 :]]


def _other(value: Any) -> Any:
    match value:
        case str():
            return f"{value[:-1]}{'1' if value.endswith('0') else '0'}"
        case dict():
            return {**value, "id": "U_ELSE"}
        case _:
            return value + 1


def test_nothing_at_all_is_no_entry():
    verifier = Verifier()
    verifier.finish()
    assert (verifier.lines, verifier.last_anchors) == (0, [])
