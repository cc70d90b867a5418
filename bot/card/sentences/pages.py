"""What people open beside a card: the pages of a modal, a notice, their Home with its list. Pure."""

from __future__ import annotations

from hitl_core.model import MessageRef

from ... import text
from ..button import Button
from ..buttons import page_buttons
from ..model import Card, OpenAction
from ..spans import Code, Emphasis, Line, Link, PlaceNames, Span, Strong, Text, Time, Verbatim

LOADING_TITLE = "One moment"
LOADING: Line = (Text("Reading the review…"),)
#: The title of a refusal.
REFUSAL_TITLE = "Not changed"
REVIEW_TITLE = "Review"
ARGUMENTS_TITLE = "All arguments"
APPROVED_TITLE = "Approved"
NOTHING_HERE: Line = (Text("Nothing is shown here any more."),)
NO_ARGUMENTS: Line = (Text("This call has no arguments."),)
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


#: Tools in the one line of a review.
MAX_TOOLS = 3
#: Characters of a fact in a list of reviews.
MAX_SHORT_FACT = 80

OTHERS_TITLE = "Waiting for others"
DECIDED_TITLE = "Decided by you"
ERROR_TITLE = "Your reviews could not be loaded"
NOTHING_YET: Line = (
    Text("When an agent asks for something that you may decide, it appears here."),
)
OPEN_CARD_HINT: Line = (Text("Open its card to read and decide."),)
#: The answer to a wrong `/approvals`.
COMMAND_HELP: Line = (
    Text("Use "),
    Code("/approvals"),
    Text(" to list what waits for you, or "),
    Code("/approvals show ID"),
    Text(" for one review."),
)


def home_title(total: int, *, more: bool) -> str:
    """How many reviews wait; `more`: not all are counted."""
    if not total:
        return "Nothing waits for you"
    if more:
        return f"More than {total:,} reviews wait for you"
    return "1 review waits for you" if total == 1 else f"{total} reviews wait for you"


def card_summary(card: Card) -> str:
    """The card's title, with its main fact or its tools."""
    if len(card.waiting) == 1:
        [one] = card.waiting
        return f"{card.title} ({one.fact})" if one.fact else card.title
    tools = [one.name for one in card.waiting]
    more = [f"and {len(tools) - MAX_TOOLS} more"] if len(tools) > MAX_TOOLS else []
    return ": ".join(filter(None, (card.title, ", ".join([*tools[:MAX_TOOLS], *more]))))


def fact_lines(card: Card) -> tuple[Line, ...]:
    """The main facts of the first actions that wait, with their names if they are several."""
    if len(card.waiting) == 1:
        return ((Verbatim(card.waiting[0].fact),),)
    lines: list[Line] = [
        (
            Strong(f"{one.number}  {one.name}"),
            Text("  "),
            Verbatim(text.fit(one.fact, MAX_SHORT_FACT)),
        )
        for one in card.waiting[:MAX_TOOLS]
    ]
    more = len(card.waiting) - len(lines)
    return (*lines, *([(Text(f"and {more} more"),)] if more > 0 else []))


def unseen_summary(card: Card, *, is_unknown: bool) -> str:
    """For a person who may not see the contents; `is_unknown`: for one who perhaps may not."""
    return f"{card.agent}: a review" if is_unknown else card.bare_title


def home_headline(title: str, ref: MessageRef | None, names: PlaceNames) -> Line:
    """The title of a review that waits, and a link to its card."""
    link = _card_link(ref, names)
    return (Strong(title), Text("   "), link) if link else (Strong(title),)


def detail_lines(
    at: float, ref: MessageRef | None, names: PlaceNames, *, is_unknown: bool
) -> tuple[Line, ...]:
    """When it was requested or decided, a link to its card, and if it is unknown that they may decide."""
    spans: list[Span | None] = [Time(at), _card_link(ref, names)]
    if is_unknown:
        spans.append(Text("it can't be confirmed at the moment that you may decide"))
    return tuple((span,) for span in spans if span)


def command_line(review_id: str) -> Line:
    """What to type to see a review."""
    return (Code(f"/approvals show {review_id}"),)


def more_reviews_line(count: int, *, more: bool) -> Line:
    return (Text(f"{'More than ' if more else ''}{count} more in the app's Home."),)


def more_actions_line(count: int) -> Line:
    wait = "waits" if count == 1 else "wait"
    return (Text(f"{count} more {wait} on the card of this review."),)


def home_pages(page: int, pages: int) -> tuple[Line, tuple[Button, ...]]:
    """The page (from 0), and the buttons to the others."""
    about = Button("next", "", "Page", "")
    return (Text(f"Page {page + 1} of {pages}"),), page_buttons(about, page, pages)


def _card_link(ref: MessageRef | None, names: PlaceNames) -> Link | None:
    url = names.link(ref) if ref is not None else None
    return Link("open its card", url) if url else None
