"""One message, modal or Home tab alone on a page, for a picture of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal
from urllib.parse import urlencode

from bot.sandbox.message import checked_blocks, escaped
from bot.sandbox.server import Sandbox
from bot.sandbox.shapes import Json
from bot.sandbox.view import checked_view
from bot.sandbox.workspace import Ephemeral, Message


def alone(
    sandbox: Sandbox,
    what: Json,
    *,
    replies: Sequence[Json] = (),
    errors: Mapping[str, str] = MappingProxyType({}),
    state: Json | None = None,
    private: bool = False,
    theme: Literal["light", "dark"] = "light",
    user: str = "U0ALICE",
    channel: str = "C0APPROVE",
) -> str:
    """The address of a page that draws this as the person sees it, and nothing else, in an element
    `#alone`, which is empty until all of it is there. `what` is a view, or a message
    (`{"text", "blocks"}`), below which its `replies` are drawn. `state` is what was entered
    into a modal (its `state.values`), and `errors`, by block id, what came back; `private`: only this
    person sees the message.
    Raises SlackError where Slack would refuse it."""
    where = {"user": user, "theme": theme}
    match what.get("type"):
        case "modal":
            sandbox.modals.close(user)
            view = sandbox.modals.open(user, checked_view(what))
            view["errors"] = dict(errors)
            sandbox.modals.typed(view, {**view["state"]["values"], **(state or {})})
            query = {"only": "modal", **where}
        case "home":
            sandbox.homes.publish(user, checked_view(what, "home"), None)
            query = {"only": "home", **where}
        case _ if private:
            blocks = checked_blocks(what.get("blocks", []))
            ts = sandbox.workspace.next_ts()
            notice = Ephemeral(user, channel, ts, escaped(what.get("text", "")), blocks)
            sandbox.workspace.whisper(notice)
            query = {"only": "notice", "channel": channel, **where}
        case _:
            ts = _posted(sandbox, channel, what)
            for reply in replies:
                _posted(sandbox, channel, reply, ts)
            query = {"only": "thread" if replies else "message", "channel": channel, "ts": ts}
            query |= where
    return f"{sandbox.url}/?{urlencode(query)}"


def _posted(sandbox: Sandbox, channel: str, what: Json, thread_ts: str | None = None) -> str:
    app, workspace = sandbox.app, sandbox.workspace
    message = Message(
        channel=channel,
        ts=workspace.next_ts(),
        user=app.user_id,
        text=escaped(what.get("text", "")),
        blocks=checked_blocks(what.get("blocks", [])),
        bot_id=app.bot_id,
        app_id=app.app_id,
        thread_ts=thread_ts,
    )
    return workspace.add(message).ts
