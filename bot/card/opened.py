"""One action with everything that will run, and the answers that are allowed. Pure."""

from __future__ import annotations

from dataclasses import replace

from bot import text
from bot.card.arguments import MAX_CALL, fact_of, shown_of, warnings_of
from bot.card.changes import edits_of
from bot.card.choices import choices_of
from bot.card.closed import closed_of
from bot.card.deciders import progress_of
from bot.card.model import Listed, Open
from bot.card.odd import is_plain
from hitl_core.model import Action, Review
from hitl_core.policy.read import DESCRIPTION_PREFIX
from hitl_core.review.redaction import redacted, schema_shown, secrets_of, without

#: What the arguments of all actions of a card may take together.
MAX_CARD = 7_000
MAX_WHY = 300
MAX_TITLE = 100
#: What a modal has room for.
MAX_MODAL = 20_000


def open_of(review: Review, key: str, *, room: int = MAX_MODAL) -> Open:
    """One action by its key, decided or not, with more room than on a card. Raises KeyError without one."""
    for number, action in enumerate(review.actions, start=1):
        if action.key == key:
            found = opened(review, action, number, room)
            closed = [
                one for one in closed_of(review, [action], action.places[0]) if one.key == key
            ]
            return replace(found, decided=closed[0]) if closed else found
    raise KeyError(key)


def all_opened(review: Review, waiting: list[Action], numbers: dict[str, int]) -> tuple[Open, ...]:
    """Each as far as there is room; what one doesn't need the others have."""
    found = [opened(review, action, numbers[action.key], MAX_CALL) for action in waiting]
    left = MAX_CARD
    by_weight = sorted(range(len(found)), key=lambda at: _weight(found[at]))
    for count, at in enumerate(by_weight):
        share = left // (len(found) - count)
        if _weight(found[at]) > share:
            found[at] = _narrowed(review, waiting[at], found[at], share)
        left -= min(share, _weight(found[at]))
    return tuple(found)


def opened(review: Review, action: Action, number: int, room: int) -> Open:
    config = action.config
    args, schema = review.arguments(action.key).parse(), schema_shown(config)
    redact = redacted(action, args)
    secrets = secrets_of(review, action.key)
    why = without(_why(action), secrets)
    title = without(action.request.title or "", secrets)
    said = [("Its description", why), ("Its title", title)]
    plain = is_plain(review.arguments(action.key).data)
    shown = shown_of(args, schema, redact, room=room)
    return Open(
        key=action.key,
        revision=action.revision,
        seal=review.seal(action.key),
        number=number,
        name=action.name,
        title=text.shortened(title, MAX_TITLE),
        why=text.shortened(why, MAX_WHY),
        by_agent=action.request.by_agent,
        rule=text.shortened(without(_rule(review, action), secrets), MAX_WHY),
        fact=fact_of(args, schema, redact),
        shown=shown,
        warnings=warnings_of({} if plain else args, schema, redact, said),
        allowed=config.allowed_decisions,
        asks=config.answer_schema is not None,
        choices=choices_of(config),
        confirm=config.confirm,
        must_read=config.must_read and shown.missing > 0,
        edits=edits_of(review, action),
        progress=progress_of(action, review.requester),
    )


def _narrowed(review: Review, action: Action, found: Open, room: int) -> Open:
    config, args = action.config, review.arguments(action.key).parse()
    redact = redacted(action, args)
    shown = shown_of(args, schema_shown(config), redact, room=room)
    return replace(found, shown=shown, must_read=config.must_read and shown.missing > 0)


def listed(review: Review, action: Action, number: int) -> Listed:
    """On one line, and quickly: there may be many, and large ones."""
    config, arguments = action.config, review.arguments(action.key)
    args, schema = arguments.parse(), schema_shown(config)
    redact = redacted(action, args)
    return Listed(
        key=action.key,
        revision=action.revision,
        number=number,
        name=action.name,
        fact=fact_of(args, schema, redact),
        odd=not is_plain(arguments.data) and bool(warnings_of(args, schema, redact)),
        progress=progress_of(action, review.requester),
    )


def in_short(action: Open) -> Listed:
    return Listed(
        key=action.key,
        revision=action.revision,
        number=action.number,
        name=action.name,
        fact=action.fact,
        odd=bool(action.warnings),
        progress=action.progress,
    )


def _weight(action: Open) -> int:
    return sum(
        text.weight(argument.label) + text.weight(argument.value)
        for argument in action.shown.arguments
    )


def _rule(review: Review, action: Action) -> str:
    """Why a person is asked at all, without the description that is told anyway."""
    call = review.call(action.key)
    return call.verdict.reason.removeprefix(action.request.description).strip() if call else ""


def _why(action: Action) -> str:
    """The description, without what the card says anyway: LangChain's repeats the call below its prefix."""
    told, *_ = action.request.description.split(f"\n\nTool: {action.request.name}\nArgs: ")
    return "" if told.strip() == DESCRIPTION_PREFIX else told.strip()
