"""Strict validation of modal views. https://docs.slack.dev/reference/views/modal-views"""

from __future__ import annotations

import json
from collections.abc import Iterator

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

_MOST_BYTES = 250_000


def _blocks(value: object, at: str) -> Iterator[str]:
    yield from block_problems(value, "modal", at)
    if value == []:
        yield problem("no fewer than 1 items allowed", at)


def _can_be_submitted(view: Json, at: str) -> Iterator[str]:
    if "submit" not in view and any(
        block.get("type") == "input" for block in objects(view["blocks"])
    ):
        yield problem("missing required field: submit (the view has an input block)", at)


_MODAL: Check = by_type(
    {
        "modal": both(
            fields(
                {"title": plain(24), "blocks": _blocks},
                {
                    "submit": plain(24),
                    "close": plain(24),
                    "private_metadata": string(3000, least=0),
                    "callback_id": string(255, least=0),
                    "external_id": string(255, least=0),
                    "clear_on_close": boolean,
                    "notify_on_close": boolean,
                    "submit_disabled": boolean,
                },
            ),
            _can_be_submitted,
        )
    }
)


def checked_view(view: object) -> Json:
    """The view, or the error that Slack answers with: `invalid_arguments`, `view_too_large`."""
    if is_object(view) and len(json.dumps(view, ensure_ascii=False).encode()) > _MOST_BYTES:
        raise SlackError("view_too_large")
    found = list(_MODAL(view, "/view"))
    if found or not is_object(view):
        raise malformed("invalid_arguments", found)
    return view
