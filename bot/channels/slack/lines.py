"""The quiet lines of a card: for whom, from where, by when, who may decide. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from bot.card import Card, Deciders, Doubt, Ends, Next, Note, Progress, Said, as_name, quoted
from bot.channels.slack.mentions import (
    USER_ID,
    Link,
    Names,
    everybody,
    linked,
    listed,
    mention,
    named,
    requester,
)
from bot.channels.slack.rich import (
    Block,
    Element,
    context,
    inert,
    line,
    mrkdwn,
    plain,
    rich_text,
    words,
)
from hitl_core.model import MessageRef, Place

MAX_NOTES = 5
#: A context holds ten elements (docs.slack.dev/reference/block-kit/blocks/context-block).
MAX_ELEMENTS = 10
MAX_SAID = 4
DOT = "  ·  "

#: How each decision is told: a sign, and the word for who reads the screen aloud.
SIGNS = {
    "approve": ("✔", "approved by"),
    "edit": ("✎", "edited and approved by"),
    "reject": ("✖", "rejected by"),
    "respond": ("↩", "answered by"),
    "ignore": ("⊘", "skipped by"),
    "cancel": ("⊗", "cancelled by"),
    "moved": ("↪", "is for others to decide since an edit by"),
}
_WANTS = {
    "approve": "to run it with this answer",
    "respond": "to answer in its place",
    "ignore": "to skip it",
    "ran": "to say that it ran",
    "rerun": "to run it again",
    "skip": "to skip it",
    "cancel": "to cancel all of it",
}
_ENDS = {"reject": "rejected", "respond": "answered by the policy", "ignore": "skipped"}


def called(card: Card, names: Names, link: Link) -> list[Block]:
    """Those whom an escalation calls, and the way back to the first message."""
    told = [f"{everybody(card.called, names)}, please decide"] if card.called else []
    back = linked("see the first message", card.first, link)
    told += [back] if back else []
    return [context("called", mrkdwn(DOT.join(told)))] if told else []


def origin(card: Card, names: Names, link: Link) -> list[Block]:
    """For whom, through which agents, and what happens by when."""
    asked = card.origin
    place = asked.conversation and linked("this conversation", _thread(asked.conversation), link)
    told = [f"in {place}"] if place else []
    elements: list[Element] = []
    if asked.requester and USER_ID.fullmatch(asked.requester):
        told = [" ".join([f"For <@{asked.requester}>", *told])]
    elif asked.requester:
        elements.append(plain(f"For {as_name(asked.requester)}", 100))
    if asked.path:
        elements += [mrkdwn(DOT.join(told))] if told else []
        elements.append(
            plain(f"{'·  ' if elements else ''}via {' → '.join(map(as_name, asked.path))}", 200)
        )
        told = []
    told += _by_when(card, names)
    if told:
        elements.append(mrkdwn(f"{'·  ' if elements else ''}{DOT.join(told)}"))
    drawn = [context("origin", *elements)] if elements else []
    if card.warnings:
        drawn.append(rich_text("odd", *warnings(card.warnings)))
    return drawn


def warnings(odd: Iterable[str]) -> list[Element]:
    """A line each, and none that is easily overlooked."""
    return [line(words(f"⚠ {one}", bold=True)) for one in odd]


def unshown(card: Card, names: Names) -> list[Block]:
    """What waits where nobody sees it, and why."""
    drawn: list[Block] = []
    for at, one in enumerate(card.unshown[:MAX_NOTES]):
        what = f"Number {listed(map(str, one.numbers))}" if one.numbers else "This"
        told = f"{what} can't be shown in {place(one.place, names)}"
        if one.here:
            told = "Not all could be looked up that this depends on"
        why = plain(f"Since then: {one.why}", 600)
        drawn.append(context(f"unshown:{at}", mrkdwn(f"⚠ {told} ({date(one.since)})."), why))
    return drawn


def notes(card: Card, names: Names) -> list[Block]:
    drawn = [
        context(
            f"note:{at}",
            mrkdwn(_note(note, card, names)),
            *([plain(quoted(note.why), 600)] if note.why else []),
        )
        for at, note in enumerate(card.notes[-MAX_NOTES:])
    ]
    if card.cancels:
        drawn.append(context("cancels", *so_far(card.cancels)))
    if card.elsewhere:
        before = [f"`{one.name}` {SIGNS[one.type][1]} {mention(one.by)}" for one in card.elsewhere]
        drawn.append(context("before", mrkdwn(f"Decided before: {listed(before)}.")))
    return drawn


def votes(key: str, progress: Progress | None, names: Names) -> list[Block]:
    """Who has approved, who rejected and why, who wants something else, and who is still needed."""
    if progress is None:
        return []
    elements = [mrkdwn(standing(progress, names))]
    if progress.rejected:
        by = listed(mention(vote.by) for vote in progress.rejected)
        told = (
            f"Rejected by {by}, {len(progress.rejected)} of {progress.reject_quorum} that it takes."
        )
        elements.append(mrkdwn(told))
        whys = [quoted(vote.message) for vote in progress.rejected if vote.message]
        elements += [plain(why, 600) for why in whys[:5]]
    return [context(f"votes:{key}", *[*elements, *so_far(progress.said)][:MAX_ELEMENTS])]


def so_far(said: Sequence[Said]) -> list[Element]:
    """Who wants what, of how many; and the words on which they agree."""
    drawn = list[Element]()
    for one in said[:MAX_SAID]:
        count = f"{len(one.by)} of {one.of} want {_WANTS[one.what]}"
        drawn.append(mrkdwn(f"{count}: {listed(map(mention, one.by))}."))
        drawn += [plain(quoted(one.message), 600)] if one.message else []
    return drawn


def must_agree(doubt: Doubt) -> list[Element]:
    """How many must say what became of a call, where one person is not enough."""
    told = list[str]()
    if doubt.quorum > 1:
        told.append(f"{doubt.quorum} people must say that it ran, or to run it again.")
    if doubt.but:
        asker = requester(doubt.but.removeprefix("slack:"))
        told.append(f"{asker} asked for it and can't be one of them.")
    return [mrkdwn(" ".join(told))] if told else []


def standing(so_far: Progress, names: Names) -> str:
    """Names only whom the foot of the card doesn't name anyway."""
    asked = everybody(so_far.asked, names, either="or") if so_far.fewer else ""
    by = f" by {asked}" if asked else ""
    if so_far.editor:
        by += f", not by {mention(so_far.editor)}, whose edit it is"
    missing = so_far.quorum - len(so_far.approved)
    if not so_far.approved:
        return f"Needs {missing} approval{'s' * (missing != 1)}{by}."
    who = listed(mention(one) for one in so_far.approved)
    told = f"{len(so_far.approved)} of {so_far.quorum} approvals: {who}."
    return f"{told} Still needed: {missing}{by}."


