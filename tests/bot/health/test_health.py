"""Problems: each is reported once, listed, counted, and sent to the bot's own channel."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from bot.channels.slack.channel import SlackChannel
from bot.health.health import FORGET_AFTER, MAX_PROBLEMS, MORE, Health
from bot.health.notices import Notices
from bot.health.probes import make_probe
from hitl_core.errors import HitlError, StoreError, StoreUnavailable
from hitl_core.store import MemoryStore
from slack_sandbox.sandbox import Sandbox
from tests.support.builders import START
from tests.support.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def health(clock: Clock) -> Health:
    return Health(clock)


@pytest.fixture
def store(clock: Clock) -> MemoryStore:
    return MemoryStore(clock)


@pytest.fixture
def notices(health: Health, store: MemoryStore, channel: SlackChannel, clock: Clock) -> Notices:
    return Notices(health, store, channel.announce, clock=clock)


def messages(sandbox: Sandbox) -> list[str]:
    """The messages in the bot's own channel."""
    return [one.text for one in sandbox.workspace.channels["C0APPROVE"].messages.values()]


def test_a_problem_is_logged_when_it_appears_and_when_it_is_over(
    health: Health, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """Given a look-up that fails three times; then it is one problem, since the first time, and two lines."""
    caplog.set_level(logging.INFO)
    for _ in range(3):
        health.report("lookup", "users.info", "Slack's users.info failed.")
        clock.now += 10

    [problem] = health.current_problems()
    assert (problem.since, problem.last, problem.count) == (START, START + 20, 3)
    assert health.counts() == {
        "lookup": 1,
        "place": 0,
        "delivery": 0,
        "store": 0,
        "timer": 0,
        "agent": 0,
    }

    health.resolve("lookup", "users.info")
    health.resolve("lookup", "users.info")
    assert health.current_problems() == ()
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]


@pytest.mark.parametrize(
    ("error", "lines"), [(StoreUnavailable("away"), 0), (StoreError("refused"), 2)]
)
def test_a_loop_that_fails_again_and_again_does_not_fill_the_log(
    health: Health, caplog: pytest.LogCaptureFixture, error: HitlError, lines: int
) -> None:
    """Given a Redis that is away, or refuses each command; then the log has no line for each try: it had
    six in a second."""
    caplog.set_level(logging.INFO)
    for _ in range(20):
        with health.report_errors("delivery", "outbox: listen", "Cards can't be shown"):
            raise error
    assert len(caplog.records) == lines


async def test_a_problem_is_told_though_the_clock_was_set_back(
    health: Health, notices: Notices, clock: Clock, sandbox: Sandbox
) -> None:
    """Given a machine whose clock is set back by a day during a problem; then it is told after a minute."""
    health.report("lookup", "users.info", "Slack's users.info failed.")
    clock.now -= 86_400
    for _ in range(8):
        health.report("lookup", "users.info", "Slack's users.info failed.")
        await notices.tick()
        clock.now += 10

    assert messages(sandbox) == ["Problem: Slack's users.info failed."]


def test_a_problem_without_reports_ends(health: Health, clock: Clock) -> None:
    health.report("place", "slack:#suport", "There is no such channel.")
    clock.now += FORGET_AFTER + 1
    assert health.current_problems() == ()


def test_the_list_of_problems_stays_short(health: Health) -> None:
    for number in range(MAX_PROBLEMS + 50):
        health.report("place", f"slack:#{number}", "There is no such channel.")
    assert len(health.current_problems()) == MAX_PROBLEMS + 1
    assert health.current_problems()[-1].subject == MORE


async def test_problems_make_no_bot_unready(
    health: Health, store: MemoryStore, clock: Clock
) -> None:
    """Given problems of two channels; then the port shows how many there are and since when, but no names and
    no text of Slack."""
    health.report("place", "slack:#suport", "There is no such channel.")
    clock.now += 30
    health.report("place", "slack:#sales", "There is no such channel.")
    answer = await make_probe(store, [], health, clock)()
    assert answer["problems"] == {"place": {"count": 2, "since": round(START)}}


