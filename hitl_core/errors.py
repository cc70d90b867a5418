"""All errors of this library, in one tree. The text of an error says what is wrong and what to do."""

from __future__ import annotations

import traceback
from typing import Literal

#: Why a command was refused, for programs and for the audit. The text of the error explains it.
RefusalCode = Literal[
    "already_decided",
    "already_started",
    "already_voted",
    "ambiguous",
    "args_changed",
    "bad_answer",
    "busy",
    "cancelled",
    "changed",
    "denied",
    "expired",
    "gone",
    "held",
    "invalid_answer",
    "invalid_args",
    "message_required",
    "no_fallback",
    "no_form",
    "no_id",
    "no_result",
    "not_allowed",
    "not_decided",
    "not_due",
    "not_permitted",
    "not_ready",
    "not_waiting",
    "nothing_to_escalate",
    "own_edit",
    "paused",
    "requester",
    "stale",
    "started",
    "unavailable",
    "unchanged",
    "unknown_action",
    "unknown_call",
    "unknown_members",
    "unknown_tool",
    "unread",
]


class HitlError(Exception):
    """The base class of all errors of this library."""


class InvalidToolCall(HitlError):
    """A tool call that can't be reviewed: it has no id, a bad name, or arguments that are not plain JSON."""


class PolicyError(HitlError):
    """A policy that can't be loaded. The text names the file, the line and the path of the key."""


class SettingsError(HitlError):
    """A setting that is missing or wrong. The text names the setting."""


class StoreError(HitlError):
    """The store refused the command. Trying again will not help."""


class ReviewUnreadable(StoreError):
    """The stored review can't be read by this version: a newer one wrote it, or it is damaged."""


class ReviewTooNew(ReviewUnreadable):
    """A newer version wrote the review. Programs of that version can read it."""


class DigestUnreadable(StoreError):
    """The stored digest can't be read by this version: a newer one wrote it, or it is damaged."""


class AuditUnreadable(StoreError):
    """An anchor of the stored audit can't be read: it was changed, or is damaged."""


class StoreUnavailable(HitlError):
    """The store did not answer in time. It is not known whether the last write happened."""


class StoreUnwritable(StoreUnavailable):
    """The store answers, but takes no writes now: it is full, a replica, or can't save its data."""


class StoreForbidden(StoreUnavailable):
    """The store refuses a command or a key to the user of the URL. An operator can permit it at any time."""


class ReviewConflict(HitlError):
    """A review with this id exists already, with other arguments."""


class ReviewNotFound(HitlError):
    """There is no review with this id, or it was deleted after its retention."""


class Refused(HitlError):
    """A command was refused, and nothing was changed. `code` is for programs, the text for people."""

    def __init__(self, code: RefusalCode, message: str) -> None:
        super().__init__(message)
        self.code: RefusalCode = code


class DecisionError(Refused):
    """One decision of an answer is wrong. Nothing of the answer was stored.

    `index` is the position of the decision, from 0; `field` is the path in it. Both are None when the answer
    as a whole is wrong.
    """

    def __init__(
        self,
        message: str,
        *,
        index: int | None = None,
        tool: str | None = None,
        field: str | None = None,
        code: RefusalCode = "bad_answer",
    ) -> None:
        super().__init__(code, message)
        self.index, self.tool, self.field = index, tool, field


class DialectError(HitlError):
    """An interrupt or an answer of another system that can't be read."""


class UnsupportedByDialect(DialectError):
    """A system can't receive this decision. `dialect` names the system, `feature` what it lacks."""

    def __init__(self, dialect: str, feature: str, message: str) -> None:
        super().__init__(message)
        self.dialect, self.feature = dialect, feature


class Rejected(HitlError):
    """A guarded call must not run. The text is the one that a model would get."""


class LeaseLost(HitlError):
    """This process no longer has the review: its lease ended, and another process may have claimed it."""


class GateClosed(HitlError):
    """The gate is closed, or was closed while a call waited."""


class IntegrationError(HitlError):
    """An agent framework is not installed, or its setup can't be resumed safely."""


def safe_message(error: BaseException) -> str:
    """The text of an error for the log: the message of our own errors; for others the type and the line.

    The message of a foreign error is left out, because it may contain a tool's arguments.
    """
    if isinstance(error, HitlError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"
