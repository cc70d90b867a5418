"""Several bots draw one card over a slow channel that loses calls: a model says what the card shows in the
end.
"""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from bot.outbox.lane import LATE_WINDOW
from hitl_core.model import DEFAULT_PLACE
from hitl_core.store import Job, MemoryStore, Recheck
from tests.support.builders import START, review_of, write_of

T = TypeVar("T")


def now(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a call of the store in memory, which never waits."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("it waited")


@dataclass(eq=False)
class Request:
    """A request that draws, sent but not applied yet. It is applied once, at any time within LATE, even if
    nobody waits for it any more."""

    version: int
    applied: bool = False


@dataclass(eq=False)
class Bot:
    job: Job
    request: Request
    unsure: bool


class Drawers(RuleBasedStateMachine):
    """`newest` is what is stored, `shown` what Slack shows."""

    bots = Bundle("bots")

    def __init__(self) -> None:
        super().__init__()
        self.clock = START
        self.store = MemoryStore(lambda: self.clock)
        review, event = review_of(now=START)
        self.review_id = review.id
        assert now(self.store.commit(write_of((review, event))))
        job = now(self.store.take_job(DEFAULT_PLACE, "post"))
        assert job is not None
        now(self.store.finish_job(job))
        self.newest = self.shown = 0
        self.requests: list[Request] = []
        self.working = list[Bot]()

    def draw(self) -> Request:
        request = Request(self.newest)
        self.requests.append(request)
        return request

    @rule()
    def change(self) -> None:
        """Somebody decides: as `commit` puts it into the queue."""
        self.clock += 1
        self.newest += 1
        self.store._add_card(self.review_id, DEFAULT_PLACE, START, 0.0)

    @rule()
    def press(self) -> None:
        """On a stale card."""
        now(self.store.redraw(self.review_id, DEFAULT_PLACE))

    @rule(target=bots)
    def begin(self) -> Any:
        """A bot begins the work; another one may have it already."""
        job = now(self.store.take_job(DEFAULT_PLACE, "draw"))
        if job is None:
            return multiple()
        bot = Bot(job, self.draw(), job.attempts > 1)
        self.working.append(bot)
        return bot

    @rule(which=st.integers(0, 20))
    def apply(self, which: int) -> None:
        """Slack applies one of the open requests, in any order."""
        waiting = [request for request in self.requests if not request.applied]
        if waiting:
            self.applied(waiting[which % len(waiting)])

    def applied(self, request: Request) -> None:
        if not request.applied:
            request.applied, self.shown = True, request.version

    @rule(bot=bots)
    def give_up(self, bot: Bot) -> None:
        """No answer in time: the bot draws again."""
        bot.unsure, bot.request = True, self.draw()

    @rule(bot=consumes(bots))
    def die(self, bot: Bot) -> None:
        self.working.remove(bot)

    @rule(bot=consumes(bots))
    def answer(self, bot: Bot) -> None:
        """Slack has applied the bot's last request."""
        self.applied(bot.request)
        self.finish(bot)

    def finish(self, bot: Bot) -> None:
        self.working.remove(bot)
        check = Recheck("check", LATE_WINDOW if bot.unsure else None)
        now(self.store.finish_job(bot.job, check))

    @rule()
    def wait(self) -> None:
        """No request is open longer than LATE."""
        for request in self.requests:
            self.applied(request)
        self.clock += LATE_WINDOW

    def teardown(self) -> None:
        """All open requests are answered; then one bot does the remaining work."""
        for request in self.requests:
            self.applied(request)
        for bot in list(self.working):
            self.finish(bot)
        for _ in range(3):
            while job := now(self.store.take_job(DEFAULT_PLACE, "draw")):
                self.shown = self.newest
                now(
                    self.store.finish_job(
                        job, Recheck("check", LATE_WINDOW if job.attempts > 1 else None)
                    )
                )
            self.clock += LATE_WINDOW + 1
        assert self.shown == self.newest
        assert now(self.store.backlog()).waiting == 0

    @invariant()
    def nothing_is_forgotten(self) -> None:
        """If an old state is shown, or a request may still be applied, then a bot works on it or a job
        waits.
        """
        if self.shown != self.newest or any(not request.applied for request in self.requests):
            assert self.working or now(self.store.backlog()).waiting


TestDrawers = Drawers.TestCase
TestDrawers.settings = settings(max_examples=1000, stateful_step_count=30, deadline=None)
