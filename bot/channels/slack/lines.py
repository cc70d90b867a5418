"""The quiet lines of a card: for whom, by when, what was decided, who may decide. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from bot.card import Card, Closed, Note
from bot.channels.slack.rich import (
    Block,
    Element,
    context,
    escaped,
    inert,
    line,
    mrkdwn,
    person,
    plain,
    rich_text,
    size,
    words,
)
from hitl_core.model import Place, Reviewer

#: Slack's ids hold a digit; a name in capitals is not one.
USER_ID = re.compile(r"[UW](?=[A-Z]*\d)[A-Z0-9]{2,20}")
MAX_NOTES = 5

#: What a place is called, `#team-ops`.
Names = Callable[[Place], str]

_SIGNS = {
    "approve": ("✔", "approved by"),
    "edit": ("✎", "edited and approved by"),
    "reject": ("✖", "rejected by"),
    "respond": ("↩", "answered by"),
    "ignore": ("⊘", "skipped by"),
    "cancel": ("⊗", "cancelled by"),
}
#: Who it was where it was no person: of a decision, and of a cancellation.
_NOBODY = ("the policy, as nobody decided in time", "the agent")
_ENDS = {"reject": "rejected", "respond": "answered by the policy", "ignore": "skipped"}


def origin(card: Card, names: Names) -> list[Block]:
    """For whom, and what happens by when."""
    who, told = card.requester or "", "  ·  ".join(_by_when(card, names))
    if USER_ID.fullmatch(who):
        return [context("origin", mrkdwn("  ·  ".join(filter(None, [f"For <@{who}>", told]))))]
    elements = [plain(f"For {who}", 100)] if who else []
    elements += [mrkdwn(f"·  {told}" if who else told)] if told else []
    return [context("origin", *elements)] if elements else []


def notes(card: Card, names: Names) -> list[Block]:
    drawn = [mrkdwn(_note(note, card, names)) for note in card.notes[-MAX_NOTES:]]
    if card.elsewhere:
        before = [
            f"`{one.name}` {_SIGNS[one.type][1]} {_mention(one.by)}" for one in card.elsewhere[:8]
        ]
        more = len(card.elsewhere) - len(before)
        told = ", ".join(before) + (f" and {more} more" if more else "")
        drawn.append(mrkdwn(f"Decided before: {told}."))
    return [context(f"note:{n}", element) for n, element in enumerate(drawn)]


def more(count: int) -> Block:
    told = "1 more waits. It appears" if count == 1 else f"{count} more wait. They appear"
    return context("more", mrkdwn(f"{told} here as these are decided."))


def closed(items: tuple[Closed, ...], room: int) -> Block:
    """As many as there is room for, the first ones; the others are counted."""
    sections: list[Element] = []
    for number, item in enumerate(items):
        drawn = line(*_closed(item))
        if size([rich_text("closed", *sections, drawn)]) > room:
            sections.append(line(words(f"and {len(items) - number} more")))
            break
        sections.append(drawn)
    return rich_text("closed", *sections)


def foot(card: Card, names: Names) -> Block:
    places = _listed(card.places, names)
    who = f"Members of {places} may decide  ·  " if places else ""
    return context("foot", mrkdwn(f"{who}{card.review_id}"))


def date(at: float) -> str:
    """In the reader's own time zone, to stand in brackets: it may begin with a capital, "Today"
    (docs.slack.dev/messaging/formatting-message-text#date-formatting)."""
    otherwise = datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"<!date^{int(at)}^{{date_short_pretty}}, {{time}}|{otherwise}>"


def _by_when(card: Card, names: Names) -> list[str]:
    if card.doubts:
        return ["the agent waits for an answer"]
    if card.took is not None:
        return [f"decided after {_span(card.took)}"]
    if not card.open:
        return []
    told: list[str] = []
    if card.next:
        told.append(f"escalates to {escaped(names(card.next.to))} ({date(card.next.at)})")
    if card.ends:
        what = f"`{card.ends.name}` is " if card.ends.name else ""
        told.append(
            f"{what}{_ENDS[card.ends.decision]} unless decided in time ({date(card.ends.at)})"
        )
    return told or ["waits until somebody decides"]


def _span(seconds: float) -> str:
    """One unit is enough to know whether it was quick."""
    for length, unit in ((86_400, "day"), (3600, "h"), (60, "min")):
        if seconds >= length:
            count = round(seconds / length)
            return f"{count} {unit}{'s' * (unit == 'day' and count > 1)}"
    return f"{max(1, round(seconds))} s"


def _note(note: Note, card: Card, names: Names) -> str:
    origin, when = _listed(note.origin, names), date(note.at)
    if note.to == card.place:
        if note.by:
            return f"Passed on from {origin} by {_mention(note.by)} ({when})."
        return f"{origin} had not decided on this in time ({when})."
    why = f" by {_mention(note.by)}" if note.by else ", as this was not decided in time"
    return f"Escalated to {escaped(names(note.to))}{why} ({when})."


def _closed(item: Closed) -> list[Element]:
    """One quiet line: a sign and the words, since a sign alone says nothing to a screen reader."""
    if item.type == "allow":
        drawn = [words(item.name, bold=True), words("  allowed by the policy")]
    else:
        sign, verb = _SIGNS[item.type]
        drawn = [words(f"{sign} {item.name}", bold=True), words(f"  {verb} ")]
        drawn.append(_who(item.by) if item.by else words(_NOBODY[item.type == "cancel"]))
    if item.message:
        drawn.append(words(f": “{item.message}”"))
    for change in item.changes:
        drawn.append(words(f"\n{change.label}", bold=True))
        if change.old is not None:
            drawn += [words("  "), words(change.old, strike=True)]
        drawn.append(words(f" → {'removed' if change.new is None else change.new}"))
    if item.more_changes:
        drawn.append(words(f"\nand {item.more_changes} more changes"))
    if item.result:
        drawn.append(words(f"\n→ {item.result}"))
        if item.result_by:
            drawn += [words(", says "), _who(item.result_by)]
    return drawn


def _listed(places: Iterable[Place], names: Names) -> str:
    return " and ".join(escaped(names(place)) for place in places)


def _who(who: Reviewer) -> Element:
    return person(who.id) if _is_here(who) else words(who.name)


def _mention(who: Reviewer | None) -> str:
    if who is None:
        return "the policy"
    return f"<@{who.id}>" if _is_here(who) else inert(who.name)


def _is_here(who: Reviewer) -> bool:
    """A command line's login may look like one of Slack's ids."""
    return who.channel == "slack" and bool(USER_ID.fullmatch(who.id))
