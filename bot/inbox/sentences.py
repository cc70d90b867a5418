"""What people read after a click that could not be done: the same in every channel."""

from __future__ import annotations

from hitl_core.errors import HitlError, Refused

from ..channels.contract import ChannelError, LookupFailed
from .reply import STORE_UNAVAILABLE

ESCALATE_ON_CARD = (
    "Press the button on the card in its channel, so that it is known from where to escalate."
)


def file_posted(place: str) -> str:
    """`place`: its name for people."""
    return f"The file is below the card in {place}."


def file_refused(channel: str) -> str:
    return f"{channel} refused the file. Press again in a moment."


def file_too_slow(channel: str) -> str:
    return f"{channel} took too long to post the file. Look below the card, or press again."


def form_not_opened(channel: str) -> str:
    return f"{channel} didn't open the form. Press again."


def list_error(error: Exception, channel: str) -> str:
    """Why a person's reviews can't be listed: a sentence that names the system that failed."""
    match error:
        case Refused():
            return str(error)
        case HitlError():
            return STORE_UNAVAILABLE
        case LookupFailed():
            return f"{error}. Tell the people who run the bot."
        case ChannelError():
            return f"{channel} didn't answer a request that this needs: {error}. Try again in a moment."
        case _:
            return f"{channel} or the store took too long to answer. Try again in a moment."
