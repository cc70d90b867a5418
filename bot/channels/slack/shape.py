"""What a payload of Slack looks like, as far as anything here reads it.

Checked once, before Bolt: what a listener gets holds these fields and no others, each as it is declared. To
read another field, or to listen to another event, declare it here.

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

from bot.urlencoded import read_form
from hitl_core.model.amount import has_more_values
from hitl_core.model.arguments import whole_number

#: The most JSON values in one payload: a view of 250 kB has some 25,000.
MAX_VALUES = 40_000
#: A slash command has about a dozen fields.
MAX_FIELDS = 50

Payload = dict[str, Any]
Id = Annotated[str, StringConstraints(pattern="^[A-Za-z0-9_.:-]{1,255}$")]
Text = Annotated[str, StringConstraints(max_length=3000)]
Ts = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,16}\.[0-9]{1,16}$")]
Count = Annotated[int, Field(ge=0, le=1_000_000)]


class WrongShape(Exception):
    """Not what Slack sends. `status`: 400, or 404 for a kind of payload that nobody here listens to. The text
    names the place, and quotes no value.
    """

    def __init__(self, why: str, status: int = 400) -> None:
        super().__init__(why)
        self.status = status


def _typed(value: Any) -> Any:
    """What a person typed: also half a character, about which the person is told."""
    if value is not None and not isinstance(value, str):
        raise ValueError("not text")
    return value


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class _Named(_Shape):
    id: Id
    name: Text | None = None


class _User(_Named):
    username: Text | None = None
    team_id: Id | None = None


class _Option(_Shape):
    value: Text


class _Action(_Shape):
    type: Text
    action_id: Text
    block_id: Text = ""
    value: Text | None = None
    selected_option: _Option | None = None


class _Container(_Shape):
    type: Literal["message", "view", "message_attachment"]
    channel_id: Id | None = None
    message_ts: Ts | None = None
    is_ephemeral: bool = False

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.type == "message" and (self.channel_id is None or self.message_ts is None):
            raise ValueError("a message has a channel_id and a message_ts")
        return self


class _Input(_Shape):
    type: Text = ""
    value: Annotated[Any, PlainValidator(_typed)] = None
    selected_option: _Option | None = None
    selected_options: list[_Option] | None = None
    selected_date: Text | None = None
    selected_time: Text | None = None
    selected_date_time: int | None = None


class _State(_Shape):
    values: dict[str, dict[str, _Input]]


class _Block(_Shape):
    type: Text
    block_id: Text


class _Metadata(_Shape):
    """What our modals carry: see `ids.private_metadata`."""

    review: Text
    action: Text
    revision: Count
    page: Count = 0
    kept: bool = False
    tool: Text | None = None
    under: Text | None = None
    turn: Count = 0
    card: tuple[Id, Ts] | None = None


class _View(_Shape):
    id: Id
    type: Literal["modal", "home"]
    hash: Text
    callback_id: Text = ""
    private_metadata: Text = ""
    previous_view_id: Id | None = None
    state: _State
    blocks: list[_Block]

    @model_validator(mode="after")
    def _about(self) -> Self:
        """Whoever does something in a modal does it about a review."""
        if self.type == "modal":
            meta = _Metadata.model_validate_json(self.private_metadata)
            if self.callback_id == "escalate" and meta.card is None:
                raise ValueError("this modal belongs to a card")
            if self.callback_id == "review" and meta.under is None:
                raise ValueError("this modal belongs to a place")
        return self


class _BlockActions(_Shape):
    type: Literal["block_actions"]
    user: _User
    trigger_id: Text
    container: _Container
    channel: _Named | None = None
    view: _View | None = None
    response_url: Text | None = None
    actions: Annotated[list[_Action], Field(min_length=1)]

    @model_validator(mode="after")
    def _somewhere(self) -> Self:
        if self.view is None and (self.channel is None or self.container.type == "view"):
            raise ValueError("it is neither in a view nor in a channel")
        return self


class _Submission(_Shape):
    type: Literal["view_submission"]
    user: _User
    trigger_id: Text = ""
    view: _View


class _Command(_Shape):
    command: Text
    text: Text = ""
    user_id: Id
    team_id: Id
    channel_id: Id | None = None
    response_url: Text | None = None


class _Event(_Shape):
    type: Text


class _HomeOpened(_Event):
    user: Id
    tab: Text


class _OfPerson(_Event):
    user: _Named


class _Group(_Shape):
    id: Id
    handle: Text | None = None


class _OfGroup(_Event):
    subteam: _Group


class _OfMembers(_Event):
    subteam_id: Id


class _InChannel(_Event):
    channel: Id


class _Room(_Shape):
    id: Id
    name: Text


class _OfChannel(_Event):
    channel: _Room


_EVENTS: dict[str, type[_Event]] = {
    "app_home_opened": _HomeOpened,
    "user_change": _OfPerson,
    "subteam_updated": _OfGroup,
    "subteam_members_changed": _OfMembers,
    "member_joined_channel": _InChannel,
    "member_left_channel": _InChannel,
    "channel_archive": _InChannel,
    "group_archive": _InChannel,
    "channel_rename": _OfChannel,
    "group_rename": _OfChannel,
}


class _Told(_Shape):
    type: Literal["event_callback"]
    team_id: Id | None = None
    event: dict[str, Any]


class _Challenge(_Shape):
    type: Literal["url_verification"]
    challenge: Text


class _SslCheck(_Shape):
    ssl_check: Text


_WORD = re.compile("[a-z_ ]{1,40}")
_KINDS: dict[str, type[_Shape]] = {
    "block_actions": _BlockActions,
    "view_submission": _Submission,
    "url_verification": _Challenge,
}


def payload_of(body: bytes) -> Payload:
    """A request's body: JSON, a form, or a form with JSON in `payload`. Raises WrongShape."""
    try:
        text = body.decode()
        if not text.startswith("{"):
            fields = read_form(text, MAX_FIELDS)
            if "payload" not in fields:
                return checked(fields)
            text = fields["payload"]
        if has_more_values(text.encode(), MAX_VALUES):
            raise WrongShape(f"it has more than {MAX_VALUES:,} JSON values")
        return checked(json.loads(text, parse_int=whole_number))
    except (ValueError, RecursionError):
        raise WrongShape("its body is neither JSON nor a form") from None


