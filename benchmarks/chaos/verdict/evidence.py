"""What is known at the end of a run: the journals of the bench, the messages in the chat system, and the
data in Redis.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from benchmarks.chaos.journal import Entry, JournalReader, read_journal
from benchmarks.chaos.plan import AGENTS, Item, Plan
from benchmarks.chaos.processes import Program
from benchmarks.chaos.scene import Scene
from benchmarks.chaos.servers import Server
from benchmarks.support.process import ROOT
from hitl_core.audit import entries
from hitl_core.model import Action, Review, Snapshot
from hitl_core.store import Keys, RedisStore

#: How many reads of Redis run at the same time.
AT_ONCE = 16


class Shown(NamedTuple):
    """One message; `id`: in its channel. `revisions`: the revision (or the attempt) that each button is
    about, by the button's verb and call.
    """

    id: str
    channel: str
    text: str
    revisions: Mapping[tuple[str, str], int | None]


@dataclass(frozen=True)
class Evidence:
    """`presses`: only those with an answer. `submits`: those that were acknowledged to an agent. `posts`: by
    review and channel, the message that the bots recorded. `audit`: in the order of the stream.
    `audit_problem`: the output of `hitl audit verify` if it fails, else "". `cards`: by review, or by digest.
    `ended`: programs that ended by themselves. `memory`: by role, the most memory that one program used, in
    MB.
    """

    plan: Plan
    items: Mapping[int, Item]
    submits: Sequence[Entry]
    presses: Sequence[Entry]
    tools: Sequence[Entry]
    reviews: Mapping[str, Review]
    posts: Mapping[tuple[str, str], str]
    audit: Sequence[Entry]
    audit_problem: str
    cards: Mapping[str, Sequence[Shown]]
    now: float
    ended: Sequence[str]
    memory: Mapping[str, float]


async def collect(scene: Scene) -> Evidence:
    plan, folder = scene.plan, scene.folder
    submits = Submits(folder).read()
    store = await RedisStore.open(scene.redis.url, set_partitions=False)
    try:
        snapshots = await _load_snapshots(store, submits.review_ids())
        audit = [
            json.loads(entry.line)
            for partition in range(store.partitions)
            async for entry in entries(store.ledger, partition)
        ]
        now = await store.now()
    finally:
        await store.close()
    cards: dict[str, list[Shown]] = {}
    for card in scene.board.all_cards():
        revisions = {(one.verb, one.action): one.revision for one in card.elements()}
        cards.setdefault(card.review, []).append(
            Shown(card.id, card.channel, card.text(), revisions)
        )
    presses = [e for e in read_journal(folder / "presses.jsonl") if "status" in e]
    tools = read_journal(folder / "tools.jsonl")
    items = {item.number: item for item in plan.items()}
    programs = [*scene.bots, *scene.agents]
    ended = [program.name for program in programs if program.has_ended]
    memory = await _peak_memory(scene, programs)
    problem = await verify_audit(scene.redis.url)
    reviews = {id: one.review for id, one in snapshots.items()}
    posts = {
        (id, place.target): ref.ts
        for id, one in snapshots.items()
        for place, ref in one.posts.items()
    }
    return Evidence(
        plan, items, list(submits.first.values()), presses, tools, reviews, posts, audit, problem, cards,
        now, ended, memory,
    )  # fmt: skip


async def verify_audit(url: str) -> str:
    """Runs `hitl audit verify`, as an operator does. Returns its error, or ""."""
    command = [sys.executable, "-m", "hitl_core", "audit", "verify", "--redis", url]
    verify = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    told, _ = await verify.communicate()
    return told.decode().strip() if verify.returncode else ""


def action_of(review: Review, call: str) -> Action:
    """`call`: its id in the plan, or its number on the card."""
    number = call.removeprefix("c")
    return next(action for action in review.actions if action.key == number)


async def _peak_memory(scene: Scene, programs: Sequence[Program]) -> dict[str, float]:
    peaks = {"Redis": await scene.redis.memory()}
    for program in programs:
        program.note_memory()
        peaks[program.role] = max(peaks.get(program.role, 0.0), program.peak_memory / 1e6)
    return peaks


class Submits:
    """The reviews that were acknowledged to an agent. `first`: the first entry of each, by the
    item's number.
    """

    def __init__(self, folder: Path) -> None:
        files = [folder / f"submits-{process}.jsonl" for process in range(AGENTS)]
        self._readers = [JournalReader(file) for file in files]
        self.first: dict[int, Entry] = {}

    def read(self) -> Self:
        for reader in self._readers:
            for entry in reader.new():
                self.first.setdefault(entry["number"], entry)
        return self

    def review_ids(self) -> set[str]:
        return {str(entry["review"]) for entry in self.first.values()}


async def _load_snapshots(store: RedisStore, ids: set[str]) -> dict[str, Snapshot]:
    found: dict[str, Snapshot] = {}
    left = iter(ids)

    async def work() -> None:
        for id in left:
            if (snapshot := await store.load(id)) is not None:
                found[id] = snapshot

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    return found


class Progress(NamedTuple):
    """How much work is left: none if all numbers are 0."""

    jobs: int
    dead_letters: int
    open_reviews: int


async def read_progress(
    store: RedisStore, redis: Server, ids: set[str], at_rest: set[str]
) -> Progress:
    """Counts the jobs for cards, also later ones, and the reviews that are not done although they are decided
    or have a deadline. Reviews in `at_rest` are not read; those that turn out to be at rest are added to it.
    """
    snapshots = await _load_snapshots(store, ids - at_rest)
    reviews = {id: one.review for id, one in snapshots.items()}
    at_rest |= {id for id, review in reviews.items() if is_at_rest(review)}
    jobs = await redis.count([Keys(number).change_counts for number in range(store.partitions)])
    return Progress(jobs, await store.count_dead_letters(), len(reviews.keys() - at_rest))


def is_at_rest(review: Review) -> bool:
    """Whether the review is done, or waits for people without a deadline."""
    has_deadline = any(action.route.expire for action in review.actions)
    return review.status == "done" or (review.status == "pending" and not has_deadline)
