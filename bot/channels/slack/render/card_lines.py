"""The small lines of a card: for whom, from where, the deadline, who may decide. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from hitl_core.model import MessageRef, Place

from ....card import (
    Card,
    Deadline,
    Deciders,
    Doubt,
    EscalationNote,
    NextStep,
    Progress,
    VoteGroup,
    as_name,
    quote,
)
from .block_kit import (
    Block,
    Element,
    context,
    line,
    make_inert,
    mrkdwn,
    plain_text,
    rich_text,
    text_element,
)
from .mentions import (
    USER_ID,
    Link,
    Names,
    format_requester,
    join_names,
    link_text,
    mention,
    mention_by_id,
    people_text,
)

MAX_NOTES = 5
#: A context holds ten elements (docs.slack.dev/reference/block-kit/blocks/context-block).
MAX_ELEMENTS = 10
MAX_STATEMENTS = 4
SEPARATOR = "  ·  "

#: The sign and the words for each decision. A screen reader can't read the sign alone.
DECISION_LABELS = {
    "approve": ("✔", "approved by"),
    "edit": ("✎", "edited and approved by"),
    "reject": ("✖", "rejected by"),
    "respond": ("↩", "answered by"),
    "ignore": ("⊘", "skipped by"),
    "cancel": ("⊗", "cancelled by"),
    "moved": ("↪", "now decided by others, after an edit by"),
}
_STATEMENT_TEXTS = {
    "approve": "to run it with this answer",
    "respond": "to answer instead of running it",
    "ignore": "to skip it",
    "ran": "to say that it ran",
    "rerun": "to run it again",
    "skip": "to skip it",
    "cancel": "to cancel the whole review",
}
_DEADLINE_TEXTS = {"reject": "rejected", "respond": "answered by the policy", "ignore": "skipped"}


def escalation_line(card: Card, names: Names, link: Link) -> list[Block]:
    """The people whom an escalation calls, and a link back to the first message."""
    texts = (
        [f"{people_text(card.escalation_people, names)}, please decide"]
        if card.escalation_people
        else []
    )
    back = link_text("see the first message", card.first_message, link)
    texts += [back] if back else []
    return [context("called", mrkdwn(SEPARATOR.join(texts)))] if texts else []


def origin(card: Card, names: Names, link: Link) -> list[Block]:
    """For whom, through which agents, and the next deadlines."""
    source = card.origin
    place = source.conversation and link_text(
        "this conversation", _thread_ref(source.conversation), link
    )
    texts = [f"in {place}"] if place else []
    elements: list[Element] = []
    if source.requester and USER_ID.fullmatch(source.requester):
        texts = [" ".join([f"For <@{source.requester}>", *texts])]
    elif source.requester:
        elements.append(plain_text(f"For {as_name(source.requester)}", 100))
    if source.path:
        elements += [mrkdwn(SEPARATOR.join(texts))] if texts else []
        elements.append(
            plain_text(
                f"{'·  ' if elements else ''}via {' → '.join(map(as_name, source.path))}", 200
            )
        )
        texts = []
    texts += _due_texts(card, names)
    if texts:
        elements.append(mrkdwn(f"{'·  ' if elements else ''}{SEPARATOR.join(texts)}"))
    blocks = [context("origin", *elements)] if elements else []
    if card.warnings:
        blocks.append(rich_text("odd", *warnings(card.warnings)))
    return blocks


def warnings(texts: Iterable[str]) -> list[Element]:
    """One bold line each, so that nobody overlooks it."""
    return [line(text_element(f"⚠ {one}", bold=True)) for one in texts]


def delivery_problems(card: Card, names: Names) -> list[Block]:
    """The actions that can't be shown at one of their places, and why."""
    blocks: list[Block] = []
    for at, one in enumerate(card.place_problems[:MAX_NOTES]):
        what = f"Number {join_names(map(str, one.numbers))}" if one.numbers else "This"
        text = f"{what} can't be shown in {place(one.place, names)}"
        if one.is_here:
            text = "Some people or groups could not be looked up"
        if one.too_few:
            text = f"{what} can't be approved in {place(one.place, names)}"
        why = plain_text(f"Reason: {one.why}", 600)
        blocks.append(
            context(f"unshown:{at}", mrkdwn(f"⚠ {text} (since {format_date(one.since)})."), why)
        )
    return blocks


