"""What a person proposes for a call: an edit is judged again by the stored rules, then it runs. Pure."""

from hitl_core.review.edits.edit_rules import EditRuling, edit_tools, judge_edit
from hitl_core.review.edits.proposal import (
    NO_ANSWER,
    JudgedProposal,
    Proposal,
    final_answer,
    final_args,
    final_message,
    judge_proposal,
)

__all__ = [
    "NO_ANSWER",
    "EditRuling",
    "JudgedProposal",
    "Proposal",
    "edit_tools",
    "final_answer",
    "final_args",
    "final_message",
    "judge_edit",
    "judge_proposal",
]
