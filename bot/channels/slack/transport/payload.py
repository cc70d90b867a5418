"""Checks Slack's payloads once, before they go to Bolt. A listener gets only the fields that `payload_models`
declares, with their types.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

from pydantic import ValidationError
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from hitl_core.model import parse_whole_number, unparsed_has_more_values

from .... import click_budget
from ....web import read_form
from .payload_models import (
    EVENT_MODELS,
    BlockActions,
    Challenge,
    Command,
    Event,
    EventCallback,
    PayloadModel,
    SslCheck,
    Submission,
)

#: The most JSON values in one payload. A view of 250 kB has about 25,000.
MAX_VALUES = 40_000
#: The most fields of a form. A slash command has about a dozen.
MAX_FIELDS = 50

Payload = dict[str, Any]


class InvalidPayload(Exception):
    """The payload differs from Slack's documentation. `status` is 400, or 404 for a kind of payload without a
    listener. The text names the field and quotes no value.
    """

    def __init__(self, why: str, status: int = 400) -> None:
        super().__init__(why)
        self.status = status


_DECODER = json.JSONDecoder(parse_int=parse_whole_number)
_KIND_PATTERN = re.compile("[a-z_ ]{1,40}")
_PAYLOAD_MODELS: dict[str, type[PayloadModel]] = {
    "block_actions": BlockActions,
    "view_submission": Submission,
    "url_verification": Challenge,
}


def parse_body(body: bytes) -> Payload:
    """Parse a request's body: JSON, a form, or a form with JSON in `payload`. Raises InvalidPayload."""
    try:
        text = body.decode()
        if not text.startswith("{"):
            fields = read_form(text, MAX_FIELDS)
            if "payload" not in fields:
                return validate_payload(fields)
            text = fields["payload"]
        return validate_payload(parse_json(text))
    except (ValueError, RecursionError):
        raise InvalidPayload("its body is neither JSON nor a form") from None


def parse_json(text: str) -> object:
    """JSON from Slack. Its values are counted before it is parsed, because parsing holds the event loop.
    Raises InvalidPayload, ValueError and RecursionError.
    """
    if unparsed_has_more_values(text.encode(), MAX_VALUES):
        raise InvalidPayload(f"it has more than {MAX_VALUES:,} JSON values")
    return _DECODER.decode(text)


def validate_payload(payload: object) -> Payload:
    """The payload with only the declared fields. Raises InvalidPayload."""
    if not isinstance(payload, dict):
        raise InvalidPayload("it is no object")
    fields = cast(Payload, payload)
    try:
        if fields.get("type") == "event_callback":
            envelope = _to_dict(EventCallback.model_validate(fields))
            return {**envelope, "event": _validate_event(envelope["event"])}
        return _to_dict(_model_for(fields).model_validate(fields))
    except ValidationError as error:
        first_error = error.errors(include_url=False, include_context=False, include_input=False)[0]
        location = "/".join(str(part)[:40] for part in first_error["loc"])
        raise InvalidPayload(f"{_kind_name(fields)}: {location or 'it'} is wrong") from None


def _validate_event(event: Payload) -> Payload:
    shape = EVENT_MODELS.get(str(event.get("type")), Event)
    return _to_dict(shape.model_validate(event))


def _model_for(payload: Payload) -> type[PayloadModel]:
    if "command" in payload:
        return Command
    if "ssl_check" in payload:
        return SslCheck
    if (kind := _PAYLOAD_MODELS.get(str(payload.get("type")))) is None:
        raise InvalidPayload(
            f"this bot has no listener for this kind of payload: {_kind_name(payload)}", 404
        )
    return kind


def _kind_name(payload: Payload) -> str:
    kind = payload.get("type", "command" if "command" in payload else "no type")
    return kind if isinstance(kind, str) and _KIND_PATTERN.fullmatch(kind) else "a wrong type"


def _to_dict(shape: PayloadModel) -> Payload:
    return shape.model_dump(exclude_unset=True)


async def dispatch(app: AsyncApp, payload: dict[str, Any]) -> BoltResponse:
    """Passes a valid payload from Slack through Bolt to our listeners. The time of the click starts here.

    Bolt would check the signature and parse the payload again. In its socket mode it accepts a parsed
    payload.
    """
    click_budget.start()
    return await app.async_dispatch(AsyncBoltRequest(mode="socket_mode", body=payload))
