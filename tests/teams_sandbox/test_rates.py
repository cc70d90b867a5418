"""Teams' rate limits, on a clock that the test moves."""

from __future__ import annotations

import httpx
import pytest

from teams_sandbox.connector.rate_limits import LIMITS, RateLimits, Scenario
from teams_sandbox.server import running_sandbox
from teams_sandbox.workspace import ids
from tests.support.clock import Clock
from tests.teams_sandbox.conftest import Rest, code_of


@pytest.mark.parametrize("scenario", ["send", "create", "members"])
def test_a_conversation_takes_so_many_calls_in_each_window(scenario: Scenario):
    for seconds, most in LIMITS[scenario]:
        clock = Clock()
        limits = RateLimits(clock)
        # As many as this window takes, as fast as the smaller windows allow.
        for _ in range(most):
            while (wait := limits.retry_after(scenario, "a")) is not None:
                clock.now += wait
        wait = limits.retry_after(scenario, "a")
        assert wait is not None
        assert clock.now + wait >= 1_800_000_000 + seconds


def test_each_conversation_has_its_own_limit_and_the_app_has_one():
    limits = RateLimits(Clock())
    waits = [limits.retry_after("send", f"chat-{n}") for n in range(51)]
    assert waits == [None] * 50 + [1]


def test_scaled_limits_pass_faster():
    clock = Clock()
    limits = RateLimits(clock, scale=20)
    while (wait := limits.retry_after("send", "a")) is None:
        pass
    assert wait == 1 / 20


async def test_teams_answers_429_with_retry_after_and_does_nothing():
    async with (
        running_sandbox(rate_limits=True, now=Clock()) as sandbox,
        httpx.AsyncClient() as http,
    ):
        rest = Rest(sandbox, http)
        for _ in range(7):
            assert (await rest.post(ids.OPS)).status_code == 201
        answer = await rest.post(f"{ids.OPS};messageid=1")
    assert (code_of(answer), answer.headers["Retry-After"]) == ((429, "Throttled"), "1")
    assert len(sandbox.workspace.conversations[ids.OPS].messages) == 7
