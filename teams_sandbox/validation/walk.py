"""All objects of a card, with their JSON pointers."""

from __future__ import annotations

from collections.abc import Iterator

from ..json_checks import Json, is_list, is_object

#: The keys of data for the bot, which no client shows.
_DATA = frozenset({"data", "msteams", "metadata", "requires"})


def elements_in(value: object, at: str = "") -> Iterator[tuple[str, Json]]:
    """Each object in the value with its JSON pointer: elements, inlines, actions, choices and facts, in the
    order of the card. Not what is in the data of actions."""
    if is_object(value):
        yield at, value
        for key, part in value.items():
            if key not in _DATA:
                yield from elements_in(part, f"{at}/{key}")
    elif is_list(value):
        for index, part in enumerate(value):
            yield from elements_in(part, f"{at}/{index}")


def inputs_in(card: Json) -> Iterator[tuple[str, Json]]:
    """The card's inputs, with their pointers."""
    for at, element in elements_in(card):
        if str(element.get("type", "")).startswith("Input."):
            yield at, element
