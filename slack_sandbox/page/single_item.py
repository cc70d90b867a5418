"""A page that shows only one message, modal or Home tab, to take a picture of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal
from urllib.parse import urlencode

from ..json_checks import Json
from ..sandbox import Sandbox
from ..workspace import Ephemeral, Message, escape_text, validate_blocks, validate_view


def single_item_url(
    sandbox: Sandbox,
    item: Json,
    *,
    replies: Sequence[Json] = (),
    errors: Mapping[str, str] = MappingProxyType({}),
    state: Json | None = None,
    private: bool = False,
    theme: Literal["light", "dark"] = "light",
    user: str = "U0ALICE",
    channel: str = "C0APPROVE",
) -> str:
    """The address of a page that shows only this, as the person sees it, in an element `#alone`, which is
    empty until everything is drawn. `item` is a view, or a message (`{"text", "blocks"}`) with its
    `replies`. `state`: what was entered into a modal (`state.values`). `errors`: the app's answer, by block
    id. `private`: only this person sees the message.
    Raises SlackError if Slack would reject it."""
    where = {"user": user, "theme": theme}
    match item.get("type"):
        case "modal":
            sandbox.modals.close(user)
            view = sandbox.modals.open(user, validate_view(item))
            view["errors"] = dict(errors)
            sandbox.modals.set_state(view, {**view["state"]["values"], **(state or {})})
            query = {"only": "modal", **where}
        case "home":
            sandbox.homes.publish(user, validate_view(item, "home"), None)
            query = {"only": "home", **where}
        case _ if private:
            blocks = validate_blocks(item.get("blocks", []))
            ts = sandbox.workspace.next_ts()
            notice = Ephemeral(user, channel, ts, escape_text(item.get("text", "")), blocks)
            sandbox.workspace.add_ephemeral(notice)
            query = {"only": "notice", "channel": channel, **where}
        case _:
            ts = _add_message(sandbox, channel, item)
            for reply in replies:
                _add_message(sandbox, channel, reply, ts)
            query = {"only": "thread" if replies else "message", "channel": channel, "ts": ts}
            query |= where
    return f"{sandbox.url}/?{urlencode(query)}"


def _add_message(sandbox: Sandbox, channel: str, item: Json, thread_ts: str | None = None) -> str:
    app, workspace = sandbox.app, sandbox.workspace
    message = Message(
        channel=channel,
        ts=workspace.next_ts(),
        user=app.user_id,
        text=escape_text(item.get("text", "")),
        blocks=validate_blocks(item.get("blocks", [])),
        bot_id=app.bot_id,
        app_id=app.app_id,
        thread_ts=thread_ts,
    )
    return workspace.add(message).ts
