"""What Agent Inbox's own page offers for an interrupt."""

from __future__ import annotations

from typing import NamedTuple

from hitl_core.dialects.parts import Json, read_object

#: The page shows this interrupt for a value that it can't read: it offers only Ignore.
IMPROPER_INTERRUPT: Json = {
    "action_request": {"action": "improper_schema", "args": {}},
    "config": {
        "allow_ignore": True,
        "allow_respond": False,
        "allow_edit": False,
        "allow_accept": False,
    },
}


class Offers(NamedTuple):
    """The page's prepared responses to one interrupt. `submit`: the type that its button sends, or None."""

    responses: list[Json]
    submit: str | None
    accepts: bool


def page_offers(interrupt: Json) -> Offers:
    """The default is accept, else response, else edit; never ignore."""
    config = read_object(interrupt.get("config"), "`config`")
    accepts, edits, responds, ignores = (
        config.get(flag) is True
        for flag in ("allow_accept", "allow_edit", "allow_respond", "allow_ignore")
    )
    responses: list[Json] = []
    if edits:
        edit: Json = {"type": "edit", "args": interrupt.get("action_request")}
        unchanged: Json = {"editsMade": False} if accepts else {}
        responses.append({**edit, "acceptAllowed": accepts, **unchanged})
    if responds:
        responses.append({"type": "response", "args": ""})
    if ignores:
        responses.append({"type": "ignore", "args": None})
    if accepts:
        responses.append({"type": "accept", "args": None})
    order = (("accept", accepts), ("response", responds), ("edit", edits))
    return Offers(responses, next((word for word, there in order if there), None), accepts)
