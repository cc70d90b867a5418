"""Slack's rate limits, on a clock that the test moves."""

from __future__ import annotations

import pytest
from slack_sdk.errors import SlackApiError

from slack_sandbox.server import running_sandbox
from slack_sandbox.web_api.rate_limits import PER_MINUTE, POST_BURST, RateLimits
from tests.slack_sandbox.samples import slack
from tests.support.clock import Clock


@pytest.mark.parametrize("method", [m for m in PER_MINUTE if m != "chat.postMessage"])
def test_a_method_answers_so_often_and_then_says_how_long_to_wait(method: str) -> None:
    clock = Clock()
    limits = RateLimits(clock)
    assert [limits.retry_after(method) for _ in range(PER_MINUTE[method])] == [None] * PER_MINUTE[
        method
    ]
    wait = limits.retry_after(method)
    assert wait is not None
    clock.now += wait
    assert limits.retry_after(method) is None


def test_a_channel_takes_a_small_burst_and_then_a_message_a_second() -> None:
    clock = Clock()
    limits = RateLimits(clock)
    burst = [limits.retry_after("chat.postMessage", "C1") for _ in range(POST_BURST + 1)]
    assert burst == [None] * POST_BURST + [1]
    assert limits.retry_after("chat.postMessage", "C2") is None, "another channel has its own"
    clock.now += 1
    assert [limits.retry_after("chat.postMessage", "C1") for _ in range(2)] == [None, 1]


def test_the_workspace_has_a_limit_of_its_own() -> None:
    limits = RateLimits(Clock())
    waits = [limits.retry_after("chat.postMessage", f"C{i}") for i in range(301)]
    assert waits == [None] * 300 + [1]


async def test_slack_answers_429_with_retry_after_and_does_nothing() -> None:
    async with running_sandbox(rate_limits=True, now=Clock()) as sandbox:
        client = slack(sandbox)
        for _ in range(POST_BURST):
            await client.chat_postMessage(channel="C0APPROVE", text="x")
        with pytest.raises(SlackApiError) as caught:
            await client.chat_postMessage(channel="C0APPROVE", text="x")
        assert len(sandbox.workspace.channels["C0APPROVE"].messages) == POST_BURST
    response = caught.value.response
    assert (response.status_code, response["error"]) == (429, "ratelimited")
    assert response.headers["Retry-After"] == "1"
