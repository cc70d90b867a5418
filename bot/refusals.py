"""The sentences for a person when the bot refuses what they did, or could not do it.

Refusals by the rules of a review (too late, already decided, already voted) have their texts beside each
rule, in hitl_core/review.
"""

from __future__ import annotations

# Who may decide.

ONLY_MEMBERS = "Only people of this workspace or organization may decide."
STILL_RECORDED = "This message is still being recorded. Press again in a moment."
LOOKUP_UNAVAILABLE = "Who may decide could not be looked up. Press again."
#: The codes of refusals while it is unknown whether the person may decide.
UNKNOWN_CODES = frozenset({"unavailable", "unknown_members"})


def may_not_decide(deciders: str, *, is_guest: bool, lost: str = "") -> str:
    """`deciders`: the names of those who may decide. A guest can be a member, but may still not decide.
    `lost`: the names of the places whose members can't, because no card is shown there.
    """
    guests = ", and guests only if the policy names them" if is_guest else ""
    there = f" Members of {lost} can't until the review's card can be shown there." if lost else ""
    return f"Only {deciders or 'nobody'} may decide this{guests}.{there}"


def unknown_deciders(problem: object) -> str:
    return (
        f"It is not known who may decide: {problem}. Nothing was changed. Press again, or tell the people who"
        " run the bot."
    )


# What they pressed.

UNREADABLE_BUTTON = (
    "This button can't be read, so nothing was changed. Use the newest card of this review."
)
UNREADABLE_MODAL = (
    "This window can't be read, so nothing was changed. Close it, and press the button on the newest card of"
    " this review again."
)
NO_REVIEW = "There is no such review, or it was deleted after its retention time."
DIGEST_DONE = "None of these reviews waits for you here any more."
NO_ACTION = "This review has no such action."
NO_ANSWER = "This review has no such answer."
NOT_HERE = "This review is no longer shown here."
NO_PART_HERE = "No part of this review is shown there."
NOT_SHOWN_YET = (
    "There is no card here whose replies you can read, so the file has no place. If the review is new, press"
    " again in a moment."
)
NO_STEP = "There is no further step: nobody else can get this."
ESCALATE_ON_CARD = (
    "Press the button on the card in its channel, so that it is known from where to escalate."
)
DRAFT_EXPIRED = (
    "What you entered on the other pages has expired, so nothing was changed. Open the form again."
)
DRAFT_UNREADABLE = (
    "What you entered on the other pages was stored by another version of the bot, so nothing was changed."
    " Open the form again."
)
FORM_WENT_ON = (
    "You continued this form on another page or device, so this page is out of date. Nothing was changed."
    " Continue there, or open the form again."
)


def too_long(most: int) -> str:
    return f"A text here may have at most {most:,} characters. Shorten it, and send the form again."


def read_first(action: str, button: str) -> str:
    return f"{action}: the policy requires that you read all of it first. Then press {button}."


# What failed.

#: It doesn't say what was stored, because an earlier attempt of the same click may have counted.
STORE_UNAVAILABLE = (
    "The store can't be reached at the moment. Press again in a moment: it counts only once."
)
RESULT_UNKNOWN = (
    "It is not known whether this was stored in time. Press again: it counts only once."
)
#: After an error that no code handles.
FAILED = (
    "Something failed in the bot, and it is not known whether this was stored. Try again: it counts only"
    " once. If it fails again, tell the people who run the bot."
)


def form_not_opened(channel: str) -> str:
    return f"{channel} didn't open the form. Press again."


def file_refused(channel: str) -> str:
    return f"{channel} refused the file. Press again in a moment."


def file_too_slow(channel: str) -> str:
    return f"{channel} took too long to post the file. Look below the card, or press again."
