"""The ids of the people and channels of a run, in each chat system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, assert_never, get_args

ChatName = Literal["slack", "teams"]
CHATS: tuple[ChatName, ...] = get_args(ChatName)
CHANNELS = 4


@dataclass(frozen=True)
class Names:
    """`people` may decide, except for their own requests, which the `requesters` make. `stranger`: sees the
    cards and may decide nothing, as somebody of another company.
    """

    chat: ChatName
    people: Sequence[str]
    requesters: Sequence[str]
    stranger: str

    @property
    def members(self) -> list[str]:
        """Those of each channel, without the stranger."""
        return [*self.people, *self.requesters]

    @property
    def channels(self) -> list[str]:
        return [self.channel(number) for number in range(CHANNELS)]

    def channel(self, number: int) -> str:
        match self.chat:
            case "slack":
                return f"C0CHAOS{number}"
            case "teams":
                return f"19:chaos{number}@thread.tacv2"
            case _:
                assert_never(self.chat)

    def place(self, number: int) -> str:
        return f"{self.chat}:{self.channel(number)}"


def _names(chat: ChatName, person: str, stranger: str) -> Names:
    people = [person.format(number) for number in range(1, 141)]
    return Names(chat, people[:120], people[120:], stranger)


_ALL = {
    "slack": _names("slack", "U0CROWD{:04}", "U0STRANGER"),
    # A guest of the team, whom no rule names.
    "teams": _names(
        "teams", "c40d0000-0000-4000-8000-{:012x}", "90e57000-0000-4000-8000-000000000007"
    ),
}


def names_of(chat: ChatName) -> Names:
    return _ALL[chat]