async def test_what_lasts_a_minute_is_posted_once_and_when_it_is_over(
    health: Health, notices: Notices, clock: Clock, sandbox: Sandbox
) -> None:
    """Given two problems that last; then the channel gets one message, and one more when they are over."""
    health.report("place", "slack:#suport", "Cards for #suport can't be shown.")
    health.report("lookup", "usergroups.list", "Slack's usergroups.list failed.")
    await notices.tick()
    assert messages(sandbox) == []

    for _ in range(5):
        clock.now += 60
        await notices.tick()
    [message] = messages(sandbox)
    first, second = message.splitlines()
    assert first == "Problem: Cards for #suport can't be shown."
    assert second.startswith("Problem: Slack's usergroups")

    health.resolve("place", "slack:#suport")
    health.resolve("lookup", "usergroups.list")
    for _ in range(3):
        await notices.tick()
        clock.now += 60
    _, over = messages(sandbox)
    assert over.count("Solved: ") == 2


async def test_what_was_only_not_seen_again_is_not_called_solved(
    health: Health, notices: Notices, clock: Clock, sandbox: Sandbox
) -> None:
    """Given a problem that is reported once; when nobody reports it again, then the channel is not told that
    it is solved; if it comes again and is solved, the channel is told so."""
    health.report("delivery", "0-1 at default", "The review 0-1 can't be shown at default.")
    for _ in range(17):
        clock.now += 60
        await notices.tick()
    _, unseen = messages(sandbox)
    assert unseen == "Not seen again for 15 minutes: The review 0-1 can't be shown at default."

    clock.now += 60
    health.report("delivery", "0-1 at default", "The review 0-1 can't be shown at default.")
    clock.now += 60
    await notices.tick()
    health.resolve("delivery", "0-1 at default")
    clock.now += 60
    await notices.tick()
    assert messages(sandbox)[-1].startswith("Solved: ")


async def test_there_is_never_more_than_one_message_a_minute(
    health: Health, notices: Notices, clock: Clock, sandbox: Sandbox
) -> None:
    """Given a problem that comes and goes, and a new one each second; then a minute has one message, which
    names ten of them and counts the rest."""
    for number in range(30):
        health.report("place", f"slack:#c{number}", f"Cards for c{number} can't be shown.")
    clock.now += 60
    for number in range(30, 60):
        await notices.tick()
        clock.now += 1
        health.resolve("place", f"slack:#c{number - 30}")
        health.report("place", f"slack:#c{number}", f"Cards for c{number} can't be shown.")
    [message] = messages(sandbox)
    assert message.count("can't be shown") == 10
    assert "20 more problems" in message


async def test_of_several_bots_one_posts(
    health: Health, store: MemoryStore, channel: SlackChannel, clock: Clock, sandbox: Sandbox
) -> None:
    """Given two bots with the same problem, and one that was restarted; then people are told once, and once
    that it is over."""
    other = Health(clock)
    both = [health, other]
    bots = [Notices(one, store, channel.announce, clock=clock) for one in both]
    for one in both:
        one.report("lookup", "users.info", "Slack's users.info failed.")
    for _ in range(4):
        clock.now += 60
        for bot in [*bots, Notices(health, store, channel.announce, clock=clock)]:
            await bot.tick()
    assert len(messages(sandbox)) == 1

    for one in both:
        one.resolve("lookup", "users.info")
    for _ in range(4):
        clock.now += 60
        for bot in bots:
            await bot.tick()
    assert len(messages(sandbox)) == 2


async def test_a_channel_that_takes_no_message_is_a_problem_of_its_own(
    health: Health, notices: Notices, clock: Clock, sandbox: Sandbox
) -> None:
    """Given a Slack that refuses the message; then that is a problem too, and the message comes later."""
    health.report("lookup", "users.info", "Slack's users.info failed.")
    clock.now += 60
    sandbox.faults.configure({"mode": "http_500", "method": "chat.postMessage", "times": 1})
    await notices.tick()
    assert [one.subject for one in health.current_problems()] == ["users.info", "default"]

    clock.now += 60
    await notices.tick()
    assert len(messages(sandbox)) == 1
    assert [one.subject for one in health.current_problems()] == ["users.info"]


@pytest.mark.parametrize(
    "words", ["<!channel> *now*", "<@U0ALICE> `x`", "one\ntwo", "<http://e.vil|ok>"]
)
async def test_a_notice_shows_markup_as_text(
    health: Health, notices: Notices, clock: Clock, sandbox: Sandbox, words: str
) -> None:
    """Given a place or an error with markup in it; then the channel shows it as text, on one line."""
    health.report("place", words, f"{words} can't be reached.")
    clock.now += 60
    await notices.tick()
    [call] = [one for one in sandbox.api.calls if one["method"] == "chat.postMessage"]
    text: Any = call["args"]["text"]
    assert not {"<", ">", "\n"} & {*text}
    assert (call["args"]["mrkdwn"], call["args"]["parse"]) == (False, "none")
