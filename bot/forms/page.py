"""The values between a channel and a form: a page and its reference, what people entered, and the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, Self

from hitl_core.forms import Field
from hitl_core.model import DecisionType, MessageRef

from ..card import REFUSAL_TITLE, Line
from ..inbox import FIXABLE_CODES, ActionRef, PermittedSnapshot, Press, Reply

#: What the form does when it is sent: one of the decisions, or an escalation. "approve" is a form for the
#: answer that an approval needs.
FormKind = Literal["edit", "reject", "respond", "approve", "escalate"]
#: The forms that may have several fields and pages.
FIELD_KINDS: tuple[DecisionType, ...] = ("edit", "respond", "approve")
#: The ids of two inputs: the one for a person's own text, and the one that chooses another tool.
MESSAGE, TOOL = "message", "tool"


@dataclass(frozen=True)
class FormRef:
    """An open form. A channel keeps it with the form, and passes it back with what people entered. It has
    ids, never data.

    - `target`: the action; for an escalation `target.revision` is the number of steps that the card showed;
    - `page`: from 0;
    - `draft`: the id of the save (see `drafts`) with what was entered on other pages; "" if there is none;
    - `tool`: the tool that an edit chooses;
    - `confirming`: the hash of the edit that the person was asked to confirm, because it removes something
      or has odd values;
    - `card`: the message with the button that opened the form; None if it has no card.
    """

    kind: FormKind
    target: ActionRef
    page: int = 0
    draft: str = ""
    tool: str | None = None
    confirming: str | None = None
    card: MessageRef | None = None

    @classmethod
    def of_button(cls, press: Press, card: MessageRef | None) -> Self | None:
        """The form that a button opens; None if it opens none. `card` is the message with the button."""
        match press.verb:
            case "edit" | "reject" | "respond":
                return cls(press.verb, press.target, card=card)
            case "escalate":
                steps = replace(press.target, revision=press.number)
                return cls(press.verb, steps, card=card)
            case _:
                return None


@dataclass(frozen=True)
class PageField:
    """One input, or a locked value. With another `id` it is another input: text that was typed before doesn't
    belong here. `warnings` are about the value and are shown above it. `help`: how a locked value can be
    changed.
    """

    id: str
    field: Field
    warnings: tuple[Line, ...] = ()
    help: str = ""


@dataclass(frozen=True)
class FormPage:
    """One page. All texts are visible text on one line, without markup.

    - `about`: what is decided: the call with its main fact, who asks for it, for whom, until when;
    - `problem`: shown at the top; "" if there is none;
    - `name`: the tool, shown before `effect` if the title is too short for it; otherwise "";
    - `effect`: what sending does;
    - `question`: what the agent asks; "" if it asks nothing;
    - `submit`: the label of the button that sends this page;
    - `count`, `back`: the number of pages, and the label of the button to the page before; "" on the first
      page;
    - `file`: the label of the button that posts all arguments as a file, if a value is not shown in full;
      otherwise "".
    """

    ref: FormRef
    title: str
    effect: str
    fields: tuple[PageField, ...]
    submit: str
    problem: str = ""
    name: str = ""
    question: str = ""
    count: int = 1
    file: str = ""
    about: tuple[Line, ...] = ()

    @property
    def where(self) -> str:
        """The page number, for people."""
        return f"Page {self.ref.page + 1} of {self.count}"

    @property
    def file_spoken(self) -> str:
        """The label of the file button for screen readers."""
        return f"{self.file}, below the card"

    @property
    def back(self) -> str:
        return f"◀ Back to page {self.ref.page}" if self.ref.page else ""


@dataclass(frozen=True)
class Entries:
    """What people entered on one page: `answers` by the ids of its inputs, in the formats of
    `hitl_core.forms.Kind`. `unsent`: the inputs whose answer the client left out; they keep their values.
    """

    answers: Mapping[str, str | None]
    unsent: frozenset[str] = frozenset()

    @property
    def ids(self) -> frozenset[str]:
        return self.unsent.union(self.answers)


#: Event kind → what the submission did.
_DONE_TEXTS = {
    "decided": "it was the decision",
    "edited": "your edit is stored and now needs approval",
    "voted": "your vote counts",
}


@dataclass(frozen=True)
class Stored:
    """The form is stored and closes. `snapshot` is the review as it is now."""

    snapshot: PermittedSnapshot | None = None


@dataclass(frozen=True)
class FieldErrors:
    """The form stays open, with these texts beside its inputs (by id)."""

    errors: Mapping[str, str]


@dataclass(frozen=True)
class Notice:
    """One text for the person. `fixable`: the form stays open, with the text beside its first input, if it
    has one. Otherwise the text replaces the form. `retry`: the person should send the same again. It must
    count as the same submission, because that may be stored already.
    """

    text: str
    title: str = REFUSAL_TITLE
    fixable: bool = False
    retry: bool = False


#: A FormPage replaces the page that was sent.
FormResult = Stored | FieldErrors | Notice | FormPage


def to_result(reply: Reply) -> Stored | Notice:
    if reply.code == "ok":
        return Stored(reply.snapshot)
    retry = reply.code in ("busy", "unavailable")
    return Notice(reply.text, fixable=reply.code in FIXABLE_CODES, retry=retry)


def repeat_notice(kind: str) -> Notice:
    """The answer to a repeated submission: what the first attempt did."""
    done = _DONE_TEXTS.get(kind, "it counts")
    text = f"Your first attempt was stored: {done}. Nothing else was done now."
    return Notice(text, "Already stored")
