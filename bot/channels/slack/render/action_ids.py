"""Slack's ids of our buttons: by these Slack finds our listener. Pure."""

from __future__ import annotations

from ....card import Verb
from ....inbox import Press

#: The menu of the rare buttons.
MENU = "more"
#: What has pages: the prefixes of the ids of the buttons to them.
PAGES = ("review_page", "see_page", "home_page")
#: What no option of the menu does.
_NOT_IN_MENU = ("see", "back", "next", "file")


def button_id(verb: Verb, number: int | None, pages_of: str) -> str:
    """No two in one block are equal."""
    match verb:
        case "answer":
            return f"answer:{number}"
        case "ran" | "rerun" | "skip":
            return f"doubt_{verb}"
        case "back":
            return f"{pages_of}:back"
        case "next":
            return f"{pages_of}:next"
        case _:
            return verb


def has_id(press: Press, id: str) -> bool:
    """Whether a button with this id may say this. Otherwise a listener would do something else than what the
    person read.
    """
    if id == MENU:
        return press.verb not in _NOT_IN_MENU
    pages_of = id.partition(":")[0]
    return id == button_id(press.verb, press.number, pages_of) and (
        press.verb not in ("back", "next") or pages_of in PAGES
    )
