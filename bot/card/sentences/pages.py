"""The texts of what people open beside a card: pages of a modal, forms, notices. Also what they are about:
the call, who asks for it, for whom, and until when. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hitl_core.model import Action, Review
from hitl_core.review import deadline

from ... import text
from ..arguments import main_fact, mask_action
from ..buttons import page_buttons
from ..model import (
    Button,
    Deadline,
    Emphasis,
    Line,
    OpenAction,
    Span,
    Strong,
    Text,
    Verbatim,
    agent_name,
)
from ..people import requester
from .headline import MAX_NAME, MAX_REQUESTER, due_line

LOADING_TITLE = "One moment"
LOADING: Line = (Text("Reading the review…"),)
#: The title of a refusal.
REFUSAL_TITLE = "Not changed"
REVIEW_TITLE = "Review"
ARGUMENTS_TITLE = "All arguments"
APPROVED_TITLE = "Approved"
NOTHING_HERE: Line = (Text("Nothing is shown here any more."),)
NO_ARGUMENTS: Line = (Text("This call has no arguments."),)
#: Above all arguments: where to press, if they are shown in place of what the person pressed.
READ_FIRST: Mapping[str, Line] = {
    "edit": (Text("The form can't show all of it: read it here, then press “Edit” at the end."),),
    "rerun": (
        Text("The card can't show all of it: read it here, then press “Run again” on the card."),
    ),
}
#: Beside the name of an argument whose first part is on the page before.
CONTINUED = Emphasis("   continued from the page before")
#: The most characters of a page of arguments. Pages are short, so that people really read them.
PAGE_SIZE = 8_000
#: Above the name and the value of an argument whose name is long.
LONG_NAME: Line = (Emphasis("An argument whose name is"),)
LONG_NAME_VALUE: Line = (Emphasis("and whose value is"),)
#: The most calls that a form for several calls names.
MAX_NAMED = 3


def call_about(review: Review, action: Action) -> tuple[Line, ...]:
    """The call with its main fact, and who asks for it."""
    return (_call_line(review, action), asker_line(review, action))


def calls_about(review: Review, actions: Sequence[Action]) -> tuple[Line, ...]:
    """The first of several calls, and who asks for them."""
    lines = [_call_line(review, action) for action in actions[:MAX_NAMED]]
    if more := len(actions) - MAX_NAMED:
        lines += [(Text(f"and {more} more"),)] if more > 0 else []
    return (*lines, asker_line(review, actions[0]))


def asker_line(review: Review, action: Action) -> Line:
    """Which agent asks, for whom, and what happens when nobody decides."""
    agent = agent_name(text.shorten(review.agent, MAX_NAME))
    spans: list[Span] = [Text("Asked by "), Verbatim(agent)]
    if review.requester:
        spans += [Text(" for "), requester(text.one_line(review.requester), MAX_REQUESTER)]
    if action.is_pending and (expire := action.route.expire) is not None:
        end = Deadline(deadline(action), expire.after, expire.decision, None)
        spans += [Text("  ·  "), *due_line(end)]
    return tuple(spans)


def _call_line(review: Review, action: Action) -> Line:
    masked = mask_action(action, review.arguments(action.key).parse())
    return (Strong(action.name), Text("   "), Verbatim(main_fact(masked)))


def review_state(page: int, pages: int, waiting: int) -> Line:
    """`page` (from 0) of the actions, and how many of them still wait."""
    wait = "waits" if waiting == 1 else "wait"
    state = f"{waiting} of {pages} still {wait}" if waiting else "All decided"
    return (Text(f"{page + 1} of {pages}  ·  {state}"),)


def digest_state(page: int, pages: int, more: int) -> Line:
    """`page` (from 0) of the waiting reviews of a digest; `more` actions of this review wait too."""
    rest = f"  ·  {more} more of this review" if more else ""
    return (Text(f"{page + 1} of {pages} reviews that wait{rest}"),)


def review_pages(review_id: str, page: int, pages: int) -> tuple[Button, ...]:
    return page_buttons(Button("next", "", "Action", review_id), page, pages)


def arguments_head(name: str, page: int, pages: int) -> Line:
    where: tuple[Span, ...] = (Text(f"   Page {page + 1} of {pages}"),) if pages > 1 else ()
    return (Strong(name), *where)


def approved_text(action: OpenAction) -> str:
    """The result of a person's approval, shown where they read the arguments."""
    if action.decided is None:
        return f"Your approval of {action.name} counts. More people must approve it."
    return f"{action.name} is approved."


def arguments_pages(
    review_id: str, action: str, revision: int, page: int, pages: int
) -> tuple[Button, ...]:
    """To the page before and after, and a file with all arguments."""
    about = Button("next", "", "Page", review_id, action, revision)
    label = "Post it as a file"
    spoken = f"{label}, below the card"
    return (
        *page_buttons(about, page, pages),
        Button("file", label, spoken, review_id, action, revision),
    )
