"""The buttons of an action, a doubt and a card, with their texts. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, assert_never

from ...text import clip
from ..model import (
    Button,
    Card,
    Choice,
    Confirmation,
    Doubt,
    Layout,
    OpenAction,
    Verb,
    quote,
    shows_all,
)
from ..warnings import odd_values
from .choices import choice_labels

SEE_LABEL = "See all of it"
READ_LABEL = "Read all, then approve"
REVIEW_LABEL = "Review one by one"
#: The most characters of a button's text for screen readers, and of a tool's name in it. Channels cut more.
MAX_SPOKEN, MAX_SPOKEN_NAME = 75, 30
#: The most characters of an answer in a confirmation.
MAX_ANSWER = 100


class _Subject(NamedTuple):
    """What the buttons of an action or a doubt are about: the review, the action, the revision and the seal.
    `spoken`: the same in words, for screen readers.
    """

    ids: tuple[str, str, int, str]
    spoken: str

    def button(self, verb: Verb, label: str, **more: Any) -> Button:
        """`more`: other fields of the button."""
        return Button(verb, label, _spoken_label(label, self.spoken), *self.ids, **more)


def action_buttons(review_id: str, action: OpenAction) -> tuple[Button, ...]:
    """The common answers, "See all of it" if something is cut, then the rare answers; () if the action is
    decided. An action that must be read is approved where all of it is read: see `reading_buttons`.
    """
    if action.decided is not None:
        return ()
    subject = _subject(review_id, action, f"{action.number} ")
    runs, reads_first = "approve" in action.allowed or "edit" in action.allowed, action.reads_first
    common = _choice_buttons(action, subject)
    rare: list[Button] = []
    for decision in action.allowed:
        match decision:
            case "approve" if reads_first:
                style = None if action.odd_values else "positive"
                common.append(subject.button("see", READ_LABEL, style=style))
            case "approve" if not action.choices:
                common.append(_approve_button(action, subject))
            case "edit":
                common.append(subject.button("edit", "Edit"))
            case "reject":
                common.append(subject.button("reject", "Reject", style="destructive"))
            case "respond" if not action.choices and not runs:
                common.append(subject.button("respond", "Answer", style="positive"))
            case "respond" if not action.choices:
                label = "Answer instead of running it"
                rare.append(subject.button("respond", label, is_rare=True))
            case "ignore":
                rare.append(subject.button("ignore", "Skip it", is_rare=True))
            case "approve" | "respond":
                pass  # its choices are buttons already
            case _:
                assert_never(decision)
    is_cut = action.excerpt.missing or any(
        one.missing for one in (action.reason, action.agent_description) if one
    )
    see = [_see_button(subject, action.name)] if is_cut and not reads_first else []
    return (*common, *see, *rare)


def reading_buttons(review_id: str, action: OpenAction) -> tuple[Button, ...]:
    """Approve, Edit and Reject, if they are allowed, for a person who has read everything."""
    if action.decided is not None:
        return ()
    subject = _subject(review_id, action)
    each = {
        "approve": () if action.choices else (_approve_button(action, subject),),
        "edit": (subject.button("edit", "Edit"),),
        "reject": (subject.button("reject", "Reject", style="destructive"),),
    }
    return tuple(one for kind, buttons in each.items() if kind in action.allowed for one in buttons)


def doubt_buttons(review_id: str, doubt: Doubt) -> tuple[Button, ...]:
    """The answers about a call in doubt. "Run again" asks first, because the call may then run twice."""
    ids = (review_id, doubt.key, doubt.attempt, doubt.seal)
    subject = _Subject(ids, _spoken_name(doubt.name, doubt.fact))
    read = subject._replace(ids=(review_id, doubt.key, doubt.revision, doubt.seal))
    again = "Run again"
    twice = f"It may have run already. Then this happens twice: {quote(doubt.fact)}"
    ask = Confirmation(f"Run {doubt.name} again?", twice, again, "destructive")
    return (
        subject.button("ran", "It ran"),
        subject.button("rerun", again, style="destructive", confirmation=ask),
        subject.button("skip", "Go on without it"),
        *([_see_button(read, doubt.name)] if doubt.excerpt.missing else []),
    )


def card_buttons(card: Card, *, layout: Layout, next_place: str = "") -> tuple[Button, ...]:
    """The buttons of the whole card. `next_place`: the name of the place of the next escalation step."""
    buttons: list[Button] = []
    waiting, is_list = card.waiting, layout != "full"
    if is_list and waiting:
        spoken = _spoken_label(REVIEW_LABEL, f"{len(waiting)} actions")
        page = card.page_keys.index(waiting[0].key)
        buttons.append(
            Button("review", REVIEW_LABEL, spoken, card.review_id, number=page, style="positive")
        )
    if card.approve_all and shows_all(card, layout):
        buttons.append(_approve_all_button(card))
    if waiting and card.next_step is not None and not card.is_private:
        label = f"Escalate to {next_place}"
        taken = card.next_step.taken
        buttons.append(Button("escalate", label, label, card.review_id, number=taken, is_rare=True))
    if not is_list:
        buttons += _decided_buttons(card)
    return tuple(buttons)


def page_buttons(about: Button, page: int, pages: int) -> tuple[Button, ...]:
    """The buttons to the pages before and after this one (from 0), if there are any. `about` says what has
    pages; its `spoken` names what is on a page, such as "Action".
    """
    directions: tuple[tuple[Verb, str, int], ...] = (
        ("back", "◀ Back", page - 1),
        ("next", "Next ▶", page + 1),
    )
    return tuple(
        replace(
            about,
            verb=verb,
            label=label,
            spoken=f"{label}, {about.spoken} {to + 1} of {pages}",
            number=to,
        )
        for verb, label, to in directions
        if 0 <= to < pages
    )


def _subject(review_id: str, action: OpenAction, number: str = "") -> _Subject:
    ids = (review_id, action.key, action.revision, action.seal)
    return _Subject(ids, f"{number}{_spoken_name(action.name, action.fact)}")


def _spoken_name(name: str, fact: str) -> str:
    """The name and fact for screen readers. The name is cut so that the fact has space."""
    return f"{clip(name, MAX_SPOKEN_NAME)}, {fact}"


def _spoken_label(label: str, about: str) -> str:
    """The text for screen readers. It begins with the visible label."""
    return clip(f"{label} {about}", MAX_SPOKEN)


def _decided_buttons(card: Card) -> list[Button]:
    """The button that shows the decided actions in full, because a card shows only the decisions. It is a
    rare button while something waits.
    """
    decided = [one for one in card.decision_lines if one.key in card.page_keys]
    if not decided:
        return []
    first = decided[0]
    label = "See what was decided" if card.waiting else "See all arguments"
    is_rare = bool(card.waiting)
    if len(card.page_keys) == 1:
        spoken = _spoken_label(label, first.name)
        return [Button("see", label, spoken, card.review_id, first.key, first.revision)]
    page = card.page_keys.index(first.key)
    return [Button("review", label, label, card.review_id, number=page, is_rare=is_rare)]


def _approve_button(action: OpenAction, subject: _Subject) -> Button:
    style = None if action.odd_values else "positive"
    return subject.button("approve", "Approve", style=style, confirmation=_confirmation(action))


def _choice_buttons(action: OpenAction, subject: _Subject) -> list[Button]:
    """One button for each choice. If the tool runs with the answer, the policy may require a confirmation."""
    runs = "approve" in action.allowed
    buttons: list[Button] = []
    for at, (label, choice) in enumerate(
        zip(choice_labels(action.choices), action.choices, strict=True)
    ):
        is_whole = choice.is_own_label or quote(choice.label) in label
        about = subject if is_whole else subject._replace(spoken=quote(choice.label))
        ask = _confirmation(action, choice) if runs else None
        buttons.append(about.button("answer", label, number=at, confirmation=ask))
    return buttons


def _confirmation(action: OpenAction, answer: Choice | None = None) -> Confirmation | None:
    """The question that the policy may require before an approval; with `answer`, before this choice."""
    if not action.confirm:
        return None
    fact = f"{quote(clip(answer.label, MAX_ANSWER))}, {action.fact}" if answer else action.fact
    return _ask(f"Approve {action.name}?", fact, "Approve", action.odd_values)


def _ask(title: str, fact: str, label: str, odd: int) -> Confirmation:
    """The question. Odd values are mentioned first, because a long fact may be cut."""
    if not odd:
        return Confirmation(title, fact, label)
    return Confirmation(title, f"⚠ {odd_values(odd)}. {fact}", label, "destructive")


def _see_button(subject: _Subject, name: str) -> Button:
    return subject._replace(spoken=name).button("see", SEE_LABEL)


def _approve_all_button(card: Card) -> Button:
    """The button has every revision that the card shows, so a later edit is not approved."""
    label = f"Approve all {len(card.approve_all)}"
    return Button(
        "approve_all",
        label,
        f"{label} actions",
        card.review_id,
        seal=card.seal,
        revisions=card.approve_all,
        confirmation=Confirmation(f"{label}?", card.differences, label),
    )
