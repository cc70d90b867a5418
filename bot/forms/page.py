"""The values between a channel and a form: what it shows, what it remembers, and what people entered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from hitl_core.forms import Field
from hitl_core.model import DecisionType, MessageRef

from ..inbox import ActionRef

#: What sending the form does: one of the decisions, or an escalation. "approve" is a form for the answer that
#: an approval needs.
FormKind = Literal["edit", "reject", "respond", "approve", "escalate"]
#: The forms that may have several fields and pages.
FIELD_KINDS: tuple[DecisionType, ...] = ("edit", "respond", "approve")
#: The id of the input for a text of a person's own, and of the one that chooses another tool.
MESSAGE, TOOL = "message", "tool"


@dataclass(frozen=True)
class FormRef:
    """An open form. A channel keeps it beside the form, and gives it back with what people entered: it has
    ids, never data.

    - `target`: the action; for an escalation `target.revision` is the number of steps that the card showed;
    - `page`: from 0;
    - `has_draft`: what was entered on other pages is stored as a draft;
    - `tool`: the tool that an edit changes to;
    - `confirming`: the digest of the edit that the person was asked to confirm, because it removes something;
    - `card`: the message from which to escalate.
    """

    kind: FormKind
    target: ActionRef
    page: int = 0
    has_draft: bool = False
    tool: str | None = None
    confirming: str | None = None
    card: MessageRef | None = None

    def at_page(self, page: int) -> FormRef:
        return self if page == self.page else replace(self, page=page)


@dataclass(frozen=True)
class PageField:
    """One input, or a locked value. Another `id` means that an earlier input's text doesn't belong here."""

    id: str
    field: Field


@dataclass(frozen=True)
class FormPage:
    """One page, as neutral values: all texts are visible text on one line.

    - `problem`: shown at the top; "" if there is none;
    - `name`: the tool, shown before `effect` where the title can't have it all; "" elsewhere;
    - `effect`: what sending does;
    - `question`: what the agent asks; "" if nothing;
    - `submit`: the label of the button that sends this page;
    - `count`, `back`: how many pages there are, and the label of the button to the page before, "" on the
      first one;
    - `file`: the label of the button that posts all arguments as a file, where a value is not shown in full;
      "" elsewhere.
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

    @property
    def where(self) -> str:
        """Which page this is."""
        return f"Page {self.ref.page + 1} of {self.count}"

    @property
    def file_spoken(self) -> str:
        """The label of the file's button for screen readers."""
        return f"{self.file}, below the card"

    @property
    def back(self) -> str:
        return f"◀ Back to page {self.ref.page} of {self.count}" if self.ref.page else ""


@dataclass(frozen=True)
class Entries:
    """What people entered on one page: `answers` by the ids of its inputs, as `hitl_core.forms.Kind` says.
    `unsent` are inputs whose answer the client left out: they keep their values.
    """

    answers: Mapping[str, str | None]
    unsent: frozenset[str] = frozenset()

    @property
    def ids(self) -> frozenset[str]:
        return self.unsent.union(self.answers)