def more(count: int) -> Block:
    told = "1 more waits. It appears" if count == 1 else f"{count} more wait. They appear"
    return context("more", mrkdwn(f"{told} here as these are decided."))


def foot(card: Card, names: Names) -> Block:
    told = [_may_decide(one, names) for one in card.deciders[:3]]
    if len(card.deciders) > 3:
        told.append("Others may decide on the others.")
    thread = "" if card.origin.conversation else f"{DOT}thread {as_name(card.origin.thread)}"
    ids = f"{card.review_id}{thread}"
    return context("foot", *([mrkdwn(" ".join(told))] if told else []), plain(ids, 200))


def date(at: float) -> str:
    """In the reader's own time zone, to stand in brackets: it may begin with a capital, "Today"
    (docs.slack.dev/messaging/formatting-message-text#date-formatting)."""
    otherwise = datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"<!date^{int(at)}^{{date_short_pretty}}, {{time}}|{otherwise}>"


def places(several: Iterable[Place], names: Names) -> str:
    return listed(place(one, names) for one in several)


def place(one: Place, names: Names) -> str:
    """A person's or a group's is called by who it is."""
    id = named(one)
    return id if id.startswith("<") else inert(names(one))


def _may_decide(deciders: Deciders, names: Names) -> str:
    who = everybody(deciders.people, names) or "Nobody"
    of = f" on number {listed(map(str, deciders.numbers))}" if deciders.numbers else ""
    told = [f"{who[0].upper()}{who[1:]} may decide{of}."]
    if deciders.quorum > 1:
        told.append(f"{deciders.quorum} of them must approve.")
    if deciders.but:
        asker = requester(deciders.but.removeprefix("slack:"))
        told.append(f"{asker} asked for it and can't approve it.")
    return " ".join(told)


def _by_when(card: Card, names: Names) -> list[str]:
    if card.doubts:
        return ["the agent waits for an answer"]
    if card.took is not None:
        return [f"decided after {span(card.took)}"]
    if not card.waiting:
        return []
    told: list[str] = []
    if card.next:
        told.append(f"escalates to {place(card.next.to, names)} ({_when(card.next)})")
    if card.ends:
        what = f"`{card.ends.name}` is " if card.ends.name else ""
        told.append(
            f"{what}{_ENDS[card.ends.decision]} unless decided in time ({_when(card.ends)})"
        )
    return told or ["waits until somebody decides"]


def _when(due: Next | Ends) -> str:
    """Where its clock doesn't run yet, it starts with this message."""
    return f"after {span(due.after)}" if due.at is None else date(due.at)


def span(seconds: float) -> str:
    """One unit is enough to know whether it was quick."""
    for length, unit in ((86_400, "day"), (3600, "h"), (60, "min")):
        if seconds >= length:
            count = round(seconds / length)
            return f"{count} {unit}{'s' * (unit == 'day' and count > 1)}"
    return f"{max(1, round(seconds))} s"


def _note(note: Note, card: Card, names: Names) -> str:
    origin, when = places(note.origin, names), date(note.at)
    if note.fallback:
        where = "here" if note.to == card.place else f"in {place(note.to, names)}"
        return f"Shown {where}, as it could not be shown in {origin} ({when})."
    if note.to == card.place:
        if note.by:
            return f"Passed on from {origin} by {mention(note.by)} ({when})."
        return f"{origin} had not decided on this in time ({when})."
    why = f" by {mention(note.by)}" if note.by else ", as this was not decided in time"
    return f"Escalated to {place(note.to, names)}{why} ({when})."


def _thread(conversation: Place) -> MessageRef | None:
    """`slack:C0123/1700000000.000100` as the message that began it."""
    channel, _, rest = conversation.partition(":")
    id, _, ts = rest.partition("/")
    return (
        MessageRef(channel=channel, conversation=id, ts=ts) if channel == "slack" and ts else None
    )
