"""The demo's local Teams: starts its process, and acts for its people over HTTP, as its page does."""

from __future__ import annotations

import asyncio
import importlib.util
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import aiohttp

from ..workspace import acme
from .children import PROGRAM, ChildError, ChildProcess

T = TypeVar("T")
Json = dict[str, Any]

#: The package of the local Teams: `teams_sandbox` in a checkout, `hitl_teams_sandbox` when installed.
TEAMS_PROGRAM = PROGRAM.replace("slack", "teams")
#: How long a person waits for a card, in seconds.
TIMEOUT = 30.0


def has_teams() -> bool:
    """Whether the packages of the extra `teams` are installed."""
    return importlib.util.find_spec("microsoft_teams") is not None


def make_teams(port: int, bot_port: int, logs: Path) -> ChildProcess:
    arguments = [
        TEAMS_PROGRAM,
        f"--port={port}",
        f"--bot-url=http://127.0.0.1:{bot_port}/api/messages",
    ]
    return ChildProcess("teams", arguments, "TEAMS_CLOUD_URL=", logs)


def read_settings(teams: ChildProcess) -> tuple[str, dict[str, str]]:
    """The page's address, and the bot's settings, which the program prints."""
    _, page, *settings = teams.text().split()
    return page, dict(one.split("=", 1) for one in settings if one.startswith("TEAMS_"))


async def announce(page: str) -> None:
    """Tells the bot in which places the app is installed."""
    async with aiohttp.ClientSession() as session:
        await TeamsPeople(page, session).announce()


async def people_text(page: str) -> str:
    """The text of the file for HITL_PEOPLE: who has the same name in both chat systems is one human."""
    slack = [one for one in acme(time.time).users.values() if not (one.is_bot or one.team_id)]
    async with aiohttp.ClientSession() as session:
        teams = await TeamsPeople(page, session).object_ids()
    humans = [
        f"  - [slack:{one.id}, teams:{teams[one.real_name]}]\n"
        for one in slack
        if one.real_name in teams
    ]
    return "".join(["people:\n", *humans])


class TeamsError(ChildError):
    """A person did not see what they should, or Teams refused what they did."""


class TeamsPeople:
    """What people see and press in the local Teams. People and conversations are named as the page does."""

    def __init__(self, page: str, session: aiohttp.ClientSession) -> None:
        self._page, self._session = page.rstrip("/"), session

    async def announce(self) -> None:
        """Tells the bot in which places the app is installed."""
        await self._post("announce", {})

    async def object_ids(self) -> dict[str, str]:
        """The object ids of all people, by their names."""
        return {user["name"]: user["id"] for user in (await self._get("state"))["users"]}

    async def wait_for_button(
        self, person: str, conversation: str, title: str, *, beside: str
    ) -> Json:
        """The newest message that has this button, and this text in its card."""

        def find(state: Json) -> Json | None:
            place = _find_named(state["conversations"], conversation)["id"]
            for message in reversed(state["messages"][place]):
                if _find_button(message["card"], title) and beside in _text(message["card"]):
                    return message
            return None

        return await self._wait_for(person, find, f"a button “{title}” beside “{beside}”")

    async def press(self, person: str, message: Json, title: str) -> None:
        """Raises TeamsError with what the person is told, if it is an error."""
        state = await self._state(person)
        params = {
            "user": state["me"],
            "conversation": message["conversation"],
            "message": message["id"],
            "action": _find_button(message["card"], title),
        }
        answer = await self._post("press", params)
        if not answer["ok"] or answer.get("text"):
            told = answer.get("error") or answer.get("text")
            raise TeamsError(f"pressing “{title}” in Teams: {told} {answer.get('problem', '')}")

    async def _wait_for(self, person: str, find: Callable[[Json], T | None], what: str) -> T:
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            if (found := find(await self._state(person))) is not None:
                return found
            await asyncio.sleep(0.1)
        raise TeamsError(f"{person} does not see {what} in Teams within {TIMEOUT:.0f} s")

    async def _state(self, person: str) -> Json:
        """As this person sees it."""
        state = await self._get("state")
        user = _find_named(state["users"], person)["id"]
        return await self._get(f"state?user={user}")

    async def _get(self, path: str) -> Json:
        async with self._session.get(f"{self._page}/sandbox/{path}") as answer:
            answer.raise_for_status()
            return await answer.json()

    async def _post(self, path: str, params: Json) -> Json:
        async with self._session.post(f"{self._page}/sandbox/{path}", json=params) as answer:
            answer.raise_for_status()
            return await answer.json()


def _find_named(items: list[Json], name: str) -> Json:
    return next(one for one in items if one["name"] == name)


def _find_button(card: Json | None, title: str) -> str:
    """The JSON pointer of the button with this title; "" if there is none."""
    return next((at for at, one in _objects(card, "") if _is_button(one, title)), "")


def _text(card: Json) -> str:
    return "".join(str(one["text"]) for _, one in _objects(card, "") if "text" in one)


def _is_button(element: Json, title: str) -> bool:
    return element.get("type") == "Action.Execute" and element.get("title") == title


def _objects(value: Any, at: str) -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict):
        yield at, value
        for key, part in value.items():
            yield from _objects(part, f"{at}/{key}")
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _objects(part, f"{at}/{number}")
