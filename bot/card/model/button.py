"""A button: its text, what it does, and its value, which the channel carries. Pure.

The value has ids, never data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: What a button does. "answer": the choice `number`. "review": opens the actions one by one, at page
#: `number`. "escalate": after `number` steps. "back", "next": the page `number`. "file": all arguments as a
#: file.
Verb = Literal[
    "approve",
    "edit",
    "reject",
    "respond",
    "ignore",
    "answer",
    "see",
    "approve_all",
    "review",
    "escalate",
    "ran",
    "rerun",
    "skip",
    "back",
    "next",
    "file",
]


@dataclass(frozen=True)
class Confirmation:
    """A question before the button counts. `label`: the text of the button for yes."""

    title: str
    text: str
    label: str
    style: Literal["positive", "destructive"] = "positive"


@dataclass(frozen=True)
class Button:
    """`label` is visible text. `spoken` is for screen readers and says what the button does to what. It
    begins with the label, so that a person can press the button by saying what they see.

    The other fields, as far as the verb needs them: the action (None: the whole review), the revision and the
    seal that were shown, a number (see Verb), and the revisions of several actions. `is_rare`: it may be in a
    menu.
    """

    verb: Verb
    label: str
    spoken: str
    review_id: str
    action: str | None = None
    revision: int | None = None
    seal: str | None = None
    number: int | None = None
    revisions: tuple[tuple[str, int], ...] = ()
    style: Literal["positive", "destructive"] | None = None
    confirmation: Confirmation | None = None
    is_rare: bool = False

    @property
    def value(self) -> str:
        """`VERB.REVIEW.ACTION.REVISION.SEAL.NUMBER` without empty parts at the end; for several actions,
        KEY:REVISION,... in place of the action. A channel carries it unchanged, and `Press.parse` reads it.
        """
        action = ",".join(f"{key}:{revision}" for key, revision in self.revisions) or self.action
        parts = (self.verb, self.review_id, action, self.revision, self.seal, self.number)
        return ".".join("" if part is None else str(part) for part in parts).rstrip(".")
