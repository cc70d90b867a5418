"""The Edit modal: the arguments of a call as a form, and a choice of the tool. Pure."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hitl_core.errors import Refused
from hitl_core.forms import FormErrors, find_removed
from hitl_core.jsonschema import format_path
from hitl_core.model import Action, Review, encode
from hitl_core.review import Proposal, edit_tools, judge_edit, redaction_pointers, visible_schema

from ....text import one_line
from ..ids import ModalMeta
from ..render import Block, join_names, line, plain_text, rich_text, text_element
from .form_modal import FormModal
from .form_state import Answers, FormSource, FormState
from .inputs import ACTION_ID, MAX_LABEL, MAX_OPTIONS
from .small_modals import MAX_TITLE, View

#: The block id of the tool choice.
TOOL_BLOCK = "tool"
#: How many removed values the warning names.
MAX_REMOVED = 10


class EditModal(FormModal):
    """Raises Refused if no form can be made."""

    def __init__(self, review: Review, action: Action, meta: ModalMeta, answers: Answers) -> None:
        self._review, self._action = review, action
        self._tools = edit_tools(review, action)[:MAX_OPTIONS]
        #: Why this form is not for the tool that the person chose last; "" if it is.
        self._tool_problem = ""
        self._tool = meta.tool if meta.tool in self._tools else action.name
        several = len(self._tools) > 1
        super().__init__(
            "edit",
            replace(meta, tool=self._tool if several else None),
            FormState(self._form_source(self._tool), answers, meta.page),
        )

    def with_state(self, values: Mapping[str, Any]) -> FormModal:
        updated = self._with_values(values)
        tool = self._tool
        if TOOL_BLOCK in values:
            selected = values[TOOL_BLOCK].get(ACTION_ID, {}).get("selected_option")
            tool = self._tools[int(selected["value"])] if selected else tool
        if tool == self._tool:
            return updated
        try:
            converted = updated.form_state.convert_to(self._form_source(tool))
        except Refused as refused:
            return updated._with_tool_problem(str(refused))
        meta = replace(self.meta, tool=tool, page=0)  # another form, so it starts at its first page
        return EditModal(self._review, self._action, meta, converted.answers)

    def at_page(self, page: int, *, has_draft: bool) -> FormModal:
        meta = replace(self.meta, page=page, has_draft=has_draft)
        modal = EditModal(self._review, self._action, meta, self.answers)
        return modal._with_tool_problem(self._tool_problem)

    def view(self, problem: str = "") -> View:
        return super().view(problem or self._tool_problem)

    def proposal(self) -> Proposal:
        if self._tool_problem:  # the person chose another tool than this form's
            raise FormErrors({}, (self._tool_problem,))
        args = encode(self.form_state.value())
        target = self.meta.target
        return Proposal("edit", target.revision, None, args, self._tool, seal=target.seal)

    def removal_warning(self, proposal: Proposal) -> str:
        assert proposal.args is not None  # every edit has arguments
        if self.meta.confirming_edit == _edit_digest(proposal):
            return ""
        before = self._review.arguments(self._action.key).parse()
        removed_paths = [
            one_line(format_path(each)) for each in find_removed(before, proposal.args.parse())
        ]
        if len(removed_paths) > MAX_REMOVED:
            removed_paths = [
                *removed_paths[:MAX_REMOVED],
                f"{len(removed_paths) - MAX_REMOVED} more",
            ]
        return (
            f"This removes {join_names(removed_paths)}. Send the form again to confirm."
            if removed_paths
            else ""
        )

    def with_confirmation(self, proposal: Proposal) -> FormModal:
        meta = replace(self.meta, page=self.form_state.page, confirming_edit=_edit_digest(proposal))
        return EditModal(self._review, self._action, meta, self.answers)

    def title(self) -> str:
        return f"Edit {self._action.name}"

    def intro_blocks(self) -> list[Block]:
        whole = len(self.title()) <= MAX_TITLE
        head = [] if whole else [text_element(f"{self._action.name}   ", bold=True)]
        return [rich_text("told", line(*head, text_element(self._effect_text())))]

    def extra_blocks(self) -> list[Block]:
        return [self._tool_input()] if self.form_state.is_last_page and len(self._tools) > 1 else []

    def submit_label(self) -> str:
        reviewers = self._action.route.reviewers
        return "Approve edited" if reviewers.editor_approves else "Send edited"

    def _effect_text(self) -> str:
        reviewers = self._action.route.reviewers
        if not reviewers.editor_approves:
            return (
                "This does not approve anything: other people are asked to approve what you send."
            )
        unless = ", unless the policy requires other people for it" if self._review.excerpt else ""
        if (more := reviewers.quorum - 1) == 0:
            return f"The tool runs with what you send{unless}."
        others = "one other person" if more == 1 else f"{more} others"
        return f"You approve what you send, and {others} must approve it before it runs."

    def _tool_input(self) -> Block:
        """The choice of the tool; another tool has other fields."""
        options = [
            {"text": plain_text(name, MAX_LABEL), "value": str(at)}
            for at, name in enumerate(self._tools)
        ]
        return {
            "type": "input",
            "block_id": TOOL_BLOCK,
            "dispatch_action": True,
            "label": plain_text("Tool"),
            "hint": plain_text(
                "You can choose another tool if the policy allows it with these arguments."
            ),
            "element": {
                "type": "static_select",
                "action_id": ACTION_ID,
                "options": options,
                "initial_option": options[self._tools.index(self._tool)],
            },
        }

    def _with_tool_problem(self, problem: str) -> EditModal:
        modal_copy = copy.copy(self)
        modal_copy._tool_problem = problem
        return modal_copy

    def _form_source(self, tool: str) -> FormSource:
        review, action = self._review, self._action
        arguments = review.arguments(action.key)
        args = arguments.parse()
        if tool != action.name:
            action = judge_edit(review, action, tool, arguments, 0.0).action
        return FormSource(
            visible_schema(action.config),
            args,
            redaction_pointers(action, args),
            action.revision,
            edition=str(self._tools.index(tool) or ""),
        )


def _edit_digest(proposal: Proposal) -> str:
    """Identifies an edit: revision, seal, tool and new arguments. A changed value needs a new
    confirmation.
    """
    args = proposal.args.digest if proposal.args else ""
    identity = json.dumps([proposal.revision, proposal.seal, proposal.name, args])
    return hashlib.sha256(identity.encode()).hexdigest()[:32]
