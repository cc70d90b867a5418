"""The fields of Slack's payloads that this bot reads.

Checked once, before Bolt: a listener gets only the fields that are declared here, with their types. To read
another field or to listen to another event, declare it here.

https://docs.slack.dev/reference/interaction-payloads, https://docs.slack.dev/reference/events
"""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    StringConstraints,
    ValidationError,
    model_validator,
)

from hitl_core.model import parse_whole_number, unparsed_has_more_values

from ....web import read_form

#: The most JSON values in one payload. A view of 250 kB has about 25,000.
MAX_VALUES = 40_000
#: A slash command has about a dozen fields.
MAX_FIELDS = 50

Payload = dict[str, Any]
Id = Annotated[str, StringConstraints(pattern="^[A-Za-z0-9_.:-]{1,255}$")]
Text = Annotated[str, StringConstraints(max_length=3000)]
Ts = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,16}\.[0-9]{1,16}$")]
Count = Annotated[int, Field(ge=0, le=1_000_000)]


class InvalidPayload(Exception):
    """The payload is not as Slack documents it. `status` is 400, or 404 for a kind of payload without a
    listener. The text names the field and quotes no value.
    """

    def __init__(self, why: str, status: int = 400) -> None:
        super().__init__(why)
        self.status = status


def _check_typed_text(value: Any) -> Any:
    """Text that a person typed. Half a character is allowed here; the person gets an error for it later."""
    if value is not None and not isinstance(value, str):
        raise ValueError("not text")
    return value


