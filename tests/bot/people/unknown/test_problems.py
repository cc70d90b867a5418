"""A look-up that fails is a problem until it works again."""

from __future__ import annotations

import json

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.channels.contract import LookupFailed
from bot.channels.slack.channel import SlackChannel
from bot.health.health import Health
from slack_sandbox.sandbox import BOT_TOKEN, Sandbox
from tests.bot.people.unknown.answers import fail, refusal


async def test_the_missing_scope_is_named(
    channel: SlackChannel, health: Health, sandbox: Sandbox
) -> None:
    """Given an app without usergroups:read; then the error and the problem name
    it, until it works again."""
    answer = refusal("missing_scope", needed="usergroups:read", provided="chat:write")
    fail(sandbox, "usergroups.users.list", answer)
    said = "usergroups.users.list failed: missing_scope; the app lacks the scope usergroups:read"
    with pytest.raises(LookupFailed, match=said):
        await channel.group_members("S0OPS")
    [problem] = health.current_problems()
    assert (problem.kind, problem.subject) == ("lookup", "usergroups.users.list")
    assert "usergroups:read" in problem.text

    sandbox.faults.configure({"mode": "ok"})
    await channel.group_members("S0FINANCE")
    assert health.current_problems() == ()


async def test_one_person_who_can_not_be_looked_up_is_a_problem_of_its_own(
    channel: SlackChannel, health: Health, sandbox: Sandbox
) -> None:
    """Given one person for whom Slack fails; then other look-ups that work don't hide the problem."""
    sandbox.faults.configure(
        {
            "mode": "answer",
            "method": "users.info",
            "times": 1,
            "body": refusal("org_login_required")[1],
        }
    )
    with pytest.raises(LookupFailed):
        await channel.person("U0BOB")
    await channel.person("U0ALICE")
    assert [one.subject for one in health.current_problems()] == ["users.info for U0BOB"]
    await channel.person("U0BOB")
    assert health.current_problems() == ()


async def test_a_list_that_never_ends_is_not_known(channel: SlackChannel, sandbox: Sandbox) -> None:
    """Given a Slack that always has one page more; then the number of calls is limited."""
    body = json.dumps({"ok": True, "members": ["U1"], "response_metadata": {"next_cursor": "x"}})
    fail(sandbox, "conversations.members", (200, body))
    before = len(sandbox.api.calls)
    with pytest.raises(LookupFailed, match="more than 100 pages"):
        await channel.conversation_members("C0OPS")
    assert len(sandbox.api.calls) - before == 100


async def test_a_list_of_which_a_later_page_fails_is_one_problem_that_lasts(
    sandbox: Sandbox,
) -> None:
    """Given a list whose first page can be read each time, and never its end; then it is the same problem at
    each try, so that it is told after a minute.
    """
    now = 0.0
    health = Health(lambda: now)
    client = AsyncWebClient(token=BOT_TOKEN, base_url=sandbox.api_url, retry_handlers=[])
    channel = SlackChannel(client, "#agent-approvals", health)
    body = json.dumps({"ok": True, "members": ["U1"], "response_metadata": {"next_cursor": "x"}})
    fail(sandbox, "conversations.members", (200, body))
    for moment in (1000.0, 1050.0, 1100.0):
        now = moment
        with pytest.raises(LookupFailed):
            await channel.conversation_members("C0OPS")

    [problem] = health.current_problems()
    assert (problem.since, problem.count) == (1000.0, 3)

    sandbox.faults.configure({"mode": "ok"})
    await channel.conversation_members("C0OPS")
    assert health.current_problems() == ()


async def test_a_part_of_a_group_is_not_the_group(
    channel: SlackChannel, health: Health, sandbox: Sandbox
) -> None:
    """Given an answer with somebody who has left and a cursor; then who is in the group is not known."""
    body = json.dumps({"ok": True, "users": ["U0GONE"], "response_metadata": {"next_cursor": "x"}})
    fail(sandbox, "usergroups.users.list", (200, body))
    with pytest.raises(LookupFailed):
        await channel.group_members("S0FINANCE")
    assert [one.kind for one in health.current_problems()] == ["lookup"]
