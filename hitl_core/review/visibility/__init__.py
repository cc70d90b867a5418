"""What people may see of a call: its values (`values`), the agent's texts (`texts`), and by which schema it
is drawn (`schemas`). Pure.

In a review that hides values nobody reads the agent's texts: a text may quote a hidden value as it is, in
part, encoded or in another spelling, and no search finds all of that. The arguments without the hidden
values, and what the policy's file says, are always shown.
"""

from hitl_core.review.visibility.schemas import (
    answer_schema_of,
    declared_arguments,
    form_schema,
    hides_options,
    visible_schema,
)
from hitl_core.review.visibility.texts import (
    WHY_HIDDEN,
    cancel_reason_of,
    description_of,
    message_of_answer,
    reason_of,
    rule_reason_of,
    title_of,
)
from hitl_core.review.visibility.values import (
    compared_pointers,
    find_pointers,
    find_redaction_flaw,
    mask_hidden,
    redaction_pointers,
    visible_args,
)

__all__ = [
    "WHY_HIDDEN",
    "answer_schema_of",
    "cancel_reason_of",
    "compared_pointers",
    "declared_arguments",
    "description_of",
    "find_pointers",
    "find_redaction_flaw",
    "form_schema",
    "hides_options",
    "mask_hidden",
    "message_of_answer",
    "reason_of",
    "redaction_pointers",
    "rule_reason_of",
    "title_of",
    "visible_args",
    "visible_schema",
]
