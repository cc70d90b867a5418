"""Looks up conversations: the id, the size and the name of a place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, assert_never

from hitl_core.errors import StoreUnavailable
from hitl_core.model import DEFAULT_PLACE, Place

from ...answers import read_field
from ...contract import Audience, LookupFailed, NotFound, NotSent, Unreachable
from ..places import CONVERSATION_ID, Address, Destination, parse_place, placeholder_name
from .api import Api, read_guid
from .errors import NO_CONVERSATION, NO_PLACE, read_id
from .references import Reference, References
from .requests import Activity
from .team_channels import TeamChannels
from .tokens import Credentials

T = TypeVar("T")

_NO_CHAT = {
    code: why
    for (_, code), why in NO_PLACE.items()
    if code
    in ("ConversationBlockedByUser", "ForbiddenOperationException", "MemberNotFoundInConversation")
}
_NO_MEMBER = {**NO_CONVERSATION, "MemberNotFoundInConversation": "they are not in it"}
#: At most this many members of a conversation are counted. Nothing depends on a larger number.
ENOUGH_MEMBERS = 1500
_PAGE = 500


class Conversations:
    """`default`: the conversation for cards whose rule names no place, by id or name; "" if another channel
    has the bot's own place.
    """

    def __init__(
        self, api: Api, references: References, credentials: Credentials, default: str
    ) -> None:
        self._api, self.default = api, default
        self.references = references
        self._credentials = credentials
        self.team_channels = TeamChannels(api, references)
        #: Names of people and groups by the target of their place.
        self._labels: dict[str, str] = {}

    async def record(self, activity: Activity) -> None:
        """Record where a validated activity came from. Raises StoreUnavailable."""
        await self.references.record(activity)

    def is_address_new(self, activity: Activity) -> bool:
        """Whether the service URL of this conversation is another one than is known here, or none is."""
        known = self.references.get(activity.conversation.id.partition(";")[0])
        return known is None or known.service_url != activity.service_url

    async def forget(self, conversation: str) -> None:
        """Forget the conversation, because the app was removed from it. Raises StoreUnavailable."""
        await self.references.forget(conversation)

    def destination(self, place: Place) -> Destination:
        return parse_place(place, self.default)

    def audience(self, place: Place) -> Audience:
        return self.destination(place).audience

    def name_of(self, place: Place) -> str:
        kind, target = self.audience(place)
        if kind != "conversation":
            return self._labels.get(target, target)
        id = self.references.cached_pin(target) or target
        if (channel := self.team_channels.get(id)) is not None:
            return channel.label
        known = self.references.get(id)
        return (known.name if known else "") or placeholder_name(target) or DEFAULT_PLACE

    def set_label(self, target: str, label: str) -> None:
        """Set the displayed name of a person or a group."""
        self._labels[target] = label

    async def conversation_id(self, place: Place) -> str:
        """The id of a place's conversation. Raises NotFound if the bot can't see one, and LookupFailed,
        RateLimited or Unreachable if Teams gives no answer.
        """
        audience = self.audience(place)
        await self.references.refresh()
        match audience.kind:
            case "person":
                return await self._open_personal_chat(audience.id)
            case "group":
                raise NotFound(f"{audience.id} is a group: each of its members gets an own message")
            case "conversation":
                return await self._find_conversation(audience.id)
        assert_never(audience.kind)

    async def conversation_size(self, place: Place) -> int:
        """The approximate number of members in a place's conversation, including the bot. Raises NotFound if
        the bot can't use it.
        """
        conversation = await self.conversation_id(place)
        members = await self._members(
            conversation, absent_errors=NO_CONVERSATION, enough=ENOUGH_MEMBERS
        )
        return len(members) + 1

    async def check_conversation(self, place: Place) -> None:
        """Raises NotFound if the bot can't post in this conversation. Whether it is archived is only known
        after a post.
        """
        conversation = await self.conversation_id(place)
        await self._members(conversation, absent_errors=NO_CONVERSATION, enough=1)

    async def _members(
        self,
        conversation: str,
        *,
        absent_errors: dict[str, str] | None = None,
        enough: int | None = None,
    ) -> list[str | None]:
        """The members' ids in Entra: all, or at least `enough`. Anonymous participants of a meeting have
        none. An empty list is no answer, as in Slack: nobody could have pressed, and the card would go to
        others.
        """
        counted = 0

        def is_enough(page: list[str | None]) -> bool:
            nonlocal counted
            counted += len(page)
            return enough is not None and counted >= enough

        async def load(url: str) -> list[str | None]:
            path, query = ("conversations", conversation, "pagedmembers"), f"pageSize={_PAGE}"
            return await self._api.look_up_all(
                self._api.connector("GET", url, *path, query=query, about=conversation),
                "members",
                _read_member,
                absent_errors=absent_errors,
                is_enough=is_enough,
                is_never_empty=True,
            )

        return await self.use(conversation, load)

    async def use(
        self, conversation: str, call: Callable[[str], Awaitable[T]], otherwise: str = ""
    ) -> T:
        """`call` with the address of the conversation: see `References.use`. Raises NotSent if there is
        another chat with the person of a personal chat now.
        """
        team = self.team_channels.team_of(conversation)
        address = Address(conversation, otherwise, team.id if team else "")
        try:
            return await self.references.use(address, call)
        except NotFound as error:
            if await self._is_replaced(conversation, error):
                raise NotSent(f"{error}: the chat with this person is another one now") from error
            raise

    async def _is_replaced(self, conversation: str, error: NotFound) -> bool:
        """Open a personal chat again if Teams says that the bot has none: it may be a former bot's."""
        known = self.references.get(conversation)
        if known is None or not known.person or error.error not in NO_CONVERSATION:
            return False
        try:
            await self.references.forget(conversation)
        except StoreUnavailable as away:
            raise NotSent(f"the store: {away}") from away
        return await self._open_personal_chat(known.person) != conversation

    async def resolve_default(self) -> None:
        """Look up the default conversation and keep its id, so that later renames don't change it. Raises
        what `conversation_id` raises.
        """
        await self.check_conversation(DEFAULT_PLACE)
        self.default = await self.conversation_id(DEFAULT_PLACE)

    async def is_member(self, conversation: str, person: str) -> bool:
        """Whether this person is in the conversation; False if the conversation is gone."""

        async def load(url: str) -> str | None:
            path = ("conversations", conversation, "members", person)
            request = self._api.connector("GET", url, *path, about=conversation)
            return await self._api.look_up(request, _read_member, _NO_MEMBER)

        try:
            await self.use(conversation, load)
        except NotFound:
            return False
        return True

    async def _find_conversation(self, target: str) -> str:
        if CONVERSATION_ID.fullmatch(target):
            return target
        if pinned := await self.references.find_pin(target):
            return _check_pin(target, pinned)
        matches = await self.team_channels.find_by_name(target)
        if len(matches) > 1:
            ids = " and ".join(sorted(matches))
            raise NotFound(f"{ids} are both called {target}: name the channel by its id")
        if not matches:
            raise NotFound(f"there is no team or channel {target} in which the app is installed")
        try:
            return _check_pin(target, await self.references.pin(target, matches[0]))
        except StoreUnavailable as error:
            raise Unreachable(f"the store: {error}") from error

    async def _open_personal_chat(self, person: str) -> str:
        """The id of the personal chat with this person. It never changes, so it is looked up once."""
        if known := self.references.personal_chat(person):
            return known
        url = self.references.service_url(Address(""))
        request = self._api.connector(
            "POST",
            url,
            "conversations",
            body={
                "isGroup": False,
                "bot": {"id": f"28:{self._credentials.client_id}"},
                "members": [{"id": person}],
                "tenantId": self._credentials.tenant_id,
            },
            about=person,
        )
        id = await self._api.look_up(request, read_id, _NO_CHAT)
        chat = Reference(id=id, kind="personal", service_url=url, person=person)
        try:
            await self.references.add(chat)
        except StoreUnavailable as error:
            raise Unreachable(f"the store: {error}") from error
        return id


def _check_pin(name: str, conversation: str) -> str:
    """Raises LookupFailed for one that is damaged: nobody knows to which conversation the name led."""
    if not CONVERSATION_ID.fullmatch(conversation):
        text = f"where {name} led first can't be read: see hitl teams-names forget"
        raise LookupFailed(text)
    return conversation


def _read_member(account: Any) -> str | None:
    """The id in Entra; None for an anonymous participant. Raises ValueError for an account without an id in
    Teams, or with a wrong id in Entra: no member must be missing.
    """
    read_field(account, "id", str)
    id = account.get("aadObjectId") or account.get("objectId")
    return None if id is None else read_guid(id)
