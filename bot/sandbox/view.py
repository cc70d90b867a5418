"""Strict validation of views: modals and Home tabs.

https://docs.slack.dev/reference/views/modal-views
https://docs.slack.dev/reference/views/home-tab-views
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal

from bot.sandbox.blocks import problems as block_problems
from bot.sandbox.errors import SlackError, malformed
from bot.sandbox.shapes import (
    Check,
    Json,
    boolean,
    both,
    by_type,
    fields,
    is_object,
    objects,
    plain,
    problem,
    string,
)

Kind = Literal["modal", "home"]
_MOST_BYTES = 250_000


def _blocks(kind: Kind) -> Check:
    def check(value: object, at: str) -> Iterator[str]:
        yield from block_problems(value, kind, at)
        if value == []:
            yield problem("no fewer than 1 items allowed", at)

    return check


def _can_be_submitted(view: Json, at: str) -> Iterator[str]:
    if "submit" not in view and any(
        block.get("type") == "input" for block in objects(view["blocks"])
    ):
        yield problem("missing required field: submit (the view has an input block)", at)


_NAMED: dict[str, Check] = {
    "private_metadata": string(3000, least=0),
    "callback_id": string(255, least=0),
    "external_id": string(255, least=0),
}
_VIEWS: dict[Kind, Check] = {
    "modal": by_type(
        {
            "modal": both(
                fields(
                    {"title": plain(24), "blocks": _blocks("modal")},
                    {
                        **_NAMED,
                        "submit": plain(24),
                        "close": plain(24),
                        "clear_on_close": boolean,
                        "notify_on_close": boolean,
                        "submit_disabled": boolean,
                    },
                ),
                _can_be_submitted,
            )
        }
    ),
    "home": by_type({"home": fields({"blocks": _blocks("home")}, _NAMED)}),
}


def checked_view(view: object, kind: Kind = "modal") -> Json:
    """The view, or the error that Slack answers with: `invalid_arguments`, `view_too_large`."""
    if is_object(view) and len(json.dumps(view, ensure_ascii=False).encode()) > _MOST_BYTES:
        raise SlackError("view_too_large")
    found = list(_VIEWS[kind](view, "/view"))
    if found or not is_object(view):
        raise malformed("invalid_arguments", found)
    return view
