"""The answers to an invoke `adaptiveCard/action`, which only the person who pressed sees; and how an error of
any handler becomes one sentence, and one line in the log.

learn.microsoft.com/adaptive-cards/authoring-cards/universal-action-model#response-format
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from hitl_core.errors import HitlError, Refused

from .... import refusals
from ....inbox import list_error
from ....logs import trace_of
from ....text import one_line
from ...contract import ChannelError
from ..places import LABEL
from ..render import Json
from ..transport import Answer, InvalidActivity

log = logging.getLogger(__name__)

#: Teams treats an invoke without a text as a failure, and repeats it.
NO_TEXT = "Nothing was changed."


def card_answer(card: Json, on_sent: Callable[[], Awaitable[None]] | None = None) -> Answer:
    """The card is shown in place of the pressed one. `on_sent` runs after Teams has received it."""
    return _answer("application/vnd.microsoft.card.adaptive", card, on_sent)


def text_answer(text: str) -> Answer:
    """The text is shown above the card, for a moment. The card stays as it is."""
    return _answer("application/vnd.microsoft.activity.message", one_line(text) or NO_TEXT)


def _answer(
    kind: str, value: Json | str, on_sent: Callable[[], Awaitable[None]] | None = None
) -> Answer:
    return Answer({"statusCode": 200, "type": kind, "value": value}, on_sent=on_sent)


def explain(error: Exception, what: str) -> str:
    """The sentence for an error. `what` names the failed thing in the log, for example "a press"."""
    match error:
        case Refused():
            pass
        case InvalidActivity():
            log.error("%s in Teams could not be read: %s", what, error)
            return refusals.UNREADABLE_BUTTON
        case HitlError() | ChannelError() | TimeoutError():
            text = error or "it took too long"
            log.warning("%s in Teams failed: %s", what, text)
        case _:
            log.error("%s in Teams failed: %s", what, trace_of(error))
    return one_line(list_error(error, LABEL))
