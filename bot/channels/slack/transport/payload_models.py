"""The fields of Slack's payloads that this bot reads. To read another field or to listen to another event,
declare it here.

https://docs.slack.dev/reference/interaction-payloads, https://docs.slack.dev/reference/events
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    StringConstraints,
    model_validator,
)

Id = Annotated[str, StringConstraints(pattern="^[A-Za-z0-9_.:-]{1,255}$")]
Text = Annotated[str, StringConstraints(max_length=3000)]
Ts = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,16}\.[0-9]{1,16}$")]
Count = Annotated[int, Field(ge=0, le=1_000_000)]


def _check_typed_text(value: Any) -> Any:
    """Accepts text that a person typed. Half a character is allowed here, and the person gets an error for it
    later.
    """
    if value is not None and not isinstance(value, str):
        raise ValueError("not text")
    return value


class PayloadModel(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class NamedObject(PayloadModel):
    id: Id
    name: Text | None = None


class User(NamedObject):
    username: Text | None = None
    team_id: Id | None = None


class Option(PayloadModel):
    value: Text


class Action(PayloadModel):
    type: Text
    action_id: Text
    block_id: Text = ""
    value: Text | None = None
    selected_option: Option | None = None


class Container(PayloadModel):
    type: Literal["message", "view", "message_attachment"]
    channel_id: Id | None = None
    message_ts: Ts | None = None
    is_ephemeral: bool = False

    @model_validator(mode="after")
    def _check_message(self) -> Self:
        if self.type == "message" and (self.channel_id is None or self.message_ts is None):
            raise ValueError("a message has a channel_id and a message_ts")
        return self


class Input(PayloadModel):
    type: Text = ""
    value: Annotated[Any, PlainValidator(_check_typed_text)] = None
    selected_option: Option | None = None
    selected_options: list[Option] | None = None
    selected_date: Text | None = None
    selected_time: Text | None = None
    selected_date_time: int | None = None


class State(PayloadModel):
    values: dict[str, dict[str, Input]]


class Block(PayloadModel):
    type: Text
    block_id: Text


class View(PayloadModel):
    """A modal. A wrong private_metadata is not refused here: `ids.parse_meta` makes it a sentence for the
    person.
    """

    id: Id
    type: Literal["modal", "home"]
    hash: Text
    callback_id: Text = ""
    private_metadata: Text = ""
    previous_view_id: Id | None = None
    state: State
    blocks: list[Block]


class BlockActions(PayloadModel):
    type: Literal["block_actions"]
    user: User
    trigger_id: Text
    container: Container
    channel: NamedObject | None = None
    view: View | None = None
    response_url: Text | None = None
    actions: Annotated[list[Action], Field(min_length=1)]

    @model_validator(mode="after")
    def _check_location(self) -> Self:
        if self.view is None and (self.channel is None or self.container.type == "view"):
            raise ValueError("it is neither in a view nor in a channel")
        return self


class Submission(PayloadModel):
    type: Literal["view_submission"]
    user: User
    trigger_id: Text = ""
    view: View


class Command(PayloadModel):
    command: Text
    text: Text = ""
    user_id: Id
    team_id: Id
    channel_id: Id | None = None
    response_url: Text | None = None


class Event(PayloadModel):
    type: Text


class HomeOpenedEvent(Event):
    user: Id
    tab: Text


class UserChangeEvent(Event):
    user: NamedObject


class Group(PayloadModel):
    id: Id
    handle: Text | None = None


class GroupUpdatedEvent(Event):
    subteam: Group


class GroupMembersEvent(Event):
    subteam_id: Id


class ChannelIdEvent(Event):
    channel: Id


class Channel(PayloadModel):
    id: Id
    name: Text


class ChannelRenameEvent(Event):
    channel: Channel


class ChannelIdChangedEvent(Event):
    old_channel_id: Id
    new_channel_id: Id


EVENT_MODELS: dict[str, type[Event]] = {
    "app_home_opened": HomeOpenedEvent,
    "user_change": UserChangeEvent,
    "subteam_updated": GroupUpdatedEvent,
    "subteam_members_changed": GroupMembersEvent,
    "member_joined_channel": ChannelIdEvent,
    "member_left_channel": ChannelIdEvent,
    "channel_archive": ChannelIdEvent,
    "group_archive": ChannelIdEvent,
    "channel_id_changed": ChannelIdChangedEvent,
    "channel_rename": ChannelRenameEvent,
    "group_rename": ChannelRenameEvent,
}


class EventCallback(PayloadModel):
    type: Literal["event_callback"]
    team_id: Id | None = None
    event: dict[str, Any]


class Challenge(PayloadModel):
    type: Literal["url_verification"]
    challenge: Text


class SslCheck(PayloadModel):
    ssl_check: Text
