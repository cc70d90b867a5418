"""The conversations in which the app is installed, from validated activities. They are in the store, so all
bots know them, also after a restart.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Literal, TypeVar

from hitl_core.errors import StoreUnavailable
from hitl_core.model import Value
from hitl_core.store import Store

from ....health import Health
from ....shared_reads import SharedReads
from ...contract import NotFound, NotSent
from ...pinned_names import PREFIX, pinned_names
from ..ids import NAME
from ..places import Address
from .errors import NO_CONVERSATION
from .requests import Activity

log = logging.getLogger(__name__)

#: How old the loaded data may be, in seconds, because other bots change it too.
MAX_AGE = 30.0
_REFERENCE = "conversation:"
#: The subject of the problem in `Health`.
_SUBJECT = "Teams: conversations"
T = TypeVar("T")
Kind = Literal["channel", "groupChat", "personal"]
_KINDS: tuple[Kind, ...] = ("channel", "groupChat", "personal")


class Reference(Value):
    """One conversation. `service_url`: the address that serves it. `team`: the id of a channel's team.
    `person`: the GUID of the person of a personal chat. `name`: the name of a group chat, for people.
    """

    id: str
    kind: Kind
    service_url: str
    team: str = ""
    person: str = ""
    name: str = ""


class References:
    """Methods raise StoreUnavailable, unless they document something else."""

    def __init__(self, store: Store, health: Health) -> None:
        self._store, self._health = store, health
        self._all: dict[str, Reference] = {}
        #: The ids of each person's chats, and of each team's channels ("": the group chats).
        self._chats = defaultdict[str, set[str]](set)
        self._channels = defaultdict[str, set[str]](set)
        self._pins: dict[str, str] = {}
        #: The conversations of which what is stored can't be read. It keeps nobody from the others.
        self.unreadable: list[str] = []
        self._loaded_at = float("-inf")
        self._reads = SharedReads()
        #: What this bot changed while it read the store: what it reads may be older. None: forgotten.
        self._changed: dict[str, Reference | None] = {}

    async def refresh(self, *, now: bool = False) -> None:
        """Load what other bots changed, if the data is older than MAX_AGE. `now`: load it in any case,
        and raise NotSent if that fails, for a caller that may conclude that there is none. Without
        `now` it is raised if nothing is known yet.
        """
        if time.monotonic() - self._loaded_at < MAX_AGE and not now:
            return
        try:
            await self._reads.read("", self._load)
        except StoreUnavailable as error:
            if now or self._loaded_at == float("-inf"):
                raise NotSent(f"the store: {error}") from error
            log.warning("Teams' conversations could not be loaded again: %s", error)

    async def _load(self) -> None:
        self._changed = {}
        values = await self._store.channel_values(NAME)
        found = {
            name.removeprefix(_REFERENCE): _read(name, data)
            for name, data in values.items()
            if name.startswith(_REFERENCE)
        }
        self.unreadable = [id for id, one in found.items() if one is None]
        self._report()
        forgotten = dict.fromkeys(self._all)
        for id, one in (forgotten | found | self._changed).items():
            self._put(id, one)
        self._pins = pinned_names(values)
        self._loaded_at = time.monotonic()

    def _report(self) -> None:
        if not self.unreadable:
            self._health.resolve("place", _SUBJECT)
            return
        text = (
            f"What is stored of the conversation {self.unreadable[0]} in Teams can't be read (of"
            f" {len(self.unreadable)} in all). Write to the app there: then it is stored again. If it is"
            f" gone, delete {_REFERENCE}{self.unreadable[0]} in hitl:channel:{NAME}."
        )
        self._health.report("place", _SUBJECT, text)

    def get(self, conversation: str) -> Reference | None:
        return self._all.get(conversation)

    def all(self) -> list[Reference]:
        return list(self._all.values())

    def service_url(self, address: Address) -> str:
        """The address that serves the conversation. If neither it nor its team is known, it is that of any
        conversation; "" if none is known.
        """
        if (known := self._all.get(address.conversation)) is not None:
            return known.service_url
        if address.otherwise:
            return address.otherwise
        same_team = self._channels.get(address.team or address.conversation)
        return next((self._all[id].service_url for id in same_team or self._all), "")

    async def use(self, address: Address, call: Callable[[str], Awaitable[T]]) -> T:
        """`call` with the `service_url`. If it raises NotFound because there is no such conversation, and
        another bot has recorded another address, once more with that.
        """
        url = self.service_url(address)
        try:
            return await call(url)
        except NotFound as error:
            if error.error in NO_CONVERSATION:
                await self.refresh(now=True)
                if (newer := self.service_url(address)) != url:
                    return await call(newer)
            raise

    def personal_chat(self, person: str) -> str | None:
        """The id of the chat with this person; None if it is unknown."""
        return next(iter(self._chats.get(person, ())), None)

    def teams(self) -> set[str]:
        """The ids of the teams in which the app is installed."""
        return {team for team, channels in self._channels.items() if team and channels}

    async def record(self, activity: Activity) -> None:
        """Record where an activity came from. Only for validated activities, because our tokens are sent to
        its service URL. A person has one chat: any other one is of a former registration of the bot.
        """
        conversation, data = activity.conversation, activity.channel_data
        kind = "channel" if data.team else conversation.conversation_type
        if kind not in _KINDS:
            return
        new = Reference(
            id=conversation.id.partition(";")[0],
            kind=kind,
            service_url=activity.service_url,
            team=data.team.id if data.team else "",
            person=(activity.sender.person or "") if kind == "personal" else "",
            name=conversation.name if kind == "groupChat" else "",
        )
        await self.save(new)
        for id in self._chats.get(new.person, set()) - {new.id}:
            await self.forget(id)

    async def save(self, new: Reference) -> None:
        """Save a conversation. What the activity does not say is kept. It is compared with the store, because
        other bots change it too.
        """
        key, data = f"{_REFERENCE}{new.id}", _to_json(new)
        stored = await self._store.add_channel_value(NAME, key, data)
        if stored != data:
            if (old := _read(key, stored)) is not None:
                new = old.model_copy(update=new.model_dump(exclude_defaults=True))
            if new != old:
                await self._store.save_channel_value(NAME, key, _to_json(new))
        self._set(new.id, new)

    async def add(self, new: Reference) -> None:
        """Save a conversation whose address is only assumed, unless it is stored already."""
        key = f"{_REFERENCE}{new.id}"
        stored = await self._store.add_channel_value(NAME, key, _to_json(new))
        self._set(new.id, _read(key, stored) or new)

    async def forget(self, conversation: str) -> None:
        """Forget the conversation, because the app was removed from it; for a team's channel General, forget
        the whole team.
        """
        id = conversation.partition(";")[0]
        # Also one that can't be read.
        await self._store.drop_channel_value(NAME, f"{_REFERENCE}{id}")
        await self._reads.read("", self._load)
        self._set(id, None)
        for channel in list(self._channels.get(id, ())):
            await self._store.drop_channel_value(NAME, f"{_REFERENCE}{channel}")
            self._set(channel, None)

    def _set(self, id: str, reference: Reference | None) -> None:
        self._changed[id] = reference
        self._put(id, reference)

    def _put(self, id: str, reference: Reference | None) -> None:
        if (old := self._all.pop(id, None)) is not None:
            self._siblings(old).discard(id)
        if reference is not None:
            self._all[id] = reference
            self._siblings(reference).add(id)

    def _siblings(self, one: Reference) -> set[str]:
        return self._chats[one.person] if one.person else self._channels[one.team]

    def cached_pin(self, name: str) -> str | None:
        """The first conversation to which this name led, as far as it is known here."""
        return self._pins.get(name)

    async def find_pin(self, name: str) -> str | None:
        """The first conversation to which this name led for any bot. Raises NotSent."""
        if name not in self._pins:
            await self.refresh(now=True)
        return self._pins.get(name)

    def pins_of(self, conversation: str) -> frozenset[str]:
        """The names that lead to this conversation."""
        return frozenset(name for name, id in self._pins.items() if id == conversation)

    async def pin(self, name: str, conversation: str) -> str:
        """Let the name always lead to this conversation, so that nobody takes over a place by taking its
        name. If the name already leads somewhere, that stays. Returns the conversation to which it leads.
        """
        data = await self._store.add_channel_value(NAME, f"{PREFIX}{name}", conversation.encode())
        return self._pins.setdefault(name, data.decode(errors="replace"))


def _read(name: str, data: bytes) -> Reference | None:
    """What is stored under this name; None if it is damaged, or if a newer version wrote it."""
    try:
        one = Reference.model_validate_json(data)
    except ValueError:  # pydantic's ValidationError is one
        return None
    return one if name == f"{_REFERENCE}{one.id}" else None


def _to_json(reference: Reference) -> bytes:
    return reference.model_dump_json(exclude_defaults=True).encode()
