"""The channels of one bot: finds the channel of a place, a message or a person."""

from __future__ import annotations

from collections.abc import Iterator

from hitl_core.model import CLI, DEFAULT_PLACE, POLICY, MessageRef, Place
from hitl_core.sentences import join_names

from .contract import Audience, Channel, NotFound


class NotConfigured(NotFound):
    """The place is in a channel that this bot does not have."""


class Channels:
    """`default` is the channel with the bot's own place, DEFAULT_PLACE; `others` are all other channels."""

    def __init__(self, default: Channel, *others: Channel) -> None:
        self.default = default
        self._by_name = {channel.name: channel for channel in (default, *others)}
        if len(self._by_name) < 1 + len(others) or {CLI, POLICY, ""} & self._by_name.keys():
            raise ValueError(f"Each channel needs a name of its own, and not {CLI} or {POLICY}.")
        for channel in self:
            channel.places = self

    def __iter__(self) -> Iterator[Channel]:
        return iter(self._by_name.values())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._by_name)

    def get(self, name: str) -> Channel | None:
        """The channel with this name; None if the bot does not have it."""
        return self._by_name.get(name)

    def find(self, place: Place) -> Channel | None:
        """The channel of a place; None if the bot does not have it."""
        return self.default if place.base == DEFAULT_PLACE else self.get(place.channel)

    def of_place(self, place: Place) -> Channel:
        """The channel of a place. Raises NotConfigured."""
        return self._require(self.find(place), place.channel)

    def of_message(self, ref: MessageRef) -> Channel:
        """The channel of a message. Raises NotConfigured."""
        return self._require(self.get(ref.channel), ref.channel)

    def name_of(self, place: Place) -> str:
        """The name of a place for people; its text if the bot does not have its channel."""
        channel = self.find(place)
        return channel.name_of(place) if channel else place

    def name_elsewhere(self, place: Place, channel: Channel) -> str | None:
        """The name of a place in another channel than this one, with its chat system; its text if the bot
        does not have that channel. None for a place in this one.
        """
        own = self.find(place)
        if own is channel:
            return None
        return f"{own.name_of(place)} in {own.label}" if own else place

    def audience(self, place: Place) -> Audience | None:
        """The people whom a place reaches; None, for nobody, if the bot does not have its channel."""
        channel = self.find(place)
        return channel.audience(place) if channel else None

    def _require(self, channel: Channel | None, name: str) -> Channel:
        if channel is None:
            known = join_names(f"“{one}”" for one in self.names)
            raise NotConfigured(f"this bot has no channel “{name}”, only {known}")
        return channel
