"""The Home tab: what the app publishes for a person, and the events that the app gets."""

from __future__ import annotations

from typing import Any

import pytest
from slack_bolt.async_app import AsyncApp

from slack_sandbox.client.actor import Actor, ScriptError
from slack_sandbox.sandbox import Sandbox
from tests.slack_sandbox.bolts import install
from tests.slack_sandbox.conftest import PlainBot
from tests.slack_sandbox.samples import Json, Slack, actions, button, field, modal, mrkdwn, refusal

TEXT = {"type": "section", "text": mrkdwn("Nothing waits for you")}


def home(*blocks: Json, **more: Any) -> Json:
    return {"type": "home", "blocks": list(blocks) or [TEXT], **more}


async def publish(client: Slack, view: Json | None = None, **args: Any) -> Json:
    published = {"user_id": "U0ALICE", "view": view or home(), **args}
    return (await client.views_publish(**published))["view"]


async def test_each_person_has_a_view_of_their_own(client: Slack, actor: Actor) -> None:
    view = await publish(client, home(callback_id="mine", private_metadata="7"))
    assert (view["type"], view["callback_id"], view["private_metadata"]) == (
        "home",
        "mine",
        "7",
    )
    assert (view["app_id"], view["root_view_id"]) == ("A0APPROVER", view["id"])
    assert await actor.home("U0ALICE") == view
    assert await actor.home("U0BOB") is None
    assert (await actor.state("U0ALICE"))["views"] == [], "it is no modal"


async def test_a_view_is_replaced_whole_and_keeps_its_id(client: Slack) -> None:
    first = await publish(client, home(callback_id="a"))
    second = await publish(client, home())
    assert (second["id"], second["callback_id"]) == (first["id"], "")
    assert second["hash"] != first["hash"]


async def test_a_hash_guards_against_a_newer_view(client: Slack, actor: Actor) -> None:
    first = await publish(client)
    newer = await publish(client, home(callback_id="newer"), hash=first["hash"])
    late = {"user_id": "U0ALICE", "view": home(), "hash": first["hash"]}
    assert (await refusal(client, "views.publish", **late))["error"] == "hash_conflict"
    assert await actor.home("U0ALICE") == newer
    unknown = {"user_id": "U0BOB", "view": home(), "hash": first["hash"]}
    assert (await refusal(client, "views.publish", **unknown))["error"] == "hash_conflict"


LONG = {"type": "section", "text": mrkdwn("x" * 2900)}
FILE = field("file", {"type": "file_input"})


@pytest.mark.parametrize(
    ("error", "view"),
    [
        ("invalid_arguments", modal()),
        ("invalid_arguments", home(title={"type": "plain_text", "text": "Home"})),
        ("invalid_arguments", home(*[TEXT] * 101)),
        ("invalid_arguments", home(FILE)),
        ("view_too_large", home(*[LONG] * 90)),
    ],
)
async def test_what_slack_refuses_to_publish(client: Slack, error: str, view: Json) -> None:
    answer = await refusal(client, "views.publish", user_id="U0ALICE", view=view)
    assert answer["error"] == error


async def test_a_hundred_blocks_are_not_too_many(client: Slack) -> None:
    assert len((await publish(client, home(*[TEXT] * 100)))["blocks"]) == 100


async def test_an_unknown_person_and_an_app_without_the_tab(
    sandbox: Sandbox, client: Slack, actor: Actor
) -> None:
    answer = await refusal(client, "views.publish", user_id="U0NOBODY", view=home())
    assert (answer["error"], answer["errors"]) == ("invalid_arguments", ["invalid `user_id`"])
    sandbox.app.home_tab = False
    answer = await refusal(client, "views.publish", user_id="U0ALICE", view=home())
    assert answer["error"] == "not_enabled"
    assert (await actor.open_home("U0ALICE"))["ok"] is False


async def test_an_external_id_is_one_persons(client: Slack) -> None:
    await publish(client, home(external_id="x"))
    await publish(client, home(external_id="x"))
    answer = await refusal(client, "views.publish", user_id="U0BOB", view=home(external_id="x"))
    assert answer["error"] == "duplicate_external_id"


async def test_the_app_is_told_who_enters_and_what_they_see(
    sandbox: Sandbox, client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    assert await actor.open_home("U0ALICE") == {"ok": True}
    await sandbox.events.wait_delivered()
    shown = await publish(client)
    await actor.open_home("U0ALICE")
    await sandbox.events.wait_delivered()

    first, second = (body["event"] for body in plain_bot.events)
    assert (first["type"], first["user"], first["tab"]) == ("app_home_opened", "U0ALICE", "home")
    assert first["channel"] == "D0ALICE"
    assert "view" not in first
    assert second["view"] == shown
    assert (await actor.open_home("U0GONE"))["ok"] is False


async def test_a_button_there_tells_its_view_and_may_open_a_modal(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    view = await publish(client, home(actions(button(value="r1"), block_id="b1")))

    assert await actor.click_view("U0ALICE", "approve", home=True) == {"ok": True}

    [payload] = plain_bot.payloads
    assert payload["type"] == "block_actions"
    assert payload["container"] == {"type": "view", "view_id": view["id"]}
    assert payload["view"]["type"] == "home"
    assert payload["view"]["hash"] == view["hash"]
    assert payload["actions"][0]["value"] == "r1"
    assert not {"message", "channel", "response_url"} & set(payload)
    await client.views_open(trigger_id=payload["trigger_id"], view=modal())
    assert await actor.view("U0ALICE")


async def test_nobody_clicks_in_the_tab_of_another(client: Slack, actor: Actor) -> None:
    view = await publish(client, home(actions(button(), block_id="b1")))
    click = {"view_id": view["id"], "block_id": "b1", "action_id": "approve"}
    assert (await actor.post("click", {"user": "U0BOB", **click}))["ok"] is False
    with pytest.raises(ScriptError, match="U0BOB"):
        await actor.click_view("U0BOB", "approve", home=True)


async def test_a_home_tab_is_not_submitted_or_closed(client: Slack, actor: Actor) -> None:
    view = await publish(client)
    wish = {"user": "U0ALICE", "view_id": view["id"]}
    assert (await actor.post("submit", wish))["ok"] is False
    assert (await actor.post("close", wish))["ok"] is False
    assert await actor.home("U0ALICE") == view


@pytest.mark.parametrize("sockets", [False, True])
async def test_bolt_draws_the_tab_again_after_a_click(
    sandbox: Sandbox, client: Slack, actor: Actor, sockets: bool
) -> None:
    bolt = AsyncApp(client=client, signing_secret=sandbox.app.signing_secret)

    async def on_opened(event: Json) -> None:
        view = home(actions(button("decide"), block_id="b"))
        await client.views_publish(user_id=event["user"], view=view)

    async def on_decision(ack: Any, body: Json) -> None:
        await ack()
        who, seen = body["user"]["id"], body["view"]["hash"]
        await client.views_publish(user_id=who, view=home(callback_id="done"), hash=seen)

    bolt.event("app_home_opened")(on_opened)
    bolt.action("decide")(on_decision)
    async with install(bolt, sandbox, sockets):
        await actor.open_home("U0BOB")
        await actor.wait_for(lambda state: state["home"], user="U0BOB")
        assert await actor.click_view("U0BOB", "decide", home=True) == {"ok": True}
        await actor.wait_for(lambda s: s["home"]["callback_id"] == "done", user="U0BOB")
