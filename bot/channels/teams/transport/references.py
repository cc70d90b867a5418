"""The conversations in which the app is installed, from validated activities. They are in the store, so all
bots know them, also after a restart.
"""

from __future__ import annotations

import logging
import time
from typing import Literal

from hitl_core.errors import StoreUnavailable
from hitl_core.model import Value
from hitl_core.store import Store

from ....health import Health
from ....teams_names import PREFIX, pinned_names
from ...contract import Unreachable
from ..ids import NAME
from .requests import Activity

log = logging.getLogger(__name__)

#: How old the loaded data may be, in seconds, because other bots change it too.
MAX_AGE = 30.0
_REFERENCE = "conversation:"
#: The subject of the problem in `Health`.
_SUBJECT = "Teams: conversations"
_KINDS = {"channel": "channel", "groupChat": "groupChat", "personal": "personal"}


class Reference(Value):
    """One conversation. `service_url`: the address that serves it. `team`: the id of a channel's team.
    `person`: the GUID of the person of a personal chat. `name`: the name of a group chat, for people.
    """

    id: str
    kind: Literal["channel", "groupChat", "personal"]
    service_url: str
    team: str = ""
    person: str = ""
    name: str = ""


class References:
    """Methods raise StoreUnavailable, unless they document something else."""

    def __init__(self, store: Store, health: Health) -> None:
        self._store, self._health = store, health
        self._all: dict[str, Reference] = {}
        self._pins: dict[str, str] = {}
        #: The conversations of which what is stored can't be read. It keeps nobody from the others.
        self.unreadable: list[str] = []
        self._loaded_at = float("-inf")

    async def refresh(self, *, now: bool = False) -> None:
        """Load what other bots changed, if the data is older than MAX_AGE. `now`: load it in any case,
        and raise Unreachable if that fails, for a caller that may conclude that there is none. Without
        `now` it is raised if nothing is known yet.
        """
        if time.monotonic() - self._loaded_at < MAX_AGE and not now:
            return
        try:
            await self._load()
        except StoreUnavailable as error:
            if now or self._loaded_at == float("-inf"):
                raise Unreachable(f"the store: {error}") from error
            log.warning("Teams' conversations could not be loaded again: %s", error)

    async def _load(self) -> None:
        values = await self._store.channel_values(NAME)
        found = {
            name.removeprefix(_REFERENCE): _read(name, data)
            for name, data in values.items()
            if name.startswith(_REFERENCE)
        }
        self.unreadable = [id for id, one in found.items() if one is None]
        self._report()
        self._all = {id: one for id, one in found.items() if one is not None}
        self._pins = pinned_names(values)
        self._loaded_at = time.monotonic()

    def _report(self) -> None:
        if not self.unreadable:
            self._health.resolve("place", _SUBJECT)
            return
        text = (
            f"What is stored of the conversation {self.unreadable[0]} in Teams can't be read (of"
            f" {len(self.unreadable)} in all). Write to the app there: then it is stored again."
        )
        self._health.report("place", _SUBJECT, text)

    def get(self, conversation: str) -> Reference | None:
        return self._all.get(conversation)

    def all(self) -> list[Reference]:
        return list(self._all.values())

    def service_url(self, conversation: str) -> str:
        """The address that serves the conversation. For an unknown conversation the address of any other; ""
        if none is known.
        """
        known = self._all.get(conversation) or next(iter(self._all.values()), None)
        return known.service_url if known else ""

    def personal_chat(self, person: str) -> str | None:
        """The id of the chat with this person; None if it is unknown."""
        return next((one.id for one in self._all.values() if one.person == person), None)

    def teams(self) -> dict[str, str]:
        """The ids of the teams in which the app is installed, each with its service URL."""
        return {one.team: one.service_url for one in self._all.values() if one.team}

    async def record(self, activity: Activity) -> None:
        """Record where an activity came from. Only for validated activities, because our tokens are sent to
        its service URL.
        """
        conversation, data = activity.conversation, activity.channel_data
        kind = _KINDS.get(conversation.conversation_type or "")
        if data.team is not None:
            kind = "channel"
        if kind is None:
            return
        await self.save(
            Reference(
                id=conversation.id.partition(";")[0],
                kind=kind,  # pyright: ignore[reportArgumentType] - one of _KINDS
                service_url=activity.service_url,
                team=data.team.id if data.team else "",
                person=(activity.sender.person or "") if kind == "personal" else "",
                name=conversation.name if kind == "groupChat" else "",
            )
        )

    async def save(self, new: Reference) -> None:
        """Save a conversation. What the activity does not say is kept. It is compared with the store, because
        other bots change it too.
        """
        key, data = f"{_REFERENCE}{new.id}", _to_json(new)
        stored = await self._store.add_channel_value(NAME, key, data)
        if stored != data:
            if (old := _read(key, stored)) is not None:
                kept = {"team": old.team, "person": old.person, "name": old.name}
                empty = {key: value for key, value in kept.items() if not getattr(new, key)}
                new = new.model_copy(update=empty)
            if new != old:
                await self._store.save_channel_value(NAME, key, _to_json(new))
        self._all[new.id] = new

    async def forget(self, conversation: str) -> None:
        """Forget the conversation, because the app was removed from it; for a team's channel General, forget
        the whole team.
        """
        id = conversation.partition(";")[0]
        # Also one that can't be read.
        await self._store.drop_channel_value(NAME, f"{_REFERENCE}{id}")
        await self._load()
        for one in self.all():
            if id in (one.id, one.team):
                await self._store.drop_channel_value(NAME, f"{_REFERENCE}{one.id}")
                self._all.pop(one.id, None)

    def pinned(self, name: str) -> str | None:
        """The first conversation to which this name led."""
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
