"""What people open beside a card: the pages of a modal, a notice. Pure."""

from __future__ import annotations

from ..button import Button
from ..buttons import page_buttons
from ..model import OpenAction
from ..spans import Emphasis, Line, Span, Strong, Text

LOADING_TITLE = "One moment"
LOADING: Line = (Text("Reading the review…"),)
#: The title of a refusal.
REFUSAL_TITLE = "Not changed"
REVIEW_TITLE = "Review"
ARGUMENTS_TITLE = "All arguments"
APPROVED_TITLE = "Approved"
NOTHING_HERE: Line = (Text("Nothing is shown here any more."),)
NO_ARGUMENTS: Line = (Text("This call has no arguments."),)
#: Above all arguments, in place of a form that can't show them.
READ_FIRST: Line = (
    Text("The form can't show all of it: read it here, then press “Edit” at the end."),
)
#: Beside the name of an argument whose first part is on the page before.
CONTINUED = Emphasis("   continued from the page before")
#: A page of all arguments has this many characters, so that people really read it.
PAGE_SIZE = 8_000
#: Above the name and the value of an argument whose name is long.
LONG_NAME: Line = (Emphasis("An argument whose name is"),)
LONG_NAME_VALUE: Line = (Emphasis("and whose value is"),)


def review_state(page: int, pages: int, waiting: int) -> Line:
    """`page` (from 0) of the actions, of which some still wait."""
    wait = "waits" if waiting == 1 else "wait"
    state = f"{waiting} of {pages} still {wait}" if waiting else "All decided"
    return (Text(f"{page + 1} of {pages}  ·  {state}"),)


def review_pages(review_id: str, page: int, pages: int) -> tuple[Button, ...]:
    return page_buttons(Button("next", "", "Action", review_id), page, pages)


def arguments_head(name: str, page: int, pages: int) -> Line:
    where: tuple[Span, ...] = (Text(f"   Page {page + 1} of {pages}"),) if pages > 1 else ()
    return (Strong(name), *where)


def approved_text(action: OpenAction) -> str:
    """What became of a person's approval, where they read it."""
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