class _PayloadModel(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class _NamedObject(_PayloadModel):
    id: Id
    name: Text | None = None


class _User(_NamedObject):
    username: Text | None = None
    team_id: Id | None = None


class _Option(_PayloadModel):
    value: Text


class _Action(_PayloadModel):
    type: Text
    action_id: Text
    block_id: Text = ""
    value: Text | None = None
    selected_option: _Option | None = None


class _Container(_PayloadModel):
    type: Literal["message", "view", "message_attachment"]
    channel_id: Id | None = None
    message_ts: Ts | None = None
    is_ephemeral: bool = False

    @model_validator(mode="after")
    def _check_message(self) -> Self:
        if self.type == "message" and (self.channel_id is None or self.message_ts is None):
            raise ValueError("a message has a channel_id and a message_ts")
        return self


class _Input(_PayloadModel):
    type: Text = ""
    value: Annotated[Any, PlainValidator(_check_typed_text)] = None
    selected_option: _Option | None = None
    selected_options: list[_Option] | None = None
    selected_date: Text | None = None
    selected_time: Text | None = None
    selected_date_time: int | None = None


class _State(_PayloadModel):
    values: dict[str, dict[str, _Input]]


class _Block(_PayloadModel):
    type: Text
    block_id: Text


class _Metadata(_PayloadModel):
    """The metadata of our modals: see `ids.private_metadata`."""

    review: Text
    action: Text
    revision: Count
    page: Count = 0
    kept: bool = False
    tool: Text | None = None
    under: Text | None = None
    turn: Count = 0
    card: tuple[Id, Ts] | None = None


class _View(_PayloadModel):
    id: Id
    type: Literal["modal", "home"]
    hash: Text
    callback_id: Text = ""
    private_metadata: Text = ""
    previous_view_id: Id | None = None
    state: _State
    blocks: list[_Block]

    @model_validator(mode="after")
    def _check_metadata(self) -> Self:
        """Every modal belongs to a review, some also to a card or a place."""
        if self.type == "modal":
            meta = _Metadata.model_validate_json(self.private_metadata)
            if self.callback_id == "escalate" and meta.card is None:
                raise ValueError("this modal belongs to a card")
            if self.callback_id == "review" and meta.under is None:
                raise ValueError("this modal belongs to a place")
        return self


class _BlockActions(_PayloadModel):
    type: Literal["block_actions"]
    user: _User
    trigger_id: Text
    container: _Container
    channel: _NamedObject | None = None
    view: _View | None = None
    response_url: Text | None = None
    actions: Annotated[list[_Action], Field(min_length=1)]

    @model_validator(mode="after")
    def _check_location(self) -> Self:
        if self.view is None and (self.channel is None or self.container.type == "view"):
            raise ValueError("it is neither in a view nor in a channel")
        return self


class _Submission(_PayloadModel):
    type: Literal["view_submission"]
    user: _User
    trigger_id: Text = ""
    view: _View


class _Command(_PayloadModel):
    command: Text
    text: Text = ""
    user_id: Id
    team_id: Id
    channel_id: Id | None = None
    response_url: Text | None = None


class _Event(_PayloadModel):
    type: Text


class _HomeOpenedEvent(_Event):
    user: Id
    tab: Text


class _UserChangeEvent(_Event):
    user: _NamedObject


class _Group(_PayloadModel):
    id: Id
    handle: Text | None = None


class _GroupUpdatedEvent(_Event):
    subteam: _Group


class _GroupMembersEvent(_Event):
    subteam_id: Id


class _ChannelIdEvent(_Event):
    channel: Id


class _Channel(_PayloadModel):
    id: Id
    name: Text


class _ChannelRenameEvent(_Event):
    channel: _Channel


_EVENT_MODELS: dict[str, type[_Event]] = {
    "app_home_opened": _HomeOpenedEvent,
    "user_change": _UserChangeEvent,
    "subteam_updated": _GroupUpdatedEvent,
    "subteam_members_changed": _GroupMembersEvent,
    "member_joined_channel": _ChannelIdEvent,
    "member_left_channel": _ChannelIdEvent,
    "channel_archive": _ChannelIdEvent,
    "group_archive": _ChannelIdEvent,
    "channel_rename": _ChannelRenameEvent,
    "group_rename": _ChannelRenameEvent,
}


class _EventCallback(_PayloadModel):
    type: Literal["event_callback"]
    team_id: Id | None = None
    event: dict[str, Any]


class _Challenge(_PayloadModel):
    type: Literal["url_verification"]
    challenge: Text


class _SslCheck(_PayloadModel):
    ssl_check: Text


_KIND_PATTERN = re.compile("[a-z_ ]{1,40}")
_PAYLOAD_MODELS: dict[str, type[_PayloadModel]] = {
    "block_actions": _BlockActions,
    "view_submission": _Submission,
    "url_verification": _Challenge,
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
        if unparsed_has_more_values(text.encode(), MAX_VALUES):
            raise InvalidPayload(f"it has more than {MAX_VALUES:,} JSON values")
        return validate_payload(json.loads(text, parse_int=parse_whole_number))
    except (ValueError, RecursionError):
        raise InvalidPayload("its body is neither JSON nor a form") from None


def validate_payload(payload: object) -> Payload:
    """The payload with only the fields that are declared here. Raises InvalidPayload."""
    if not isinstance(payload, dict):
        raise InvalidPayload("it is no object")
    fields = cast(Payload, payload)
    try:
        if fields.get("type") == "event_callback":
            envelope = _to_dict(_EventCallback.model_validate(fields))
            return {**envelope, "event": _validate_event(envelope["event"])}
        return _to_dict(_model_for(fields).model_validate(fields))
    except ValidationError as error:
        first_error = error.errors(include_url=False, include_context=False, include_input=False)[0]
        location = "/".join(str(part)[:40] for part in first_error["loc"])
        raise InvalidPayload(f"{_kind_name(fields)}: {location or 'it'} is wrong") from None


def _validate_event(event: Payload) -> Payload:
    shape = _EVENT_MODELS.get(str(event.get("type")), _Event)
    return _to_dict(shape.model_validate(event))


def _model_for(payload: Payload) -> type[_PayloadModel]:
    if "command" in payload:
        return _Command
    if "ssl_check" in payload:
        return _SslCheck
    if (kind := _PAYLOAD_MODELS.get(str(payload.get("type")))) is None:
        raise InvalidPayload(
            f"this bot has no listener for this kind of payload: {_kind_name(payload)}", 404
        )
    return kind


def _kind_name(payload: Payload) -> str:
    kind = payload.get("type", "command" if "command" in payload else "no type")
    return kind if isinstance(kind, str) and _KIND_PATTERN.fullmatch(kind) else "a wrong type"


def _to_dict(shape: _PayloadModel) -> Payload:
    return shape.model_dump(exclude_unset=True)
