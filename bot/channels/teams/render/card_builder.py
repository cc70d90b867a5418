"""Draws lines, values and buttons as the elements of a card. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from hitl_core.model import MessageRef, Place
from hitl_core.policy import names_person

from ....card import Argument, Button, Line, PlaceNames, Text, argument_heads, no_url
from ..ids import NAME, ON_CARD, ButtonKey, Where, close_data
from .buttons import button_action, execute
from .elements import (
    ALERT,
    SMALL,
    Json,
    Look,
    action_sets,
    container,
    rich_text,
    text_runs,
)
from .markup import GROUP, GUID, runs

#: Place → its name, for example `Orders > Approvals`; for a person's place, the person's name.
Names = Callable[[Place], str]
#: Message → its URL; None if it is unknown.
MessageLink = Callable[[MessageRef], str | None]

#: The most characters of a person's name where longer ones don't fit.
SHORT_NAME = 12
#: The separator between the facts of one line.
SEPARATOR = Text("  ·  ")


@dataclass(frozen=True)
class CardBuilder:
    """Draws for one view. `key` signs its buttons, and `where` says which view they are in."""

    names: PlaceNames
    key: ButtonKey
    where: Where = ON_CARD

    @classmethod
    def of(
        cls, names: Names, key: ButtonKey, link: MessageLink = no_url, where: Where = ON_CARD
    ) -> CardBuilder:
        return cls(place_names(names, link), key, where)

    def at(self, where: Where) -> CardBuilder:
        return replace(self, where=where)

    @property
    def in_short(self) -> CardBuilder:
        """The same, but people's names are cut: for what doesn't fit otherwise."""
        return replace(self, names=replace(self.names, longest_person=SHORT_NAME))

    def line(self, line: Line, look: Look | None = None, **more: object) -> Json:
        return rich_text(runs(line, self.names, look), **more)

    def lines(self, lines: Iterable[Line], look: Look | None = None) -> list[Json]:
        """Each line in its own element. Empty lines are left out."""
        return [self.line(line, look, spacing="small") for line in lines if line]

    def small_lines(self, lines: Iterable[Line]) -> list[Json]:
        return self.lines(lines, SMALL)

    def alerts(self, lines: Iterable[Line]) -> list[Json]:
        """Warnings, each with its sign."""
        return self.lines(lines, ALERT)

    def facts(self, facts: Iterable[Line]) -> list[Json]:
        """All facts on one line; [] without facts."""
        joined: list[Line] = []
        for fact in facts:
            joined += [(SEPARATOR, *fact)] if joined else [fact]
        return self.small_lines([tuple(span for line in joined for span in line)])

    def arguments(self, head: Line, arguments: Iterable[Argument]) -> list[Json]:
        """Label and value on one line; a longer value in a box."""
        elements: list[Json] = []
        spans = [*head]
        for label, argument in argument_heads(arguments):
            spans += [*([Text("\n")] if spans else []), *label]
            if argument.style != "line":
                elements += [*self.lines([tuple(spans)]), box(argument, argument.value)]
                spans = []
        return [*elements, *self.lines([tuple(spans)])]

    def buttons(self, buttons: Sequence[Button]) -> list[Json]:
        """The buttons in sets, the rare ones in a menu; [] without buttons."""
        return action_sets([self.button(one) for one in buttons])

    def button(self, button: Button) -> Json:
        return button_action(button, self.key.data(self.where.kind, self.where.value(button.value)))

    def close(self, review_id: str, label: str) -> Json:
        """The button that leaves what is shown in place of the card."""
        data = close_data(self.key, self.where, review_id)
        return {**execute(label, data), "associatedInputs": "none"}


def box(argument: Argument, text: str) -> Json:
    """A part of an argument's value on its own lines."""
    look: Look = {} if argument.style == "quote" else {"fontType": "monospace"}
    return value_box(text, look)


def value_box(text: str, look: Look) -> Json:
    inner = text_runs(text.replace("\n ", "\n\u00a0"), **look)
    return container([rich_text(inner)], style="emphasis", spacing="small")


def place_names(names: Names, link: MessageLink = no_url) -> PlaceNames:
    """What sentences must know about places in Teams. Without `link` there are no links."""
    return PlaceNames(names, is_conversation, link, channel=NAME)


def is_conversation(place: Place) -> bool:
    """Whether the place has members; otherwise it is one person or group."""
    if place.channel not in ("", NAME):
        return not names_person(place)
    return place.channel == "" or not GUID.fullmatch(place.target.removeprefix(GROUP))
