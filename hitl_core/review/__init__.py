"""What may happen to a review: decisions, votes, edits, escalation, deadlines, claims.

`decisions` (people), `escalation` and `delivery_problems` (time and places) and `runs.claims` (the agent) are
pure functions: `(review, …, now) → Transition`. `commands` are what people do, as values. `service.Reviews`
loads a review, applies one of them and stores the result. Nothing else writes reviews.
"""

from hitl_core.review import (
    commands,
    decisions,
    delivery_problems,
    escalation,
    vote_count,
)
from hitl_core.review.commands import (
    AnswerDoubt,
    Cancel,
    Command,
    Decide,
    DecideAll,
    Escalate,
    Findings,
    Release,
    apply_command,
)
from hitl_core.review.decisions import decide
from hitl_core.review.edits import (
    Proposal,
    edit_tools,
    final_answer,
    final_args,
    final_message,
    judge_edit,
    judge_proposal,
)
from hitl_core.review.escalation import (
    count_steps,
    deadline,
    next_step_at,
)
from hitl_core.review.holds import HELD_TEXT, apply_unless_held, ran_mark, unrecorded_starts
from hitl_core.review.lease_clock import seconds_since_boot
from hitl_core.review.open_items import (
    WHOLE_REVIEW,
    OpenItem,
    grants_for,
    open_items,
    pending_actions,
)
from hitl_core.review.runs import (
    PAUSED,
    CallResult,
    agent_problem_of,
    claims,
    one_line,
    record_problem,
    runnable_calls,
    text_of,
)
from hitl_core.review.service import ChangeResult, Reviews, TransitionFunction
from hitl_core.review.transition import (
    PAST_VERBS,
    Denial,
    Transition,
    deny_by_policy,
    make_event,
)
from hitl_core.review.visibility import (
    answer_schema_of,
    cancel_reason_of,
    compared_pointers,
    declared_arguments,
    description_of,
    find_pointers,
    find_redaction_flaw,
    form_schema,
    hides_options,
    mask_hidden,
    message_of_answer,
    reason_of,
    redaction_pointers,
    rule_reason_of,
    title_of,
    visible_args,
    visible_schema,
)
from hitl_core.review.vote_count import excluded_keys

__all__ = [
    "HELD_TEXT",
    "PAST_VERBS",
    "PAUSED",
    "WHOLE_REVIEW",
    "AnswerDoubt",
    "CallResult",
    "Cancel",
    "ChangeResult",
    "Command",
    "Decide",
    "DecideAll",
    "Denial",
    "Escalate",
    "Findings",
    "OpenItem",
    "Proposal",
    "Release",
    "Reviews",
    "Transition",
    "TransitionFunction",
    "agent_problem_of",
    "answer_schema_of",
    "apply_command",
    "apply_unless_held",
    "cancel_reason_of",
    "claims",
    "commands",
    "compared_pointers",
    "count_steps",
    "deadline",
    "decide",
    "decisions",
    "declared_arguments",
    "delivery_problems",
    "deny_by_policy",
    "description_of",
    "edit_tools",
    "escalation",
    "excluded_keys",
    "final_answer",
    "final_args",
    "final_message",
    "find_pointers",
    "find_redaction_flaw",
    "form_schema",
    "grants_for",
    "hides_options",
    "judge_edit",
    "judge_proposal",
    "make_event",
    "mask_hidden",
    "message_of_answer",
    "next_step_at",
    "one_line",
    "open_items",
    "pending_actions",
    "ran_mark",
    "reason_of",
    "record_problem",
    "redaction_pointers",
    "rule_reason_of",
    "runnable_calls",
    "seconds_since_boot",
    "text_of",
    "title_of",
    "unrecorded_starts",
    "visible_args",
    "visible_schema",
    "vote_count",
]
