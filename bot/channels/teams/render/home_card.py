"""A person's Home: what waits for them, what waits for others, and what they decided. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hitl_core.model import short_id

from ....card import (
    DECIDED_TITLE,
    MAX_CALL,
    NO_CARD_YET,
    NOTHING_YET,
    OPEN_CARD_HINT,
    OTHERS_TITLE,
    Code,
    HomeText,
    Line,
    Text,
    action_text,
    card_summary,
    card_text,
    decided_text,
    find_open_action,
    home_headline,
    home_pages,
    home_title,
    is_single,
    more_actions_line,
    others_text,
)
from ....inbox import Home, HomeTask
from ....text import clip
from ..ids import IN_HOME
from .card_builder import CardBuilder
from .card_message import (
    doubt_elements,
    notes_elements,
    origin_elements,
    text_elements,
    with_line_above,
)
from .elements import (
    BOLD,
    MAX_BYTES,
    TITLE,
    Json,
    adaptive_card,
    fitting_card,
    rich_text,
    text_runs,
    total_size,
)

#: The space for all elements. The rest is for the card around them.
ROOM = MAX_BYTES - 500
#: The space for what waits for others and what was decided. The rest is for what waits for this person.
REST_BYTES = 8_000
#: The most actions of one review.
MAX_ACTIONS = 3
MAX_TITLE = 200


def home_card(home: Home, builder: CardBuilder, unknown: int = 0) -> Json:
    """Each waiting review in full if that fits, otherwise with its title. `unknown`: how many teams and chats
    could not be looked up.
    """
    builder = builder.at(IN_HOME)
    at, turn = home_pages(home.page, home.pages)
    title = home_title(home.total, more=home.more, unsure=home.unsure or bool(unknown))
    top = [rich_text(text_runs(title, **TITLE))]
    if unknown:
        top += builder.alerts([_unknown_conversations(unknown)])
    if home.pages > 1:
        top += builder.small_lines([at])
    if home.alerts:
        top += builder.small_lines(home.alerts)
    if not home.mine and not home.others and not home.decided and not home.alerts:
        return fitting_card([adaptive_card([*top, *builder.lines([NOTHING_YET])])])
    turning = with_line_above(builder.buttons(turn))
    short = [_short_task(task, builder) for task in home.mine]
    room = ROOM - total_size([*top, *turning])
    rest = _fitting_rest(home, builder, min(REST_BYTES, room - sum(map(total_size, short))))
    room -= total_size(rest)
    tasks: list[Json] = []
    for number, task in enumerate(home.mine):
        full = _task(task, builder)
        after = sum(map(total_size, short[number + 1 :]))
        fits = total_size([*tasks, *full]) + after <= room
        tasks += full if fits else short[number]
    cards = (adaptive_card([*top, *content, *turning]) for content in ([*tasks, *rest], tasks, []))
    return fitting_card(cards)


def _task(task: HomeTask, builder: CardBuilder) -> list[Json]:
    review_id = task.card.review_id
    content = _headline(task, builder, task.card.title)
    numbered = not is_single(task.card)
    for key in task.keys[:MAX_ACTIONS]:
        shown = find_open_action(task.review, key, room=MAX_CALL)
        text = action_text(review_id, shown, builder.names, numbered=numbered)
        content += _with_space_above(
            [*text_elements(text, builder), *builder.buttons(text.buttons)]
        )
    for doubt in [one for one in task.card.doubts if one.key in task.doubts][:MAX_ACTIONS]:
        content += _with_space_above(doubt_elements(review_id, doubt, builder))
    if (more := max(len(task.keys), len(task.doubts)) - MAX_ACTIONS) > 0:
        content += builder.small_lines([more_actions_line(more), *_commands(task, builder)])
    return content


def _short_task(task: HomeTask, builder: CardBuilder) -> list[Json]:
    hints = [OPEN_CARD_HINT if task.ref else NO_CARD_YET, *_commands(task, builder)]
    return [*_headline(task, builder, card_summary(task.card))[:3], *builder.small_lines(hints)]


def _commands(task: HomeTask, builder: CardBuilder) -> list[Line]:
    """What to write to see the card, if there is no link to it, as to one in the person's own chat."""
    if task.ref is not None and builder.names.link(task.ref) is not None:
        return []
    return [(Code(f"approvals show {short_id(task.card.review_id)}"),)]


def _headline(task: HomeTask, builder: CardBuilder, title: str) -> list[Json]:
    """Who asks for what; below it, for whom, and the next deadlines."""
    text = card_text(task.card, builder.names)
    line = home_headline(clip(title, MAX_TITLE), task.ref, builder.names)
    below = [*origin_elements(text, builder), *notes_elements(text.problems, builder)]
    return with_line_above([builder.line(line), *below])


def _fitting_rest(home: Home, builder: CardBuilder, room: int) -> list[Json]:
    """What waits for others and what this person decided, as much as fits."""
    names = builder.names
    others = [
        others_text(one.card, one.keys, names, at=one.at, ref=one.ref, is_unknown=one.is_unknown)
        for one in home.others
    ]
    decided = [
        decided_text(one.card, one.keys, names, at=one.at, ref=one.ref) for one in home.decided
    ]
    rest: list[Json] = []
    for title, texts in ((OTHERS_TITLE, others), (DECIDED_TITLE, decided)):
        for element in _section(title, texts, builder):
            if total_size([*rest, element]) > room:
                return rest
            rest.append(element)
    return rest


def _section(title: str, reviews: Sequence[HomeText], builder: CardBuilder) -> list[Json]:
    if not reviews:
        return []
    elements = with_line_above([rich_text(text_runs(title, **BOLD))])
    for text in reviews:
        elements += _with_space_above([*builder.lines(text.lines), *builder.facts(text.details)])
    return elements


def _with_space_above(elements: list[Json]) -> list[Json]:
    """The elements, with space above them."""
    return [{**elements[0], "spacing": "medium"}, *elements[1:]] if elements else []


def _unknown_conversations(count: int) -> Line:
    """The line above a list that may lack the reviews of these conversations."""
    which, them = ("a team or chat", "it") if count == 1 else (f"{count} teams or chats", "them")
    return (
        Text(
            f"Reviews of {which} may be missing here, because Teams gives no answer about {them} at the"
            " moment. Look there, or try again in a moment."
        ),
    )
