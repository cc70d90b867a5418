"""What a person opens in place of a card: all arguments, the actions one by one, or a notice. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....card import (
    ARGUMENTS_TITLE,
    NO_ARGUMENTS,
    NOTHING_HERE,
    REFUSAL_TITLE,
    REVIEW_TITLE,
    Argument,
    Button,
    Line,
    PlaceNames,
    Verb,
)
from ....inbox import ActionPage, ArgumentsPage, PartDrawing, split_parts
from ....text import clip, one_line, split_text
from ..ids import Where
from .card_builder import CardBuilder, box
from .card_message import action_elements, with_line_above
from .elements import (
    MAX_BYTES,
    TITLE,
    Json,
    action_sets,
    adaptive_card,
    byte_size,
    fitting_card,
    rich_text,
    text_runs,
)
from .markup import runs

CANCEL, CLOSE = "Cancel", "Close"
#: The space for the elements of a page of arguments. The rest is for its head and its buttons.
MAX_PAGE_BYTES = 20_000
#: The most characters in one box.
CHUNK_SIZE, MIN_CHUNK = 2_000, 200
#: The most characters of a notice.
MAX_TITLE, MAX_TEXT = 300, 3_000
#: Buttons that show something and decide nothing.
_TURNING: tuple[Verb, ...] = ("back", "next", "file")
#: Arguments name no places and no people.
_NO_NAMES = PlaceNames(str)


def arguments_card(page: ArgumentsPage[list[Json]], builder: CardBuilder, why: Line = ()) -> Json:
    """`why` says why the arguments are shown, if nobody asked for them. Raises Refused if they don't fit."""
    answers = [one for one in page.buttons if one.verb not in _TURNING]
    elements = [
        rich_text(text_runs(ARGUMENTS_TITLE, **TITLE)),
        *builder.lines([why, page.head]),
        *builder.small_lines([page.asker]),
        *(page.content or builder.small_lines([NO_ARGUMENTS])),
        *builder.buttons(answers),
        *_last_rows(builder, builder, page.target.review_id, page.buttons),
    ]
    return fitting_card([adaptive_card(elements)])


def review_card(page: ActionPage, builder: CardBuilder) -> Json:
    """One action of a card. Its buttons say that they are on this page. Raises Refused if it is too large."""
    return fitting_card(_draw_review(page, one) for one in (builder, builder.in_short))


def review_fits(page: ActionPage, builder: CardBuilder) -> bool:
    return byte_size(_draw_review(page, builder)) <= MAX_BYTES


def _draw_review(page: ActionPage, builder: CardBuilder) -> Json:
    where = Where("review", page.place, page.number, page.digest, builder.where.in_home)
    here, back = builder.at(where), builder.at(where.opened_in)
    head = [
        rich_text(text_runs(REVIEW_TITLE, **TITLE)),
        *builder.small_lines([page.state, page.asker]),
    ]
    if page.action is None:
        action = builder.lines([NOTHING_HERE])
    else:
        action = action_elements(page.review_id, page.action, here)
    turning = _last_rows(here, back, page.digest or page.review_id, page.buttons)
    return adaptive_card([*head, *action, *turning])


def notice_card(text: str, title: str, builder: CardBuilder, review_id: str) -> Json:
    """One sentence, with a button that leads back."""
    elements = [
        rich_text(text_runs(clip(title, MAX_TITLE) or REFUSAL_TITLE, **TITLE)),
        rich_text(text_runs(clip(one_line(text), MAX_TEXT))),
        *action_sets([builder.close(review_id, CLOSE)]),
    ]
    return fitting_card([adaptive_card(elements)])


def message_card(text: str, title: str = "") -> Json:
    """One sentence without buttons, for a message."""
    head = [rich_text(text_runs(clip(title, MAX_TITLE), **TITLE))] if title else []
    content = rich_text(text_runs(clip(one_line(text), MAX_TEXT)))
    return fitting_card([adaptive_card([*head, content])])


def _last_rows(
    builder: CardBuilder, back: CardBuilder, review_id: str, buttons: Sequence[Button]
) -> list[Json]:
    """The buttons to other pages, and the one that leads back, with space above them."""
    turning = [builder.button(one) for one in buttons if one.verb in _TURNING]
    return with_line_above(action_sets([*turning, back.close(review_id, CLOSE)]))


def split_arguments(arguments: Sequence[Argument]) -> list[list[Json]]:
    """The elements of each page."""
    return split_parts(arguments, _DRAWING)


def _line(line: Line) -> Json:
    return rich_text(runs(line, _NO_NAMES), spacing="small")


def _boxes(argument: Argument, text: str) -> Iterator[tuple[Json, int]]:
    for each in split_text(text, CHUNK_SIZE):
        element = box(argument, each)
        if byte_size(element) > MAX_PAGE_BYTES // 2 and len(each) > MIN_CHUNK:
            middle = len(each) // 2
            yield from _boxes(argument, each[:middle])
            yield from _boxes(argument, each[middle:])
        else:
            yield element, len(each)


_DRAWING = PartDrawing(_line, _boxes, byte_size, MAX_PAGE_BYTES)
