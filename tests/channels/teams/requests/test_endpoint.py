"""What the endpoint does with good requests."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from bot import click_budget
from tests.support.teams.endpoint import ALICE, Bot, press, running
from tests.support.teams.tokens import (
    CLIENT_ID,
    SERVICE_URL,
    TENANT,
    running_key_server,
)
from tests.support.waiting import wait_until


def now() -> int:
    """Not a constant: the whole suite takes longer than the allowed skew."""
    return int(time.time())


async def test_a_good_request_is_handled(bot: Bot) -> None:
    """Given what Teams sends; then it is handled, whatever the case of the scheme and of the GUIDs, and with
    each form of the audience that Bot Framework writes."""
    assert await bot.send() == 200
    assert await bot.send(headers={"authorization": f"bearer {bot.login.token()}"}) == 200
    assert await bot.send(bot.login.token(aud=f"api://{CLIENT_ID}")) == 200
    assert await bot.send(bot.login.token(serviceurl=SERVICE_URL.rstrip("/"))) == 200
    assert await bot.send(bot.login.token(exp=now() - 60)) == 200  # 5 minutes of skew
    upper = press(channelData={"tenant": {"id": TENANT.upper()}})
    upper["from"]["aadObjectId"] = ALICE.upper()
    assert await bot.send(activity=upper) == 200
    assert [one.sender.person for one in bot.handled] == [ALICE] * 6


async def test_what_the_sdk_can_not_read_is_handled(bot: Bot) -> None:
    """Given an automatic refresh, an action without data, one whose data is a list, and activities of unknown
    types, which make the SDK fail with 500; then they are handled."""
    values: list[Any] = [
        {"action": {"type": "Action.Execute", "data": {}}, "trigger": "automatic"},
        {"action": {"type": "Action.Execute"}},
        {"action": {"type": "Action.Execute", "data": None}},
        {"action": {"type": "Action.Execute", "data": [1]}},
        None,
    ]
    for value in values:
        assert await bot.send(activity=press(value=value)) == 200
    for activity in ({"type": "messageUpdate"}, {"type": "x-new"}, {"name": "fileConsent/invoke"}):
        assert await bot.send(activity=press(**activity)) == 200
    assert len(bot.handled) == len(values) + 3


async def test_what_follows_an_answer_has_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a click that took all of its time; then what follows its answer is done all the same: that
    somebody has a form open was not recorded, and the next update closed it with what was typed."""
    monkeypatch.setattr(click_budget, "ANSWER_SECONDS", 0.0)
    is_done = asyncio.Event()

    async def follow() -> None:
        await asyncio.to_thread(is_done.is_set)  # anything that takes a moment
        is_done.set()

    async with running_key_server() as login, running(login, on_sent=follow) as bot:
        assert await bot.send() == 200
        await wait_until("it is done", is_done.is_set)