def notes(card: Card, names: Names) -> list[Block]:
    blocks = [
        context(
            f"note:{at}",
            mrkdwn(_note_text(note, card, names)),
            *([plain_text(quote(note.why), 600)] if note.why else []),
        )
        for at, note in enumerate(card.notes[-MAX_NOTES:])
    ]
    if card.cancel_votes:
        blocks.append(context("cancels", *statement_elements(card.cancel_votes)))
    if card.elsewhere:
        before = [
            f"`{one.name}` {DECISION_LABELS[one.type][1]} {mention(one.by)}"
            for one in card.elsewhere
        ]
        blocks.append(context("before", mrkdwn(f"Decided earlier: {join_names(before)}.")))
    return blocks


def votes(key: str, progress: Progress | None, names: Names) -> list[Block]:
    """Who approved, who rejected and why, who wants another answer, and who is still needed."""
    if progress is None:
        return []
    elements = [mrkdwn(progress_text(progress, names))]
    if progress.rejected:
        by = join_names(mention(vote.by) for vote in progress.rejected)
        text = f"{len(progress.rejected)} of {progress.reject_quorum} rejections: {by}."
        elements.append(mrkdwn(text))
        whys = [quote(vote.message) for vote in progress.rejected if vote.message]
        elements += [plain_text(why, 600) for why in whys[:5]]
    return [
        context(
            f"votes:{key}", *[*elements, *statement_elements(progress.other_votes)][:MAX_ELEMENTS]
        )
    ]


def statement_elements(statements: Sequence[VoteGroup]) -> list[Element]:
    """Who wants what, how many are needed, and the text on which they agree."""
    elements = list[Element]()
    for one in statements[:MAX_STATEMENTS]:
        count = f"{len(one.by)} of {one.needed} want {_STATEMENT_TEXTS[one.kind]}"
        elements.append(mrkdwn(f"{count}: {join_names(map(mention, one.by))}."))
        elements += [plain_text(quote(one.message), 600)] if one.message else []
    return elements


def doubt_quorum(doubt: Doubt) -> list[Element]:
    """How many people must say what happened to a call, if one is not enough."""
    texts = list[str]()
    if doubt.quorum > 1:
        texts.append(f"{doubt.quorum} people must say that it ran, or to run it again.")
    if doubt.excluded_requester:
        asker = format_requester(doubt.excluded_requester.removeprefix("slack:"))
        texts.append(f"{asker} asked for it and can't be one of them.")
    return [mrkdwn(" ".join(texts))] if texts else []


def progress_text(progress: Progress, names: Names) -> str:
    """Omits the names that the footer shows anyway."""
    others = people_text(progress.still_needed, names, either="or") if progress.is_partial else ""
    by = f" by {others}" if others else ""
    if progress.editor:
        by += f", not by {mention(progress.editor)}, who made the edit"
    missing = progress.quorum - len(progress.approved)
    if not progress.approved:
        return f"Needs {missing} approval{'s' * (missing != 1)}{by}."
    who = join_names(mention(one) for one in progress.approved)
    text = f"{len(progress.approved)} of {progress.quorum} approvals: {who}."
    return f"{text} Still needed: {missing}{by}."


def more_waiting(count: int) -> Block:
    text = "1 more waits. It appears" if count == 1 else f"{count} more wait. They appear"
    return context("more", mrkdwn(f"{text} here when these are decided."))


