"""The dead letters of the store in memory."""

from __future__ import annotations

from hitl_core.store.contract import DeadLetter, Job, Recheck, letter_member
from hitl_core.store.memory.lanes import MemoryLanes


class MemoryDeadLetters(MemoryLanes):
    """See `Store` for the methods."""

    async def move_to_dead_letters(self, job: Job, why: str, check: Recheck | None = None) -> None:
        if self._starts.get(job.member) != job.token:
            return
        del self._starts[job.member]
        self._is_latest(job)
        if self._jobs[job.member].note == job.note:
            entry, self._number = self._jobs.pop(job.member), self._number + 1
            now = self._time()
            id = f"0:{int(now * 1000)}-{self._number}"
            letter = DeadLetter(id, now, job.review_id, job.lane, letter_member(job), why)
            self._dead_letters[id] = letter, entry
            self._add_later_check(job, check or Recheck("check", None))
        else:
            self._starts[job.member] = f"1 {job.first_at:.6f}"

    async def count_dead_letters(self, missing: set[int] | None = None) -> int:
        return len({letter.review_id for letter, _ in self._dead_letters.values()})

    async def dead_letters(self, limit: int = 1000) -> list[DeadLetter]:
        return [letter for letter, _ in self._dead_letters.values()][:limit]

    async def dead_letter(self, id: str) -> DeadLetter | None:
        letter, _ = self._dead_letters.get(id, (None, None))
        return letter

    async def requeue_dead_letter(self, letter: DeadLetter) -> bool:
        if (found := self._dead_letters.pop(letter.id, None)) is None:
            return False
        self._starts.setdefault(letter.member, "1 0")
        self._add_job(letter.lane, letter.member, found[1].at, first=found[1].is_first_post)
        return True

    async def drop_dead_letter(self, letter: DeadLetter) -> bool:
        return self._dead_letters.pop(letter.id, None) is not None

    async def requeue_dead_letters(self, missing: set[int] | None = None) -> int:
        letters = await self.dead_letters(len(self._dead_letters))
        for letter in letters:
            await self.requeue_dead_letter(letter)
        return len({letter.review_id for letter in letters})
