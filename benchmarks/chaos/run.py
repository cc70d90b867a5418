"""One run: starts everything, submits the reviews, applies load and faults, waits until all work is done, and
collects the evidence.
"""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path

from benchmarks.chaos.chats import Card, digest_count
from benchmarks.chaos.faults.injector import FaultInjector, schedule
from benchmarks.chaos.journal import Journal
from benchmarks.chaos.names import names_of
from benchmarks.chaos.people.acts import People
from benchmarks.chaos.people.digests import DigestReaders
from benchmarks.chaos.people.doubts import Doubts
from benchmarks.chaos.plan import Item, Plan
from benchmarks.chaos.scene import Scene, open_scene
from benchmarks.chaos.verdict.evidence import (
    Evidence,
    Progress,
    Submits,
    collect,
    read_progress,
)
from hitl_core import HitlError
from hitl_core.model import is_digest_id
from hitl_core.store import RedisStore

#: The seconds between two checks whether all work is done.
EVERY = 0.5


async def run(plan: Plan, folder: Path, say: StatusPrinter) -> Evidence:
    async with open_scene(plan, folder) as scene:
        say(f"{len(scene.bots)} bots and {len(scene.agents)} agents run")
        follow = asyncio.create_task(scene.board.follow())
        doubts = Doubts(scene.board, scene.clicker, folder / "tools.jsonl", plan)
        answer = asyncio.create_task(doubts.answer())
        readers = DigestReaders(scene.chat, scene.board, scene.clicker, Submits(folder), plan)
        try:
            await _fill(scene, say)
            read = asyncio.create_task(readers.read())
            try:
                await _load(scene, say)
            finally:
                readers.stop()
                await read
            await _rest(scene, say)
            scene.board.look()
            return await collect(scene)
        finally:
            for task in (follow, answer):
                task.cancel()


async def _fill(scene: Scene, say: StatusPrinter) -> None:
    """Returns when every card is shown in its channel."""
    expected = sum(not item.is_timed for item in scene.plan.items())
    began, last = time.monotonic(), 0.0
    while (shown := sum(map(_count_reviews, scene.board.all_cards()))) < expected:
        await asyncio.sleep(EVERY)
        if time.monotonic() - last > 10:
            last = time.monotonic()
            say(f"{shown} of {expected} cards are shown")
        if time.monotonic() - began > 300 + expected:
            raise RuntimeError(f"Only {shown} of {expected} cards were shown; see {scene.folder}.")
    say(f"{expected} reviews wait")


def _count_reviews(card: Card) -> int:
    return digest_count(card.text()) if is_digest_id(card.review) else 1


async def _load(scene: Scene, say: StatusPrinter) -> None:
    plan, folder = scene.plan, scene.folder
    reviews = dict[int, str]()
    people = People(
        scene.chat, scene.board, scene.clicker, Journal(folder / "presses.jsonl"), reviews,
        names_of(plan.chat),
    )  # fmt: skip
    faults = schedule(plan)
    injector = FaultInjector(
        bots=scene.bots, agents=scene.agents, redis=scene.redis, links=scene.links,
        chat=scene.chat, journal=Journal(folder / "faults.jsonl"),
    )  # fmt: skip
    note = asyncio.create_task(_note_submits(folder, reviews))
    start = time.time()
    (folder / "start.new").write_text(str(start))
    (folder / "start.new").rename(folder / "start")
    breaking = asyncio.create_task(injector.run(faults, start))
    acts: list[asyncio.Task[None]] = []
    try:
        for item in plan.items():
            if item.at == float("inf"):
                break
            await asyncio.sleep(start + item.at - time.time())
            acts.append(asyncio.create_task(people.act(item, _chance(plan, item))))
        await breaking
        say(f"{len(acts)} reviews were acted on; {len(faults)} faults")
    finally:
        breaking.cancel()
        await injector.stop()
    await asyncio.gather(*acts)
    note.cancel()


def _chance(plan: Plan, item: Item) -> random.Random:
    return random.Random(f"people {plan.seed} {item.number}")


async def _note_submits(folder: Path, reviews: dict[int, str]) -> None:
    submits = Submits(folder)
    while True:
        first = submits.read().first
        reviews |= {number: first[number]["review"] for number in first.keys() - reviews.keys()}
        await asyncio.sleep(0.2)


async def _rest(scene: Scene, say: StatusPrinter) -> None:
    """Returns when all work is done, or nothing changes any more. A review that was at rest is read again
    only at the end, because these reads slow down the agents.
    """
    store, last, since = None, None, time.monotonic()
    submits, at_rest = Submits(scene.folder), set[str]()
    try:
        store = await RedisStore.open(scene.redis.url, set_partitions=False)
        while time.monotonic() - since < scene.plan.patience:
            ids, is_complete = submits.read().review_ids(), not at_rest
            try:
                progress = await read_progress(store, scene.redis, ids, at_rest)
            except HitlError:
                continue
            if progress == Progress(0, 0, 0):
                if is_complete:
                    say("all work is done")
                    return
                at_rest.clear()
                continue
            if progress != last:
                last, since = progress, time.monotonic()
            await asyncio.sleep(EVERY)
        say(f"some work is never done: {last}")
    finally:
        if store is not None:
            await store.close()


class StatusPrinter:
    """Prints a line with the seconds since the beginning."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def __call__(self, text: str) -> None:
        print(f"{time.monotonic() - self._began:6.1f} s  {text}", flush=True)