def footer(card: Card, names: Names) -> Block:
    texts = [_deciders_text(one, names) for one in card.deciders[:3]]
    if len(card.deciders) > 3:
        texts.append("Other people decide on the other actions.")
    thread = "" if card.origin.conversation else f"{SEPARATOR}thread {as_name(card.origin.thread)}"
    ids = f"{card.review_id}{thread}"
    return context("foot", *([mrkdwn(" ".join(texts))] if texts else []), plain_text(ids, 200))


def format_date(at: float) -> str:
    """In the reader's own time zone, for use in brackets: it may begin with a capital, "Today"
    (docs.slack.dev/messaging/formatting-message-text#date-formatting)."""
    otherwise = datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"<!date^{int(at)}^{{date_short_pretty}}, {{time}}|{otherwise}>"


def places(several: Iterable[Place], names: Names) -> str:
    return join_names(place(one, names) for one in several)


def place(one: Place, names: Names) -> str:
    """A mention for a person or a group, else the place's name."""
    id = mention_by_id(one)
    return id if id.startswith("<") else make_inert(names(one))


def _deciders_text(deciders: Deciders, names: Names) -> str:
    who = people_text(deciders.people, names) or "Nobody"
    of = f" on number {join_names(map(str, deciders.numbers))}" if deciders.numbers else ""
    texts = [f"{who[0].upper()}{who[1:]} may decide{of}."]
    if deciders.quorum > 1:
        texts.append(f"{deciders.quorum} of them must approve.")
    if deciders.excluded_requester:
        asker = format_requester(deciders.excluded_requester.removeprefix("slack:"))
        texts.append(f"{asker} asked for it and can't approve it.")
    return " ".join(texts)


def _due_texts(card: Card, names: Names) -> list[str]:
    if card.doubts:
        return ["the agent waits for an answer"]
    if card.decision_time is not None:
        return [f"decided after {format_duration(card.decision_time)}"]
    if not card.waiting:
        return []
    texts: list[str] = []
    if card.next_step:
        texts.append(
            f"escalates to {place(card.next_step.to, names)} ({_due_date(card.next_step)})"
        )
    if card.deadline:
        what = f"`{card.deadline.name}` is " if card.deadline.name else ""
        texts.append(
            f"{what}{_DEADLINE_TEXTS[card.deadline.decision]} unless decided in time"
            f" ({_due_date(card.deadline)})"
        )
    return texts or ["waits until somebody decides"]


def _due_date(due: NextStep | Deadline) -> str:
    """The time; the duration if the timer has not started (it starts when this message is posted)."""
    return f"after {format_duration(due.after)}" if due.at is None else format_date(due.at)


def format_duration(seconds: float) -> str:
    """In one unit, rounded."""
    for length, unit in ((86_400, "day"), (3600, "h"), (60, "min")):
        if seconds >= length:
            count = round(seconds / length)
            return f"{count} {unit}{'s' * (unit == 'day' and count > 1)}"
    return f"{max(1, round(seconds))} s"


def _note_text(note: EscalationNote, card: Card, names: Names) -> str:
    origin, when = places(note.origin, names), format_date(note.at)
    if note.fallback:
        where = "here" if note.to == card.place else f"in {place(note.to, names)}"
        return f"Shown {where} because it can't be decided in {origin} ({when})."
    if note.to == card.place:
        if note.by:
            return f"Passed on from {origin} by {mention(note.by)} ({when})."
        if note.why:
            return f"Escalated from {origin}: nobody may decide on this there any more ({when})."
        return f"Escalated from {origin}: not decided in time ({when})."
    late = "nobody may decide on this any more" if note.why else "it was not decided in time"
    why = f"by {mention(note.by)}" if note.by else f"because {late}"
    return f"Escalated to {place(note.to, names)} {why} ({when})."


def _thread_ref(place: Place) -> MessageRef | None:
    """The first message of a thread in Slack."""
    if place.channel != "slack" or not place.thread:
        return None
    return MessageRef(channel=place.channel, conversation=place.target, ts=place.thread)
