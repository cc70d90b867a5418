"""A page that shows only one card, to take a picture of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal
from urllib.parse import urlencode

from ..json_checks import Json
from ..sandbox import Sandbox
from ..validation import check_card
from ..workspace import Conversation, Message, ids


def single_item_url(
    sandbox: Sandbox,
    card: Json,
    *,
    replies: Sequence[Json] = (),
    theme: Literal["light", "dark"] = "light",
    private: bool = False,
    user: str = ids.ALICE,
) -> str:
    """The address of a page that shows only this card with its `replies` (cards, too), as the person sees it,
    in an element `#alone`, which is empty until all is drawn. `private`: it is in the person's own chat with
    the app. Raises CardError if Teams would refuse one of them."""
    workspace = sandbox.workspace
    person = workspace.users[user]
    place = (
        workspace.open_personal_chat(person) if private else workspace.conversations[ids.APPROVALS]
    )
    root = _add(sandbox, place, card)
    for reply in replies:
        _add(sandbox, place, reply, root.id)
    workspace.notify_change()
    query = {"only": "message", "user": user, "conversation": place.id, "message": root.id}
    return f"{sandbox.url}/?{urlencode({**query, 'theme': theme})}"


def _add(sandbox: Sandbox, place: Conversation, card: Json, root: str | None = None) -> Message:
    check_card(card)
    message = sandbox.workspace.add_message(place, sandbox.app.mri, root=root)
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    message.attachments = [attachment]
    return message
