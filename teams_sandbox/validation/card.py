"""What Teams requires of a card: the official schema, and our table of Teams' limits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from ..json_checks import Json, is_list, is_object
from .input_limits import input_problems
from .markdown import text_problems
from .mentions import mention_problems
from .schema import schema_problems
from .walk import elements_in

#: In bytes. Older pages of Microsoft and webhooks have this limit; newer parts of Teams accept larger
#: messages.
CARD_BYTES = 28_000
ACTIONS = 6  # of one set
TITLE_LENGTH = 80  # characters of a button's title; a client cuts longer ones
REFRESH_PEOPLE = 60
VERSIONS = ("1.0", "1.1", "1.2", "1.3", "1.4", "1.5")
#: The schema's elements that not every client of Teams draws in a bot's card.
_NOT_IN_TEAMS = frozenset({"Media", "ImageSet", "Action.Submit"})
_URL = re.compile(r"https://[^\s]+\Z|http://(?:127\.0\.0\.1|localhost)[:/][^\s]*\Z")


class CardError(Exception):
    """Teams would refuse this card, or show it in another way than it is written. One line per problem."""


def check_card(card: Json) -> None:
    """Raises CardError unless every client of Teams shows this card as it is written."""
    problems = list(_size_problems(card))
    if not problems:
        plain = {key: value for key, value in card.items() if key != "msteams"}
        problems = list(schema_problems(plain))
    if not problems:
        problems = [
            *_version_problems(card),
            *_id_problems(card),
            *mention_problems(card),
            *(line for at, one in elements_in(card) for line in _element_problems(at, one)),
        ]
    if problems:
        raise CardError("\n".join(problems))


def _size_problems(card: object) -> Iterator[str]:
    if not is_object(card):
        yield "/: a card is a JSON object"
        return
    try:
        text = json.dumps(card, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        size = len(text.encode())
    except (TypeError, ValueError) as error:
        yield f"/: this is no JSON: {error}"
        return
    if size > CARD_BYTES:
        yield f"/: the card has {size} bytes; {CARD_BYTES} are allowed"


def _version_problems(card: Json) -> Iterator[str]:
    if card.get("type") != "AdaptiveCard":
        yield "/type: must be AdaptiveCard"
    version = card.get("version")
    if version not in VERSIONS:
        yield f"/version: {version!r} is not one of {', '.join(VERSIONS)}"
    elif "Action.Execute" in json.dumps(card) and VERSIONS.index(version) < VERSIONS.index("1.4"):
        yield "/version: Action.Execute needs 1.4"
    if not card.get("body") and not card.get("actions"):
        yield "/body: the card is empty"


def _id_problems(card: Json) -> Iterator[str]:
    places: dict[str, str] = {}
    for at, element in elements_in(card):
        name = element.get("id")
        if not isinstance(name, str):
            continue
        if not name:
            yield f"{at}/id: must not be empty"
        elif name in places:
            yield f"{at}/id: {name!r} is the id of {places[name]}, too"
        places.setdefault(name, at)


def _element_problems(at: str, element: Json) -> Iterator[str]:
    kind = str(element.get("type", ""))
    if kind in _NOT_IN_TEAMS:
        yield f"{at}/type: {kind} is not drawn by Teams on each client"
    if is_list(actions := element.get("actions")) and len(actions) > ACTIONS:
        yield f"{at}/actions: {len(actions)} actions; {ACTIONS} are allowed in a set"
    if kind.startswith("Action."):
        yield from _action_problems(at, element)
    if kind.startswith("Input."):
        yield from input_problems(at, element)
    if kind == "Refresh" or (at == "/refresh"):
        yield from _refresh_problems(at, element)
    for key in ("url", "iconUrl", "backgroundImage"):
        if isinstance(url := element.get(key), str) and not _URL.match(url):
            yield f"{at}/{key}: must begin with https://"
    yield from text_problems(at, element)


def _action_problems(at: str, action: Json) -> Iterator[str]:
    title = str(action.get("title", ""))
    if not title.strip() and not at.endswith(("/selectAction", "/refresh/action")):
        yield f"{at}/title: a button needs a title"
    if len(title) > TITLE_LENGTH or "\n" in title:
        yield f"{at}/title: at most {TITLE_LENGTH} characters, in one line"
    if action.get("isEnabled") is False:
        yield f"{at}/isEnabled: Teams draws the button as enabled"
    check = _ACTION_CHECKS.get(str(action["type"]))
    if check is not None:
        yield from check(at, action)


def _execute_problems(at: str, action: Json) -> Iterator[str]:
    if not is_object(action.get("data")):
        yield f"{at}/data: must be an object, because the inputs are added to it"


def _show_card_problems(at: str, action: Json) -> Iterator[str]:
    if "/card/" in at:
        yield f"{at}: a card inside a shown card"


_ACTION_CHECKS: dict[str, Callable[[str, Json], Iterator[str]]] = {
    "Action.Execute": _execute_problems,
    "Action.ShowCard": _show_card_problems,
}


def _refresh_problems(at: str, refresh: Json) -> Iterator[str]:
    people = refresh.get("userIds")
    if is_list(people) and len(people) > REFRESH_PEOPLE:
        yield f"{at}/userIds: {len(people)} people; {REFRESH_PEOPLE} are allowed"
