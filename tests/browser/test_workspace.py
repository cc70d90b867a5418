"""The page: the acting person, the open channel, what is unread, and a connection that breaks
and comes back.
"""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from slack_sandbox.server import running_sandbox
from slack_sandbox.workspace.objects import Ephemeral, Message
from tests.browser.scenes import ALICE, APPROVE, ASK, BOB, CARD, OPS, Workplace, mrkdwn

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.browser]


async def test_acting_as_somebody_else(place: Workplace):
    """Given the switcher, choosing Bob makes every later click Bob's, in the same channel."""
    place.post(*CARD, channel=ASK)
    await place.open(f"?channel={ASK}")

    await place.page.get_by_label("Acting as").select_option("Bob Reyes")
    await place.page.wait_for_url(f"**/?user={BOB}&channel={ASK}")
    async with place.page.expect_response("**/sandbox/click"):
        await place.action("approve").click()

    assert place.bot.clicks == [(BOB, "approve")]


async def test_somebody_unknown_becomes_the_first_user(place: Workplace):
    """Given an address with a user who is not there, the page acts as Alice."""
    await place.open("?user=U0NOBODY")

    await expect(place.page.get_by_label("Acting as")).to_have_value(ALICE)


async def test_reload_keeps_the_place(place: Workplace):
    """Given Bob in a thread, a reload shows the same; Back leads to where he was before."""
    card = place.post(*CARD, channel=ASK)
    workspace = place.sandbox.workspace
    workspace.add(Message(ASK, workspace.next_ts(), ALICE, "on it", thread_ts=card.ts))
    await place.open(f"?user={BOB}")
    thread = place.page.get_by_role("complementary", name="Thread")
    await place.page.get_by_role("link", name="ask-agent").click()
    await place.page.get_by_role("button", name="1 reply").click()

    await place.page.reload()

    await expect(place.page.get_by_role("heading", name="ask-agent")).to_be_visible()
    await expect(thread).to_contain_text("on it")
    await expect(place.page.get_by_label("Acting as")).to_have_value(BOB)
    await place.page.go_back()
    await expect(thread).to_be_hidden()


async def test_a_permalink_leads_to_the_message(place: Workplace):
    """Given a link to a reply elsewhere, it opens the thread there, from the page or from outside."""
    card = place.post(*CARD, channel=ASK)
    workspace = place.sandbox.workspace
    reply = workspace.add(Message(ASK, workspace.next_ts(), ALICE, "on it", thread_ts=card.ts))
    path = f"/archives/{ASK}/p{reply.ts.replace('.', '')}"
    place.post(mrkdwn(f"see <{place.sandbox.url}{path}|the reply>"))
    await place.open()
    linked = place.page.locator(f'#replies [data-ts="{reply.ts}"]')

    await place.page.get_by_role("link", name="the reply").click()
    await expect(linked).to_be_focused()

    await place.open(path.removeprefix("/"))
    await expect(linked).to_be_focused()


async def test_unread_until_looked_at(place: Workplace):
    """Given a message elsewhere, its channel has a dot until it is opened, also after a reload."""
    place.post(*CARD, channel=OPS)
    await place.open()
    dot = place.page.locator(f"[data-channel={OPS}] .dot")
    await expect(dot).to_be_visible()

    await place.page.get_by_role("link", name="team-ops").click()
    await place.page.get_by_role("link", name="agent-approvals").click()
    await place.page.reload()

    await expect(place.page.locator("#title")).to_contain_text("agent-approvals")
    await expect(dot).to_have_count(0)


async def test_asking_the_agent_from_another_channel(place: Workplace):
    """Given an empty #agent-approvals, the ask box speaks in the agent's channel and leads there."""
    await place.open()
    hint = place.page.get_by_text("No messages yet. Ask the agent something below.")
    await expect(hint).to_be_visible()

    await place.page.get_by_role("textbox", name="Ask the agent").fill("refund order 1042")
    await place.page.keyboard.press("Enter")
    await place.page.get_by_role("link", name="Open the conversation").click()

    await expect(place.page.locator("#title")).to_contain_text("ask-agent")
    await expect(place.page.locator(".message")).to_contain_text("refund order 1042")
    assert [(one["user"], one["text"]) for one in place.bot.asked] == [(ALICE, "refund order 1042")]


async def test_only_members_can_write(place: Workplace):
    """Given a channel that Alice is not in, there is no composer, and the page says why."""
    await place.open(f"?channel={OPS}")

    await expect(place.page.locator("#topic")).to_contain_text("Alice Ng is not a member")
    await expect(place.page.locator("#composer")).to_be_hidden()


async def test_an_ephemeral_is_private_and_can_be_dismissed(place: Workplace):
    """Given a notice for Alice, it says that only she sees it, and goes when dismissed."""
    workspace = place.sandbox.workspace
    workspace.add_ephemeral(Ephemeral(ALICE, APPROVE, workspace.next_ts(), "*Bob* was first.", []))
    await place.open()
    notice = place.page.locator(".ephemeral")
    await expect(notice).to_contain_text("Only visible to you")
    await expect(notice).to_contain_text("Bob was first.")

    await notice.get_by_role("button", name="Dismiss").click()

    await expect(notice).to_have_count(0)
    assert workspace.ephemerals == {}


async def test_a_lost_connection_comes_back_by_itself(place: Workplace):
    """Given a server that goes and comes back, the page says so, and then shows what is new."""
    async with running_sandbox() as first:
        await place.page.goto(first.url)
        await expect(place.page.locator("#title")).not_to_be_empty()
    await expect(place.page.get_by_text("Reconnecting…")).to_be_visible()

    async with running_sandbox(port=int(first.url.rpartition(":")[2])) as second:
        message = Message(APPROVE, second.workspace.next_ts(), BOB, "hello again")
        second.workspace.add(message)
        await expect(place.page.get_by_text("hello again")).to_be_visible(timeout=60_000)
        await expect(place.page.get_by_text("Reconnecting…")).to_be_hidden()
        await place.page.close()


async def test_a_server_in_trouble_is_asked_again(place: Workplace):
    """Given a stream that answers with an error, after which browsers give up, the page continues."""
    await place.page.route("**/sandbox/stream*", lambda route: route.fulfill(status=503), times=1)
    await place.open()
    await expect(place.page.get_by_text("Reconnecting…")).to_be_visible()

    place.post(*CARD)

    await expect(place.action("approve")).to_be_visible()
    await expect(place.page.get_by_text("Reconnecting…")).to_be_hidden()