def checked(payload: object) -> Payload:
    """The payload with the fields that are declared here. Raises WrongShape."""
    if not isinstance(payload, dict):
        raise WrongShape("it is no object")
    given = cast(Payload, payload)
    try:
        if given.get("type") == "event_callback":
            told = _plain(_Told.model_validate(given))
            return {**told, "event": _event(told["event"])}
        return _plain(_kind(given).model_validate(given))
    except ValidationError as error:
        where = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = "/".join(str(part)[:40] for part in where["loc"])
        raise WrongShape(f"{_name(given)}: {place or 'it'} is wrong") from None


def _event(event: Payload) -> Payload:
    shape = _EVENTS.get(str(event.get("type")), _Event)
    return _plain(shape.model_validate(event))


def _kind(given: Payload) -> type[_Shape]:
    if "command" in given:
        return _Command
    if "ssl_check" in given:
        return _SslCheck
    if (kind := _KINDS.get(str(given.get("type")))) is None:
        raise WrongShape(f"nobody here listens to this kind of payload: {_name(given)}", 404)
    return kind


def _name(given: Payload) -> str:
    kind = given.get("type", "command" if "command" in given else "no type")
    return kind if isinstance(kind, str) and _WORD.fullmatch(kind) else "a wrong type"


def _plain(shape: _Shape) -> Payload:
    return shape.model_dump(exclude_unset=True)
