"""The Edit modal: the arguments of a call as a form, and the tools that it may become. Pure."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.channels.slack.filling import Answers, Filling, Source
from bot.channels.slack.form_modal import FormModal
from bot.channels.slack.ids import Meta
from bot.channels.slack.inputs import ACTION_ID, MAX_LABEL, MAX_OPTIONS
from bot.channels.slack.mentions import listed
from bot.channels.slack.modals import MAX_TITLE
from bot.channels.slack.rich import Block, line, plain, rich_text, words
from bot.text import one_line
from hitl_core.errors import Refused
from hitl_core.forms import removed
from hitl_core.forms.pointer import path_words
from hitl_core.model import Action, Review, encode
from hitl_core.review.judging import judge
from hitl_core.review.redaction import redacted, schema_shown
from hitl_core.review.transitions import Proposal

#: The block of the choice between tools.
TOOL = "tool"
#: So many of the values that an edit takes away are named.
MAX_GONE = 10


class Editing(FormModal):
    """Raises Refused where no form can be made."""

    def __init__(self, review: Review, action: Action, meta: Meta, answers: Answers) -> None:
        self._review, self._action = review, action
        self._tools = _tools_of(review, action)
        self._tool = meta.tool if meta.tool in self._tools else action.name
        several = len(self._tools) > 1
        super().__init__(
            "edit",
            replace(meta, tool=self._tool if several else None),
            Filling(self._source(self._tool), answers, meta.page),
        )

    def with_state(self, values: Mapping[str, Any]) -> FormModal:
        made = super().with_state(values)
        tool = self._tool
        if TOOL in values:
            chosen = values[TOOL].get(ACTION_ID, {}).get("selected_option")
            tool = self._tools[int(chosen["value"])] if chosen else tool
        if tool == self._tool:
            return made
        moved = made.filling.moved(self._source(tool))
        meta = replace(self.meta, tool=tool, page=0)  # another form, to be read from its start
        return Editing(self._review, self._action, meta, moved.answers)

    def at(self, page: int, *, kept: bool) -> FormModal:
        meta = replace(self.meta, page=page, kept=kept)
        return Editing(self._review, self._action, meta, self.answers)

    def proposal(self) -> Proposal:
        args = encode(self.filling.value())
        target = self.meta.target
        return Proposal("edit", target.revision, None, args, self._tool, seal=target.seal)

    def takes_away(self, proposal: Proposal) -> str:
        assert proposal.args is not None  # every edit has some
        if self.meta.confirming == _edit(proposal):
            return ""
        before = self._review.arguments(self._action.key).parse()
        gone = [one_line(path_words(each)) for each in removed(before, proposal.args.parse())]
        if len(gone) > MAX_GONE:
            gone = [*gone[:MAX_GONE], f"{len(gone) - MAX_GONE} more"]
        return f"This removes {listed(gone)}. Send it again to confirm." if gone else ""

    def asking(self, proposal: Proposal) -> FormModal:
        meta = replace(self.meta, page=self.filling.page, confirming=_edit(proposal))
        return Editing(self._review, self._action, meta, self.answers)

    def title(self) -> str:
        return f"Edit {self._action.name}"

    def told(self) -> list[Block]:
        whole = len(self.title()) <= MAX_TITLE
        head = [] if whole else [words(f"{self._action.name}   ", bold=True)]
        return [rich_text("told", line(*head, words(self._effect())))]

    def more(self) -> list[Block]:
        return [self._choice()] if self.filling.is_last and len(self._tools) > 1 else []

    def last_word(self) -> str:
        reviewers = self._action.route.reviewers
        return "Approve edited" if reviewers.editor_approves else "Send edited"

    def _effect(self) -> str:
        reviewers = self._action.route.reviewers
        if not reviewers.editor_approves:
            return "This approves nothing yet: others are asked to approve what you send."
        unless = ", unless the policy asks others about it" if self._review.excerpt else ""
        if (more := reviewers.quorum - 1) == 0:
            return f"What you send is what runs{unless}."
        others = "one other person" if more == 1 else f"{more} others"
        return f"You approve what you send, and {others} must approve it before it runs."

    def _choice(self) -> Block:
        """Which tool it is: that decides what is asked."""
        options = [
            {"text": plain(name, MAX_LABEL), "value": str(at)}
            for at, name in enumerate(self._tools[:MAX_OPTIONS])
        ]
        return {
            "type": "input",
            "block_id": TOOL,
            "dispatch_action": True,
            "label": plain("Tool"),
            "hint": plain("The policy allows this call to become another one."),
            "element": {
                "type": "static_select",
                "action_id": ACTION_ID,
                "options": options,
                "initial_option": options[self._tools.index(self._tool)],
            },
        }

    def _source(self, tool: str) -> Source:
        review, action = self._review, self._action
        arguments = review.arguments(action.key)
        args = arguments.parse()
        if tool != action.name:
            action = judge(review, action, tool, arguments, 0.0).action
        return Source(
            schema_shown(action.config),
            args,
            redacted(action, args),
            action.revision,
            edition=str(self._tools.index(tool) or ""),
        )


def _tools_of(review: Review, action: Action) -> list[str]:
    """What the call may become, first what it is."""
    found, args = {action.name: None}, review.arguments(action.key)
    for name in [action.request.name, *sorted(review.tools)]:
        with contextlib.suppress(Refused):
            if name not in found:
                judge(review, action, name, args, 0.0)
            found[name] = None
    return list(found)


def _edit(proposal: Proposal) -> str:
    """Which edit it is: of what is shown, to what. Another value is another edit, to be confirmed again."""
    args = proposal.args.digest if proposal.args else ""
    told = json.dumps([proposal.revision, proposal.seal, proposal.name, args])
    return hashlib.sha256(told.encode()).hexdigest()[:32]
