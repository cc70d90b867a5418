"""The form for an edit: the arguments of a call, and a choice of the tool. Pure."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Collection
from dataclasses import replace
from typing import Self

from hitl_core.errors import Refused
from hitl_core.forms import Answers, Field, FormErrors, Option, name_removed
from hitl_core.model import Action, DisplayStyle, Review, encode
from hitl_core.review import (
    Proposal,
    edit_tools,
    form_schema,
    judge_edit,
    redaction_pointers,
)
from hitl_core.sentences import join_names

from ..card import asker_line, plain_text
from ..text import clip, one_line, shorten
from .limits import FormLimits
from .page import TOOL, Entries, FormRef, PageField
from .review_form import FormFrame, ReviewForm
from .session import FormSession
from .source import FormSource

#: The most tools that can be chosen.
MAX_TOOLS = 100
#: The most removed values that the warning names, and the most characters of one name.
MAX_REMOVED, MAX_NAME = 10, 60
#: The most warnings about what was entered.
MAX_ODD = 3
#: The most characters of one of them: all must be read, and what to do then.
MAX_WARNING = 400
#: The labels of the button that sends the form.
_APPROVE, _SEND = "Approve edited", "Send edited"
_NO_SCHEMA = " This tool has no schema, so only the type of each value is checked."
#: What people can do about a value that no input can hold.
_REJECT_HELP = "To have it changed, close this form, press “Reject” and say what should change."
_CLI_HELP = "It can be changed on the command line: “hitl reviews decide”."
#: A value that is shown in one of these styles gets an input with several lines.
_LONG_STYLES: Collection[DisplayStyle] = ("text", "email", "markdown-source", "code", "diff")
_TOOL_HINT = "You can choose another tool if the policy allows it with these arguments."


class EditForm(ReviewForm):
    """A form for one edit. Raises Refused if no form can be made."""

    def __init__(
        self,
        review: Review,
        action: Action,
        ref: FormRef,
        limits: FormLimits,
        answers: Answers | None = None,
    ) -> None:
        self._review, self._action, self._limits = review, action, limits
        self._args = review.arguments(action.key).parse()
        self._tools = edit_tools(review, action)[:MAX_TOOLS]
        self._name = self._tools[0]
        #: Why this form is not for the tool that the person chose last; "" if it is.
        self._tool_problem = ""
        self._tool = ref.tool if ref.tool in self._tools else self._name
        several = len(self._tools) > 1
        super().__init__(
            replace(ref, tool=self._tool if several else None),
            FormSession(self._source(self._tool), limits, answers, ref.page),
        )

    def enter(self, entries: Entries) -> ReviewForm:
        form = self._with_session(self.session.enter(entries))
        chosen = entries.answers.get(TOOL) or ""
        is_option = chosen.isdecimal() and int(chosen) < len(self._tools)
        tool = self._tools[int(chosen)] if is_option else self._tool
        return form if tool == self._tool else form._with_tool(tool)

    def proposal(self) -> Proposal:
        if self._tool_problem:  # the person chose another tool than this form's
            raise FormErrors({}, (self._tool_problem,))
        args, target = encode(self.session.value()), self.ref.target
        return Proposal("edit", target.revision, None, args, self._tool, seal=target.seal)

    def warning(self, proposal: Proposal) -> str:
        if self.ref.confirming and self.ref.confirming == _hash(proposal):
            return ""
        odd = [plain_text(line) for line in self.session.entry_warnings()[:MAX_ODD]]
        known = (self._removal(proposal), *(shorten(each, MAX_WARNING) for each in odd))
        sentences = " ".join(filter(None, known))
        return sentences and f"{sentences} Send the form again to confirm."

    def _removal(self, proposal: Proposal) -> str:
        assert proposal.args is not None  # every edit has arguments
        removed = name_removed(self._args, proposal.args.parse(), self.session.source.redact)
        names = join_names(map(_short_name, removed), most=MAX_REMOVED + 1)
        return f"This removes {names}." if names else ""

    def with_confirmation(self, proposal: Proposal) -> Self:
        form = self._with_session(self.session.at_page(self.session.page))
        form.ref = replace(self.ref, page=form.session.page, confirming=_hash(proposal))
        return form

    def frame(self) -> FormFrame:
        title, action = f"Edit {self._name}", self._action
        checked = _NO_SCHEMA if self.session.source.schema is None else ""
        return FormFrame(
            title,
            f"{self._effect()}{checked}",
            _APPROVE if action.route.reviewers.editor_approves else _SEND,
            (asker_line(self._review, action),),
            name=self._name if len(title) > self._limits.title else "",
            problem=self._tool_problem,
            locked_help=_REJECT_HELP if "reject" in action.config.allowed_decisions else _CLI_HELP,
            last_fields=self._tool_choice(),
        )

    def _effect(self) -> str:
        reviewers = self._action.route.reviewers
        if not reviewers.editor_approves:
            return f"“{_SEND}” approves nothing: other people are asked to approve what you send."
        unless = (
            ", unless the policy wants other people to approve it"
            if self._review.kept_policy
            else ""
        )
        start = f"“{_APPROVE}” approves what you send"
        if (more := reviewers.quorum - 1) == 0:
            return f"{start}: the tool runs with it{unless}."
        others = "one other person" if more == 1 else f"{more} others"
        return f"{start}. Then {others} must approve it before it runs."

    def _tool_choice(self) -> tuple[PageField, ...]:
        """The field for choosing the tool. Another tool has other fields."""
        if len(self._tools) == 1:
            return ()
        chosen, options = str(self._tools.index(self._tool)), tuple(map(Option, self._tools))
        field = Field(
            TOOL, "choice", "Tool", _TOOL_HINT, True, initial=chosen, options=options, redraws=True
        )
        return (PageField(TOOL, field),)

    def _with_tool(self, tool: str) -> EditForm:
        """The form for another tool, from its first page; or this form, with the reason why not."""
        form = copy.copy(self)
        try:
            form.session = self.session.convert_to(self._source(tool)).at_page(0)
        except Refused as refused:
            form._tool_problem = str(refused)
            return form
        form._tool, form._tool_problem = tool, ""
        form.ref = replace(self.ref, tool=tool, page=0)
        return form

    def _source(self, tool: str) -> FormSource:
        action, args = self._action, self._args
        if tool != self._name:
            action = judge_edit(self._review, action, tool, args, 0.0).action
        redact = redaction_pointers(action, args)
        hides_values = self._review.hides_values or bool(redact)
        return FormSource(
            form_schema(action.config, args, hides_values=hides_values),
            args,
            redact,
            action.revision,
            edition=str(self._tools.index(tool) or ""),
            long_texts=tuple(h.pointer for h in action.config.display if h.style in _LONG_STYLES),
        )


def _short_name(name: str) -> str:
    """The name on one line. Only quoted keys are that long, so the quote is closed."""
    visible = one_line(name)
    return visible if len(visible) <= MAX_NAME else f'{clip(visible, MAX_NAME - 1)}"'


def _hash(proposal: Proposal) -> str:
    """Identifies an edit by revision, seal, tool and arguments. So a changed value is confirmed again."""
    args = proposal.args.hash if proposal.args else ""
    identity = json.dumps([proposal.revision, proposal.seal, proposal.name, args])
    return hashlib.sha256(identity.encode()).hexdigest()[:32]
