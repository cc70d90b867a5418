"""Forms with one text: why a call is rejected or escalated, or an answer in the tool's place. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hitl_core.forms import Field, utf16_length
from hitl_core.model import Action, Review

from ..card import call_about, calls_about, description_text, find_open_action
from ..text import add_marks
from .page import MESSAGE, FormPage, FormRef, PageField

#: The most UTF-16 units of an answer. From the command line there may be more.
MAX_ANSWER = 3000
#: The refusal of a text in which a client sent half a surrogate pair.
HALF_CHARACTER = (
    "This contains half a character (maybe a broken emoji), which can't be stored. Type it again."
)


def rejection_page(review: Review, action: Action, ref: FormRef) -> FormPage:
    title, reviewers = f"Reject {action.name}", action.route.reviewers
    rejections = sum(1 for vote in action.votes if vote.type == "reject")
    field = _message_field(
        "Why?",
        "The agent gets this reason, so that it can do better.",
        1000,
        required=action.config.reject_reason == "required",
    )
    return FormPage(
        ref,
        title,
        _rejection_effect(reviewers.reject_quorum - rejections, rejections),
        (field,),
        "Reject",
        about=call_about(review, action),
    )


def text_answer_page(review: Review, action: Action, ref: FormRef) -> FormPage:
    """An earlier answer of another person is prefilled, so that this person can agree to it; not one that the
    input can't hold unchanged.
    """
    answers = [vote.message or "" for vote in action.votes if vote.type == "respond"]
    last = answers[-1] if answers else ""
    is_kept = add_marks(last) == last and utf16_length(last) <= MAX_ANSWER
    field = _message_field(
        "Your answer",
        "Write it as the tool would.",
        MAX_ANSWER,
        required=True,
        initial=last if last and is_kept else None,
    )
    return FormPage(
        ref,
        "Answer instead",
        f"{answer_effect(action)} The agent gets your text as its result.",
        (field,),
        "Answer",
        about=call_about(review, action),
        question=description_text(find_open_action(review, action.key)),
    )


def escalation_page(review: Review, waiting: Sequence[Action], ref: FormRef, to: str) -> FormPage:
    """`to`: the names of the places to which it escalates. `waiting`: the actions that escalate."""
    effect = f"Everything that waits here is also sent to {to}, who can then decide too."
    field = _message_field("Why?", "The people who get the review read this.", 300, required=False)
    about = calls_about(review, waiting)
    return FormPage(ref, "Escalate", effect, (field,), "Escalate", about=about)


def _rejection_effect(needed: int, earlier: int) -> str:
    """`needed`: how many rejections are still needed, including this one, if the `earlier` ones count. They
    don't if those people may no longer decide, which is only looked up when this one is sent.
    """
    if needed <= 1:
        unless = ", unless an earlier rejection no longer counts" if earlier else ""
        return f"The tool does not run{unless}."
    others = "one other person rejects" if needed == 2 else f"{needed - 1} others reject"
    return f"The tool does not run if {others} it as well."


def answer_effect(action: Action, *, runs: bool = False) -> str:
    """What an answer does; `runs`: the tool runs with it."""
    effect = "The tool runs with your answer" if runs else "The tool does not run"
    quorum = action.route.reviewers.quorum
    return f"{effect}." if quorum == 1 else f"{effect} if {quorum} people send the same answer."


def _message_field(
    label: str, hint: str, max_length: int, *, required: bool, initial: str | None = None
) -> PageField:
    field = Field(
        MESSAGE, "long_text", label, hint, required, initial=initial, max_length=max_length
    )
    return PageField(MESSAGE, field)
