"""The fields of Teams' activities that this bot reads, and the check of their types. To read another field,
declare it here.

learn.microsoft.com/azure/bot-service/rest-api/bot-framework-rest-connector-api-reference#activity-object
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    StringConstraints,
    ValidationError,
)
from pydantic.alias_generators import to_camel

from hitl_core.model import is_guid, parse_whole_number, storable_text, unparsed_has_more_values

#: The most JSON values in one activity. A card of 28 kB has about 3,000.
MAX_VALUES = 40_000

Id = Annotated[str, StringConstraints(pattern=r"^[^\s\x00-\x1f\x7f]{1,500}$")]
Url = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
#: With a token of SharePoint in it.
LongUrl = Annotated[str, StringConstraints(min_length=1, max_length=8000)]


class ActivityModel(BaseModel):
    model_config = ConfigDict(
        strict=True, extra="ignore", frozen=True, alias_generator=to_camel, populate_by_name=True
    )


def _to_dict(value: object) -> dict[str, Any]:
    """Teams leaves `data` out, or sends null, if a button has none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _to_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _to_name(value: object) -> str:
    return storable_text(_to_text(value)[:250])


Object = Annotated[dict[str, Any], PlainValidator(_to_dict)]
#: What people write. Half a character in it is no reason to refuse the activity.
Text = Annotated[str, PlainValidator(_to_text)]
Name = Annotated[str, PlainValidator(_to_name)]


class Account(ActivityModel):
    """A person or a bot. `id` is only for this bot; `aad_object_id` is the person in the whole tenant."""

    id: Id
    aad_object_id: Id | None = None
    name: Name = ""

    @property
    def person(self) -> str | None:
        """The person's id: a GUID in lower case. None if it is no GUID."""
        id = (self.aad_object_id or "").lower()
        return id if is_guid(id) else None


def _to_accounts(value: object) -> tuple[Account, ...]:
    """The accounts, checked one by one: the first wrong one ends the check. pydantic would collect an error
    for each of thousands.
    """
    if not isinstance(value, list | None):
        raise ValueError("no list")
    return tuple(map(Account.model_validate, cast(list[object], value or [])))


Accounts = Annotated[tuple[Account, ...], PlainValidator(_to_accounts)]


def _to_mentioned(value: object) -> frozenset[str]:
    """The ids that the mentions in a message name, in lower case. Other entities are ignored."""
    found = set[str]()
    for entity in cast("list[object]", value) if isinstance(value, list) else []:
        match entity:
            case {"type": "mention", "mentioned": {"id": str(id)}}:
                found.add(id.lower())
            case _:
                pass
    return frozenset(found)


Mentioned = Annotated[frozenset[str], PlainValidator(_to_mentioned)]


class Conversation(ActivityModel):
    id: Id
    conversation_type: Id | None = None
    tenant_id: Id | None = None
    name: Name = ""


class Named(ActivityModel):
    id: Id
    name: Name = ""
    aad_group_id: Id | None = None


class Tenant(ActivityModel):
    id: Id


class ChannelData(ActivityModel):
    tenant: Tenant | None = None
    team: Named | None = None
    channel: Named | None = None
    event_type: Id | None = None


class Activity(ActivityModel):
    """One activity. The models are strict: a field of another type refuses the activity."""

    type: Id
    id: Id | None = None
    name: Id | None = None
    channel_id: Id
    service_url: Url
    sender: Account = Field(validation_alias=AliasChoices("from", "sender"))
    recipient: Account
    conversation: Conversation
    channel_data: ChannelData = ChannelData()
    reply_to_id: Id | None = None
    action: Id | None = None
    text: Text = ""
    mentioned: Mentioned = Field(frozenset(), validation_alias="entities")
    members_removed: Accounts = ()
    value: Object = {}

    @property
    def is_for_others(self) -> bool:
        """Whether this is a message that is not written to the bot: neither in its chat with a person, nor
        with a mention. Teams sends all messages of a channel or chat to an app that may read them, also those
        of webhooks and of people from other tenants.
        """
        if self.type != "message" or self.conversation.conversation_type == "personal":
            return False
        return self.recipient.id.lower() not in self.mentioned

    @property
    def tenant_ids(self) -> tuple[str, ...]:
        """All tenants that the activity names, in lower case."""
        tenant = self.channel_data.tenant
        ids = (self.conversation.tenant_id, tenant.id if tenant else None)
        return tuple(id.lower() for id in ids if id)


class Execute(ActivityModel):
    """The action of an invoke `adaptiveCard/action`: a button of a card with the card's inputs."""

    type: Literal["Action.Execute"]
    verb: Name = ""
    data: Object = {}


class ExecuteValue(ActivityModel):
    """The value of that invoke. If Teams itself refreshes the card, the trigger is `automatic`. With any
    trigger other than `manual` it counts as not pressed by a person.
    """

    action: Execute
    trigger: Id | None = None

    @property
    def is_automatic(self) -> bool:
        return self.trigger not in (None, "manual")


class UploadInfo(ActivityModel):
    """Where to write a file that a person accepted. `upload_url` gives the right to do it: it is a secret."""

    content_url: LongUrl
    upload_url: LongUrl
    name: Name
    unique_id: Id
    file_type: Name = ""


class FileConsent(ActivityModel):
    """The value of an invoke `fileConsent/invoke`: a person accepted or declined a file."""

    action: Literal["accept", "decline"]
    context: Object = {}
    upload_info: UploadInfo | None = None


M = TypeVar("M", bound=ActivityModel)


class InvalidActivity(Exception):
    """The activity differs from Teams' documentation. The text names the field and quotes no value."""


def parse_activity(body: bytes) -> Activity:
    """Raises InvalidActivity."""
    try:
        if unparsed_has_more_values(body, MAX_VALUES):
            raise InvalidActivity(f"it has more than {MAX_VALUES:,} JSON values")
        fields = json.loads(body.decode(), parse_int=parse_whole_number)
    except (ValueError, RecursionError):
        raise InvalidActivity("its body is no JSON that can be read") from None
    if not isinstance(fields, dict):
        raise InvalidActivity("it is no object")
    return _validate(Activity, cast(object, fields))


def parse_execute(activity: Activity) -> ExecuteValue:
    """Raises InvalidActivity."""
    return _validate(ExecuteValue, activity.value)


def parse_file_consent(activity: Activity) -> FileConsent:
    """Raises InvalidActivity."""
    return _validate(FileConsent, activity.value)


def _validate(model: type[M], fields: object) -> M:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        location = "/".join(str(part)[:40] for part in first["loc"])
        raise InvalidActivity(f"{location or 'it'} is wrong") from None
