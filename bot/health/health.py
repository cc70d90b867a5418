"""The current problems, for the operators: one list for the log and the bot's own channel, and its counts for
`/readyz` and `/metrics`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal, get_args

from hitl_core.errors import StoreUnavailable

from ..channels.contract import error_text
from ..text import one_line

log = logging.getLogger(__name__)

#: `lookup`: a look-up of people or groups fails. `place`: a place can't be reached. `delivery`: a card is
#: given up or makes no progress. `store`: Redis lost writes, so reviews are held; or its settings are unsafe;
#: or the audit can't be sealed. `timer`: the due timers of a review can't be applied.
#: `agent`: an agent can't go on with a decided review.
ProblemKind = Literal["lookup", "place", "delivery", "store", "timer", "agent"]
PROBLEM_KINDS: tuple[ProblemKind, ...] = get_args(ProblemKind)

#: After this time without a report, in seconds, a problem is no longer listed: its subject may never be used
#: again, and nobody knows whether it is solved. Dead letters are retried more often than this.
FORGET_AFTER = 900.0
#: The most problems that are kept. More problems of a kind become one problem with the subject MORE.
MAX_PROBLEMS = 200
MORE = "…"


@dataclass(frozen=True)
class Problem:
    """A problem. `subject` is a place, a review's id or a method's name. `text` says what is wrong and what
    to do, in one or two sentences. Neither contains a secret or a network address. `since` and `last` are the
    times of the first and the last of `count` reports, in seconds since the epoch by this machine's clock.
    """

    kind: ProblemKind
    subject: str
    text: str
    since: float
    last: float
    count: int = 1

    @property
    def key(self) -> tuple[ProblemKind, str]:
        return self.kind, self.subject


class Health:
    """The problems of one process. Any part of the bot may report; no method waits or raises."""

    def __init__(self, clock: Callable[[], float] = time.time, *, quiet: bool = False) -> None:
        """`quiet`: log nothing, because the caller gets the errors anyway."""
        self._clock, self._quiet = clock, quiet
        self._problems: dict[tuple[ProblemKind, str], Problem] = {}
        self._unseen: set[tuple[ProblemKind, str]] = set()
        #: Set when a look-up starts to fail or works again. The task that waits for it clears it.
        self.lookups_changed = asyncio.Event()

    def report(self, kind: ProblemKind, subject: str, text: str) -> None:
        """Report a problem. The first report is logged; the newest text is kept."""
        now = self._clock()
        if (kind, subject) not in self._problems and len(self._problems) >= MAX_PROBLEMS:
            subject, text = MORE, f"There are more problems of the kind “{kind}”: see the log."
        previous = self._problems.get((kind, subject))
        self._unseen.discard((kind, subject))
        if previous is None:
            if not self._quiet:
                log.warning("a problem (%s, %s): %s", kind, one_line(subject), one_line(text))
            self._problems[kind, subject] = Problem(kind, subject, text, now, now)
            self._note_change(kind)
        else:
            self._problems[kind, subject] = replace(
                previous,
                text=text,
                since=min(previous.since, now),  # the machine's clock may have been set back
                last=now,
                count=previous.count + 1,
            )

    def report_error(self, kind: ProblemKind, subject: str, error: Exception, text: str) -> None:
        """Report the problem that this error means. Not an unreachable Redis: `/readyz` reports it."""
        if not isinstance(error, StoreUnavailable):
            self.report(kind, subject, text)

    @contextmanager
    def report_errors(
        self, kind: ProblemKind, subject: str, text: str, *, but: tuple[type[Exception], ...] = ()
    ) -> Generator[None]:
        """For a step of a loop. An error in the block is a problem until the block succeeds, and does not end
        the loop, also if it is not ours: nobody would notice that. `text`: what is wrong, without its reason.
        `but`: the errors that are raised.
        """
        try:
            yield
        except but:
            raise
        except Exception as error:
            why = error_text(error)
            sentence = f"{text}: {why.rstrip('.')}."
            known = self._problems.get((kind, subject))
            # A loop fails several times in a second. `log_changes` says that Redis can't be reached.
            is_news = not isinstance(error, StoreUnavailable) and (
                not known or known.text != sentence
            )
            level = logging.INFO if is_news else logging.DEBUG
            log.log(level, "%s: %s", one_line(subject), one_line(why))
            self.report_error(kind, subject, error, sentence)
        else:
            self.resolve(kind, subject)

    def resolve(self, kind: ProblemKind, subject: str) -> None:
        """The problem is over. No effect if there was none."""
        self._unseen.discard((kind, subject))
        previous = self._problems.pop((kind, subject), None)
        if previous is not None:
            self._note_change(kind)
            spent = self._clock() - previous.since
            log.info("a problem is over after %.0f s (%s, %s)", spent, kind, one_line(subject))

    def _note_change(self, kind: ProblemKind) -> None:
        if kind == "lookup":
            self.lookups_changed.set()

    def has(self, kind: ProblemKind, subject: str) -> bool:
        """Whether this is a problem now."""
        return (kind, subject) in self._problems

    def is_unseen(self, problem: Problem) -> bool:
        """Whether the problem is only unlisted because nobody reported it again: it may not be solved."""
        return problem.key in self._unseen

    def current_problems(self) -> tuple[Problem, ...]:
        """The problems, oldest first."""
        end = self._clock() - FORGET_AFTER
        for old in [one for one in self._problems.values() if one.last < end]:
            del self._problems[old.key]
            self._unseen.add(old.key)
            self._note_change(old.kind)
            log.info("a problem was not seen again (%s, %s)", old.kind, one_line(old.subject))
        return tuple(sorted(self._problems.values(), key=lambda one: one.since))

    def counts(self) -> dict[ProblemKind, int]:
        """The number of problems of each kind."""
        by_kind = Counter(one.kind for one in self.current_problems())
        return {kind: by_kind[kind] for kind in PROBLEM_KINDS}
