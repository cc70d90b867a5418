"""The scenes of the gallery of Teams: cards, each made by the product's own code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bot.card import build_card, thread_lines
from bot.channels.teams.render import card_message, thread_card
from tests.channels.scenes import NOW
from tests.gallery.showing import CardOf
from tests.gallery.teams.acme import KEY, POSTED, in_teams, link_to, name_of, of_teams

Json = dict[str, Any]


@dataclass(frozen=True)
class Shown:
    """`card` is the JSON as sent, `replies` are cards below it. `opens`: the title of the button whose
    question is open. `private`: in the chat of one person. `now` is when somebody looks, in seconds."""

    card: Json
    replies: Sequence[Json] = ()
    opens: str | None = None
    private: bool = False
    now: float = NOW + 60


@dataclass(frozen=True)
class Scene:
    """`name` is that of its files, `text` what there is to see."""

    name: str
    text: str
    make: Callable[[], Shown]


def of_card(name: str, text: str, of: CardOf) -> Scene:
    """The same card as in Slack."""

    def shown() -> Shown:
        review, place = of_teams(of.make()), in_teams(of.place)
        card = card_message(build_card(review, place, POSTED), name_of, KEY, link_to)
        lines = thread_lines(review, place) if of.has_thread else []
        replies = [thread_card(line, name_of) for line in lines]
        return Shown(card, replies, find_title(card, of.asks) if of.asks else None)

    return Scene(name, text, shown)


def find_title(card: Json, action_id: str) -> str:
    """The title of the first button that asks for this. `action_id`: as in Slack."""
    verb = action_id.removeprefix("doubt_")
    for element in card["body"]:
        for action in element.get("actions", ()):
            if action["type"] == "Action.ShowCard":
                (yes,) = action["card"]["actions"]
                if yes["data"]["value"].startswith(f"{verb}."):
                    return action["title"]
    raise ValueError(f"no button asks for {verb}")
