"""The actions of a card: arguments, the texts about them, and the answers that people may give. Pure."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from hitl_core.errors import Refused
from hitl_core.model import Action, Review
from hitl_core.review import hides_options

from .. import refusals, text
from .agent_texts import agent_arguments, find_texts, make_reason, merge_reasons
from .arguments import (
    MAX_CALL,
    MAX_COMPARED,
    argument_rows,
    arguments_excerpt,
    call_values,
    list_arguments,
    main_fact,
    mask,
    mask_action,
)
from .buttons import choice_texts, choices_of
from .events import attempt_of, decision_lines, edits_of, make_progress
from .model import ActionLine, Argument, OpenAction, Progress, Text, quote
from .warnings import call_warnings, is_plain, warnings_by_key

#: The most characters of the arguments of all actions on a card together.
MAX_CARD_ARGS = 7_000
#: A card shows up to this many actions in full. With more, each has one line.
MAX_OPEN = 10
MAX_WHY = 300
MAX_TITLE = 100
#: The most characters of the arguments in a modal.
MAX_MODAL = 20_000


def find_open_action(review: Review, key: str, *, room: int = MAX_MODAL) -> OpenAction:
    """One action by its key, pending or decided, with more arguments than on a card. Raises KeyError."""
    for number, action in enumerate(review.actions, start=1):
        if action.key == key:
            open_action = make_open_action(review, action, number, room)
            closed = [
                one for one in decision_lines(review, [action], action.places[0]) if one.key == key
            ]
            return replace(open_action, decided=closed[0]) if closed else open_action
    raise KeyError(key)


def name_and_arguments(review: Review, key: str) -> tuple[str, tuple[Argument, ...]]:
    """The tool's name, and all visible arguments of a call with their warnings, followed by the agent's texts
    about the call. Raises Refused if there is no such call.
    """
    if (call := review.call(key)) is None:
        raise Refused("unknown_action", refusals.NO_ACTION)
    action, args = review.action(key), review.arguments(key).parse()
    masked = mask_action(action, args) if action else mask(args, None, call.redact)
    warnings = {} if is_plain(review.arguments(key).data) else warnings_by_key(masked)
    arguments = (*list_arguments(masked, warnings), *agent_arguments(review, call))
    return action.name if action else call.name, arguments


def make_actions(
    review: Review, waiting: list[Action], numbers: dict[str, int]
) -> tuple[tuple[OpenAction, ...], tuple[ActionLine, ...]]:
    """All actions in full, or () if they are too many; and all of them with one line each."""
    if len(waiting) > MAX_OPEN:
        lines = (make_action_line(review, action, numbers[action.key]) for action in waiting)
        return (), tuple(lines)
    open_actions = _make_open_actions(review, waiting, numbers)
    return open_actions, tuple(map(_to_action_line, open_actions))


def _make_open_actions(
    review: Review, waiting: list[Action], numbers: dict[str, int]
) -> tuple[OpenAction, ...]:
    """The actions, cut to the space of a card. Space that one action does not need goes to the others."""
    compares = len(waiting) > 1
    actions = [
        make_open_action(review, action, numbers[action.key], MAX_CALL, compares=compares)
        for action in waiting
    ]
    room = MAX_CARD_ARGS
    by_weight = sorted(range(len(actions)), key=lambda at: actions[at].excerpt.weight)
    for count, at in enumerate(by_weight):
        share = room // (len(actions) - count)
        if actions[at].excerpt.weight > share:
            actions[at] = _shrink(review, waiting[at], actions[at], share)
        room -= min(share, actions[at].excerpt.weight)
    return merge_reasons(actions) if any(one.reason for one in actions) else tuple(actions)


def make_open_action(
    review: Review, action: Action, number: int, room: int, *, compares: bool = False
) -> OpenAction:
    """One action in full. `compares`: also make the values of a table, to compare the action with others."""
    config = action.config
    arguments = review.arguments(action.key)
    compares = compares and len(arguments.data) <= MAX_COMPARED
    masked, plain = mask_action(action, arguments.parse()), is_plain(arguments.data)
    call_texts = find_texts(review, action)
    texts = [
        ("Its description", call_texts.description),
        ("Its title", call_texts.title),
        ("The agent's reason", call_texts.reason),
    ]
    rows = argument_rows(masked)
    excerpt = arguments_excerpt(masked, rows, room)
    is_question = config.answer_schema is not None
    choices = choices_of(config) if is_question and not hides_options(review, action) else ()
    answers = choice_texts(config) if choices else ()
    odd = call_warnings(None if plain else masked, texts, answers)
    why = call_texts.description and text.shorten(call_texts.description, MAX_WHY)
    description = call_texts.description if action.request.by_agent else None
    quote_agent = partial(make_reason, review, is_whole=room >= MAX_MODAL)
    return OpenAction(
        key=action.key,
        revision=action.revision,
        seal=review.seal(action.key, is_whole=not excerpt.missing),
        number=number,
        name=action.name,
        title=call_texts.title and text.shorten(call_texts.title, MAX_TITLE),
        # Quoted if code wrote it, because it may then quote the arguments.
        why=quote(why) if why and action.request.computed else why,
        by_agent=action.request.by_agent,
        rule=call_texts.rule,
        fact=main_fact(masked),
        excerpt=excerpt,
        warnings=(*((Text(one),) for one in call_texts.withheld), *odd.lines),
        odd_values=odd.count,
        allowed=config.allowed_decisions,
        is_question=is_question,
        choices=choices,
        confirm=config.confirm,
        reads_all=config.must_read,
        edits=edits_of(review, action) if action.edits or action.decision else (),
        progress=_find_progress(review, action),
        reason=quote_agent(call_texts.reason) if call_texts.reason else None,
        agent_description=quote_agent(description) if description else None,
        attempt=attempt_of(review, action) if action.rejected_before else None,
        values=call_values(masked, rows) if compares else None,
    )


def _shrink(review: Review, action: Action, open_action: OpenAction, room: int) -> OpenAction:
    masked = mask_action(action, review.arguments(action.key).parse())
    excerpt = arguments_excerpt(masked, argument_rows(masked), room)
    seal = review.seal(action.key, is_whole=not excerpt.missing)
    return replace(open_action, excerpt=excerpt, seal=seal)


def make_action_line(review: Review, action: Action, number: int) -> ActionLine:
    """The action on one line. It is fast, because there may be many large actions."""
    arguments = review.arguments(action.key)
    masked = mask_action(action, arguments.parse())
    return ActionLine(
        key=action.key,
        revision=action.revision,
        number=number,
        name=action.name,
        fact=main_fact(masked),
        odd_values=call_warnings(None if is_plain(arguments.data) else masked).count,
        progress=_find_progress(review, action),
        attempt=1 + (action.rejected_before.times if action.rejected_before else 0),
        values=call_values(masked, argument_rows(masked))
        if len(arguments.data) <= MAX_COMPARED
        else None,
        reads_all=action.config.must_read,
    )


def _find_progress(review: Review, action: Action) -> Progress | None:
    """The votes so far; None if any one of them is enough."""
    rule = action.route.reviewers
    is_one_enough = rule.editor_approves or not action.edits
    if rule.quorum == rule.reject_quorum == 1 and is_one_enough:
        return None
    return make_progress(review, action)


def _to_action_line(action: OpenAction) -> ActionLine:
    return ActionLine(
        key=action.key,
        revision=action.revision,
        number=action.number,
        name=action.name,
        fact=action.fact,
        odd_values=action.odd_values,
        progress=action.progress,
        attempt=action.attempt.number if action.attempt else 1,
        values=action.values,
        reads_all=action.reads_all,
    )
