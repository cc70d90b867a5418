"""What a review keeps of a call's result: one line for people, and a hash. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal, assert_never

from hitl_core.model import Review, Run, storable_text
from hitl_core.review.visibility import WHY_HIDDEN

#: The longest result line on a card, in characters. A longer one is cut and ends in an ellipsis.
MAX_LINE = 200
#: Only this many characters of a result are read for its line.
_MAX_READ = 10_000


@dataclass(frozen=True, slots=True)
class CallResult:
    """The result of one call.

    - `kind`: a `result` and a `failure` have the words of the tool, or of the agent, and may quote hidden
      values. A `note` is our own sentence about the call. `paused`: the call has started and asks a question
      of its own; it continues after the answer;
    - `line`: its first line, at most MAX_LINE characters; "" for `paused`;
    - `result_hash`: the SHA-256 of the tool's whole text, to compare results.
    """

    kind: Literal["result", "failure", "note", "paused"]
    line: str = ""
    result_hash: str | None = None

    @classmethod
    def of(cls, result: object) -> CallResult:
        """The result for a value that a tool returned or an agent reported. A CallResult is returned as it
        is.
        """
        if isinstance(result, CallResult):
            return result
        text = text_of(result)
        return cls("result", one_line(text), _hash_of(text))

    @classmethod
    def failure(cls, error: str) -> CallResult:
        return cls("failure", one_line(error), _hash_of(error))

    @classmethod
    def note(cls, text: str) -> CallResult:
        """`text` must be our own: it is shown as it is."""
        return cls("note", one_line(text))

    def to_run(self, review: Review, earlier: Run | None, now: float) -> Run:
        """The run with this result, and with the words that people may read."""
        return Run(
            state="paused" if self.kind == "paused" else "done",
            attempt=earlier.attempt if earlier else 1,
            at=now,
            line=self._visible_line(review.hides_values),
            result_hash=self.result_hash,
            rerun_by=earlier.answered_by if earlier else None,
        )

    def _visible_line(self, hides_values: bool) -> str | None:
        match self.kind:
            case "result" if hides_values and self.line:
                return f"a result was reported; it is {WHY_HIDDEN}"
            case "failure" if hides_values:
                return f"failed; the error is {WHY_HIDDEN}"
            case "failure":
                return one_line(f"failed: {self.line}")
            case "result" | "note":
                return self.line
            case "paused":
                return None
        assert_never(self.kind)


#: The result of a call that asks a question of its own.
PAUSED = CallResult("paused")


def text_of(value: object) -> str:
    """`str(value)`; the name of its type if that raises: the tool ran, so its result must be stored."""
    try:
        return str(value)
    except Exception:
        return f"({type(value).__name__})"


def one_line(text: object) -> str:
    """The first 200 characters of the first non-blank line."""
    start = storable_text(str(text).lstrip()[:_MAX_READ])
    line = next(iter(start.splitlines()), "").strip()
    return line if len(line) <= MAX_LINE else line[: MAX_LINE - 1] + "…"


def _hash_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
