"""The one error tree. The text of each error is a sentence a person can act on."""

from __future__ import annotations

import traceback


class HitlError(Exception):
    """Base of everything that this library raises on purpose."""


class InvalidToolCall(HitlError):
    """A tool call that can't be reviewed: no id, a bad name, arguments that are not plain JSON."""


class PolicyError(HitlError):
    """A policy that can't be loaded. Names the file, the line and the path of the key."""


class SettingsError(HitlError):
    """A setting that is missing or wrong. Names the setting."""


class StoreError(HitlError):
    """The store refused, for a reason that trying again will not cure."""


class StoreUnavailable(HitlError):
    """The store could not be reached in time. Whether the last write happened is not known."""


class StoreUnwritable(StoreUnavailable):
    """The store answers, but takes no new writes now: it is full, a replica, or can't keep them safe."""


class ReviewConflict(HitlError):
    """A review of this id exists with other arguments."""


class ReviewNotFound(HitlError):
    """No review has this id, or its retention has ended."""


class Refused(HitlError):
    """A command that changes nothing. `code` is for machines, the text is for the person."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class DecisionError(Refused):
    """One decision of an answer is wrong; nothing of the answer was stored. `index` is its position, from 0,
    `field` the path in it: None where the answer as a whole is wrong.
    """

    def __init__(
        self,
        message: str,
        *,
        index: int | None = None,
        tool: str | None = None,
        field: str | None = None,
        code: str = "bad_answer",
    ) -> None:
        super().__init__(code, message)
        self.index, self.tool, self.field = index, tool, field


class DialectError(HitlError):
    """Another system's interrupt or answer that can't be read here."""


class UnsupportedByDialect(DialectError):
    """A system has no word for what must be said to it. `dialect` names the system, `word` what it lacks."""

    def __init__(self, dialect: str, word: str, message: str) -> None:
        super().__init__(message)
        self.dialect, self.feature = dialect, word


class Rejected(HitlError):
    """A guarded call must not run. The text is what a model would be told."""


class LeaseLost(HitlError):
    """This process no longer holds the review: its lease ended and another may have taken it."""


class GateClosed(HitlError):
    """The gate was closed while something waited on it."""


class IntegrationError(HitlError):
    """An agent framework is missing, or is set up in a way that could not be resumed safely."""


def safe_message(error: BaseException) -> str:
    """What the log may say of an error: ours by their sentence. Of others the type and where it was raised;
    their text stays out, as it may quote a tool's arguments.
    """
    if isinstance(error, HitlError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"
