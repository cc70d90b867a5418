"""Posts activities to the bot, with Bot Framework's token."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import aiohttp

from ..json_checks import Json, is_object
from ..login import Login
from ..workspace import Workspace

ANSWER_TIMEOUT = 15.0  # seconds that Bot Framework waits


@dataclass(frozen=True)
class Answer:
    status: int
    body: str

    def json(self) -> Any:
        """The body; None if it is no JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


class BotClient:
    """`bot_url` is read at each delivery, because a bot starts after the sandbox. `deliveries` lists what was
    sent: at, activity, and the bot's status and answer (None if none came)."""

    def __init__(
        self,
        workspace: Workspace,
        login: Login,
        bot_url: Callable[[], str | None],
        service_url: Callable[[], str],
        answer_timeout: float = ANSWER_TIMEOUT,
    ) -> None:
        self._workspace, self._login = workspace, login
        self._bot_url, self._service_url = bot_url, service_url
        self.answer_timeout = answer_timeout
        self.deliveries: list[Json] = []
        self.session: aiohttp.ClientSession | None = None

    async def send(self, activity: Json, token: str | None = None) -> Answer | None:
        """The bot's answer; None if it didn't come in time. `token` replaces the right one."""
        delivery: Json = {
            "at": self._workspace.now(),
            "activity": activity,
            "status": None,
            "answer": None,
        }
        self.deliveries.append(delivery)
        url = self._bot_url()
        if url is None or self.session is None:
            return None
        right = self._login.bot_framework_token(self._service_url())
        headers = {"Authorization": f"Bearer {right if token is None else token}"}
        try:
            async with asyncio.timeout(self.answer_timeout):
                async with self.session.post(url, json=activity, headers=headers) as response:
                    answer = Answer(response.status, await response.text())
        except (TimeoutError, aiohttp.ClientError):
            return None
        delivery |= {"status": answer.status, "answer": answer.body}
        return answer

    async def invoke(self, activity: Json) -> Answer | None:
        """As `send`. If the answer is empty, Teams sends the same activity once more
        (https://github.com/vercel/chat/issues/903)."""
        answer = await self.send(activity)
        if answer is not None and answer.status == 200 and not _value(answer):
            return await self.send(activity)
        return answer


def _value(answer: Answer) -> object:
    body = answer.json()
    return body.get("value") if is_object(body) else None
