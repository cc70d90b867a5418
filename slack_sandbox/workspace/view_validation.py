"""Strict validation of views: modals and Home tabs.

https://docs.slack.dev/reference/views/modal-views
https://docs.slack.dev/reference/views/home-tab-views
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal

from ..errors import SlackError, error_with_problems
from ..json_checks import (
    Check,
    Json,
    boolean,
    by_type,
    check_then,
    fields,
    is_object,
    objects_in,
    plain,
    problem,
    string,
)
from ..validation import problems as block_problems

ViewKind = Literal["modal", "home"]
_MAX_BYTES = 250_000


def _blocks(kind: ViewKind) -> Check:
    def check(value: object, at: str) -> Iterator[str]:
        yield from block_problems(value, kind, at)
        if value == []:
            yield problem("no fewer than 1 items allowed", at)

    return check


def _submit_problems(view: Json, at: str) -> Iterator[str]:
    if "submit" not in view and any(
        block.get("type") == "input" for block in objects_in(view["blocks"])
    ):
        yield problem("missing required field: submit (the view has an input block)", at)


_COMMON_FIELDS: dict[str, Check] = {
    "private_metadata": string(3000, least=0),
    "callback_id": string(255, least=0),
    "external_id": string(255, least=0),
}
_VIEWS: dict[ViewKind, Check] = {
    "modal": by_type(
        {
            "modal": check_then(
                fields(
                    {"title": plain(24), "blocks": _blocks("modal")},
                    {
                        **_COMMON_FIELDS,
                        "submit": plain(24),
                        "close": plain(24),
                        "clear_on_close": boolean,
                        "notify_on_close": boolean,
                        "submit_disabled": boolean,
                    },
                ),
                _submit_problems,
            )
        }
    ),
    "home": by_type({"home": fields({"blocks": _blocks("home")}, _COMMON_FIELDS)}),
}


def validate_view(view: object, kind: ViewKind = "modal") -> Json:
    """The view. Raises the error that Slack answers with: `invalid_arguments`, `view_too_large`."""
    if is_object(view) and len(json.dumps(view, ensure_ascii=False).encode()) > _MAX_BYTES:
        raise SlackError("view_too_large")
    errors = list(_VIEWS[kind](view, "/view"))
    if errors or not is_object(view):
        raise error_with_problems("invalid_arguments", errors)
    return view
