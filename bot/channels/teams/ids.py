"""The values of our buttons and forms in a card, and how they are read back. Pure.

Every client can read the `data` of an action, and can send any data. So each has a MAC, made with the bot's
own key, which also covers the conversation for which it was drawn. It has ids, never data of a review.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, cast, get_args

from pydantic import TypeAdapter

from hitl_core.errors import Refused
from hitl_core.model import Place

from ... import refusals
from ...card import Button
from ...forms import FormRef

#: The name of this channel, in places, messages and people.
NAME = "teams"

#: Where a button is: on the card, in the Home, or on a page of the Review. "form": it belongs to an open
#: form. "close": it leaves what is shown in place of the card. "file": a file that the person may accept.
Kind = Literal["press", "home", "review", "form", "close", "file"]
#: What a button of a form does: send the page, go to the page before, or show the fields of another choice.
FormVerb = Literal["send", "back", "redraw"]
KEY_BYTES = 32
_MAC_BYTES = 16


@dataclass(frozen=True)
class Where:
    """The view that has a button. It decides what is shown after a press. Only a page of the Review has a
    place and a number; it also has the id of a digest if its pages are the digest's reviews. `in_home`: it
    was opened in a Home, or in a card that a person asked for; only these lead back to the Home.
    """

    kind: Literal["press", "home", "review"] = "press"
    place: Place | None = None
    number: int = 0
    digest: str = ""
    in_home: bool = False

    @property
    def opened_in(self) -> Where:
        """The view in which a Review was opened. "Close" of the Review leads there."""
        return IN_HOME if self.in_home else ON_CARD

    def value(self, button: str) -> str:
        """The value of a `Button`, with this view."""
        if self.kind != "review":
            return button
        return f"{self.number}:{self.digest}:{_HOME * self.in_home} {button} {self.place}"

    @classmethod
    def parse(cls, kind: Kind, value: str) -> tuple[Self, str]:
        """The view, and the button's value. Raises Refused."""
        match kind:
            case "press":
                return cls(), value
            case "home":
                return cls("home", in_home=True), value
            case "review":
                page, _, rest = value.partition(" ")
                number, digest, home = page.split(":")
                button, _, place = rest.partition(" ")
                return cls("review", Place(place), int(number), digest, home == _HOME), button
            case _:
                raise unreadable()


ON_CARD, IN_HOME = Where(), Where("home", in_home=True)
_HOME = "home"


@dataclass(frozen=True)
class OpenForm:
    """What comes back with a form's entries: the form, the inputs of its page, and where it was opened."""

    session_id: str
    ref: FormRef
    ids: tuple[str, ...] = ()
    where: Where = ON_CARD

    def to_value(self) -> str:
        return _FORM.dump_json(self, exclude_defaults=True).decode()

    @classmethod
    def parse(cls, value: str) -> OpenForm:
        """Reads the value. Raises Refused, for example if another version of the bot made it."""
        try:
            return _FORM.validate_json(value)
        except ValueError as error:
            raise Refused("unknown_action", refusals.UNREADABLE_MODAL) from error


_FORM = TypeAdapter(OpenForm)


class ButtonKey:
    """The key of the MACs: 32 random bytes, the same for all bots. `conversation`: where the buttons are; in
    another conversation they are not accepted.
    """

    def __init__(self, key: bytes, conversation: str = "") -> None:
        """Raises ValueError for a shorter key, because that could be guessed."""
        if len(key) < KEY_BYTES:
            raise ValueError(f"The key of the buttons has {len(key)} bytes; it needs {KEY_BYTES}.")
        self._key, self._conversation = key, conversation

    def within(self, conversation: str) -> ButtonKey:
        """The same key for another conversation. A thread's id is removed from the conversation's id."""
        return ButtonKey(self._key, conversation)

    def data(self, kind: Kind, value: str) -> dict[str, str]:
        """The `data` of an action."""
        return {"hitl": kind, "value": value, "mac": self._mac(kind, value)}

    def read(self, data: Mapping[str, object]) -> tuple[Kind, str]:
        """The kind and the value. Raises Refused if we did not write them."""
        kind, value, mac = (data.get(name) for name in ("hitl", "value", "mac"))
        if kind in get_args(Kind) and isinstance(value, str) and isinstance(mac, str):
            known = cast(Kind, kind)
            if self._is_ours(known, value, mac):
                return known, value
        raise unreadable()

    def _is_ours(self, kind: str, value: str, mac: str) -> bool:
        try:
            return hmac.compare_digest(self._mac(kind, value).encode(), mac.encode())
        except UnicodeEncodeError:  # half a surrogate pair
            return False

    def _mac(self, kind: str, value: str) -> str:
        signed = f"{self._conversation}\0{kind}\0{value}".encode()
        mac = hmac.digest(self._key, signed, "sha256")[:_MAC_BYTES]
        return urlsafe_b64encode(mac).decode().rstrip("=")


def close_data(key: ButtonKey, where: Where, review_id: str) -> dict[str, str]:
    """The data of the button that closes what is shown in place of the card, the Home, or a Review's page."""
    match where.kind:
        case "press":
            return key.data("close", review_id)
        case "home":
            return key.data("close", "")
        case "review":
            button = Button("next", "", "", review_id, number=where.number)
            return key.data("review", where.value(button.value))


def message_mark(review_id: str, place: Place) -> str:
    """The id of the first element of our messages about a review. A message is found again by it."""
    return f"hitl:{review_id}:{place}"


def with_mark(card: dict[str, Any], mark: str) -> dict[str, Any]:
    """The card with this mark."""
    first, *rest = card["body"]
    return {**card, "body": [{**first, "id": mark}, *rest]}


def without_mark(card: dict[str, Any]) -> dict[str, Any]:
    """The card without its mark, for a message that is not the card of a place."""
    first, *rest = card["body"]
    return {**card, "body": [{key: first[key] for key in first if key != "id"}, *rest]}


def mark_of(card: Mapping[str, object]) -> str:
    """The mark of one of our cards; "" if it has none. It must be at its own position, because any text of
    the card may look like a mark.
    """
    try:
        mark = str(cast(Any, card)["body"][0]["id"])
    except (KeyError, IndexError, TypeError):
        return ""
    return mark if mark.startswith("hitl:") else ""


def unreadable() -> Refused:
    return Refused("unknown_action", refusals.UNREADABLE_BUTTON)
