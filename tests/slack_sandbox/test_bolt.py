"""A real slack-bolt app on aiohttp works with the sandbox as with Slack."""

from __future__ import annotations

from typing import Any

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp

from slack_sandbox.client.actor import Actor
from slack_sandbox.sandbox import Sandbox
from tests.slack_sandbox.samples import HERE, Slack, actions, button, modal, text_field


def approver(client: Slack, secret: str) -> AsyncApp:
    """Opens a modal on a click, refuses the name "?", and writes down any other."""
    app = AsyncApp(client=client, signing_secret=secret, process_before_response=True)

    @app.action("edit")
    async def edit(ack: Any, body: dict[str, Any], client: Slack) -> None:
        view = modal(
            text_field("name", initial_value="?"),
            callback_id="edit",
            private_metadata=body["container"]["message_ts"],
        )
        await client.views_open(trigger_id=body["trigger_id"], view=view)
        await ack()

    @app.view("edit")
    async def handle_submission(
        ack: Any, view: dict[str, Any], body: dict[str, Any], client: Slack
    ) -> None:
        name = view["state"]["values"]["name"]["v"]["value"]
        if name == "?":
            await ack(response_action="errors", errors={"name": "Who is that?"})
            return
        text = f"{body['user']['id']} says {name}"
        await client.chat_update(channel=HERE, ts=view["private_metadata"], text=text, blocks=[])
        await ack()

    return app


async def test_click_modal_error_beside_the_field_and_acceptance(
    sandbox: Sandbox, actor: Actor, client: Slack
) -> None:
    bolt = approver(client, sandbox.app.signing_secret)

    async def handle(request: web.Request) -> web.Response:
        return await to_aiohttp_response(await bolt.async_dispatch(await to_bolt_request(request)))

    app = web.Application()
    app.router.add_post("/slack/events", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        sandbox.bot_url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
        blocks = [actions(button("edit"))]
        ts = (await client.chat_postMessage(channel=HERE, text="card", blocks=blocks))["ts"]

        assert await actor.click("U0ALICE", HERE, ts, "edit") == {"ok": True}
        assert await actor.view("U0ALICE")
        refused = await actor.submit("U0ALICE")
        assert refused == {"ok": False, "errors": {"name": "Who is that?"}}
        assert await actor.submit("U0ALICE", {"name": "Jo"}) == {"ok": True, "closed": True}

        (message,) = await actor.messages(HERE)
        assert (message["text"], message["edited"]) == ("U0ALICE says Jo", True)
        forged = await actor.send_payload(
            sandbox.bot_url, {"type": "block_actions"}, "another secret"
        )
        assert forged[0] == 401
    finally:
        await runner.cleanup()
