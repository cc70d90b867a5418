"""The answers to an invoke `adaptiveCard/action`. Only the person who pressed sees them. Pure.

learn.microsoft.com/adaptive-cards/authoring-cards/universal-action-model#response-format
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ....text import one_line
from ..render import Json
from ..transport import Answer

#: Teams takes an invoke without a text for a failure, and repeats it.
NO_TEXT = "Nothing was changed."


def card_answer(card: Json, on_sent: Callable[[], Awaitable[None]] | None = None) -> Answer:
    """The card is shown in place of the one that was pressed. `on_sent` runs when Teams has it."""
    return _answer("application/vnd.microsoft.card.adaptive", card, on_sent)


def text_answer(text: str) -> Answer:
    """The text is shown above the card, for a moment. The card stays as it is."""
    return _answer("application/vnd.microsoft.activity.message", one_line(text) or NO_TEXT)


def _answer(
    kind: str, value: Json | str, on_sent: Callable[[], Awaitable[None]] | None = None
) -> Answer:
    return Answer({"statusCode": 200, "type": kind, "value": value}, on_sent=on_sent)
