"""The bot's calls to Slack share connections."""

from __future__ import annotations

from bot.channels.slack import open_slack
from bot.health import Health
from bot.settings import Settings
from hitl_core.model import Place
from hitl_core.store import MemoryStore
from slack_sandbox.sandbox import BOT_TOKEN, SIGNING_SECRET
from slack_sandbox.server import running_sandbox
from tests.support.redis_servers.proxy import proxy_to
from tests.support.waiting import wait_until

PLACE = Place("slack:#agent-approvals")


async def test_calls_to_slack_share_a_connection():
    """Given calls one after the other, then they use one connection; given that Slack closed it, then the
    next call opens another; it ends with the bot.
    """
    async with running_sandbox() as sandbox, proxy_to(sandbox.url) as slack:
        environment = {
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
            "SLACK_API_URL": slack.url.replace("redis://", "http://").replace("/0", "/api/"),
            "HITL_REDIS_URL": "redis://127.0.0.1/0",
            "HITL_CHANNEL": "#agent-approvals",
        }
        settings, store = Settings.from_environment(environment), MemoryStore()
        async with open_slack(settings, store, Health()) as connection:
            await connection.channel.check_place(PLACE)
            assert slack.accepted == 1

            slack.cut()
            await wait_until("it is closed", lambda: slack.open == 0)
            await connection.channel.check_place(PLACE)
            assert slack.accepted == 2
        await wait_until("it is closed", lambda: slack.open == 0)
