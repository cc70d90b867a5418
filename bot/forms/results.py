"""What becomes of a form that was sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..card import REFUSAL_TITLE
from ..inbox import FIXABLE_CODES, PermittedSnapshot, Reply
from .page import FormPage

#: Event kind → what the submission did.
_DONE_TEXTS = {
    "decided": "it was the decision",
    "edited": "your edit is stored and now needs approval",
    "voted": "your vote counts",
}


@dataclass(frozen=True)
class Stored:
    """What was sent is stored: the form closes. `snapshot` is the review as it is now."""

    snapshot: PermittedSnapshot | None = None


@dataclass(frozen=True)
class FieldErrors:
    """The form stays open, with these texts beside its inputs (by id)."""

    errors: Mapping[str, str]


@dataclass(frozen=True)
class Notice:
    """One text for the person. `fixable`: the form stays open, and the text is shown beside its first input,
    if it has one. Otherwise the text replaces the form.
    """

    text: str
    title: str = REFUSAL_TITLE
    fixable: bool = False


#: A page replaces the one that was sent.
FormResult = Stored | FieldErrors | Notice | FormPage


def to_result(reply: Reply) -> Stored | Notice:
    if reply.code == "ok":
        return Stored(reply.snapshot)
    return Notice(reply.text, fixable=reply.code in FIXABLE_CODES)


def repeat_notice(kind: str) -> Notice:
    """The answer to a repeated submission: what the first attempt did."""
    done = _DONE_TEXTS.get(kind, "it counts")
    text = f"Your first attempt was stored: {done}. Nothing else was done now."
    return Notice(text, "Already stored")
