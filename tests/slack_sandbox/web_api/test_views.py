"""Modals: what Slack refuses in a view, and who may open one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from slack_sandbox.errors import SlackError
from slack_sandbox.sandbox import Sandbox
from slack_sandbox.server import running_sandbox
from slack_sandbox.workspace.view_validation import validate_view
from tests.slack_sandbox.samples import Slack, error_of, modal, plain, slack, text_field
from tests.support.clock import Clock

DIVIDER = {"type": "divider"}


def without(view: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: one for name, one in view.items() if name != key}


SOUND = {
    "everything at its limit": modal(
        title=plain("x" * 24),
        submit=plain("x" * 24),
        close=plain("x" * 24),
        private_metadata="x" * 3000,
        callback_id="x" * 255,
        external_id="x" * 255,
        notify_on_close=True,
        clear_on_close=True,
    ),
    "100 blocks": modal(*[DIVIDER] * 100),
    "no inputs and no submit": without(modal(DIVIDER), "submit"),
}
BROKEN = {
    "home": ({**modal(), "type": "home"}, "unsupported type: home [json-pointer:/view/type]"),
    "no title": (without(modal(), "title"), "missing required field: title [json-pointer:/view]"),
    "title of 25": (
        modal(title=plain("x" * 25)),
        "must be less than 25 characters [json-pointer:/view/title/text]",
    ),
    "title in mrkdwn": (modal(title={"type": "mrkdwn", "text": "x"}), "unsupported type: mrkdwn"),
    "submit of 25": (modal(submit=plain("x" * 25)), "must be less than 25 characters"),
    "close of 25": (modal(close=plain("x" * 25)), "must be less than 25 characters"),
    "inputs and no submit": (without(modal(), "submit"), "missing required field: submit"),
    "101 blocks": (modal(*[DIVIDER] * 101), "no more than 100 items allowed"),
    "no blocks": ({**modal(), "blocks": []}, "no fewer than 1 items allowed"),
    "private_metadata of 3001": (modal(private_metadata="x" * 3001), "must be less than 3001"),
    "callback_id of 256": (modal(callback_id="x" * 256), "must be less than 256"),
    "external_id of 256": (modal(external_id="x" * 256), "must be less than 256"),
    "a view that Slack gave": (modal(id="V1", hash="1.a"), "invalid additional property: id"),
    "a broken block": (
        modal({"type": "header", "text": plain("x" * 151)}),
        "must be less than 151 characters [json-pointer:/view/blocks/0/text/text]",
    ),
    "two of one block_id": (
        modal(text_field("a"), text_field("a")),
        "`block_id` a already exists [json-pointer:/view/blocks/1/block_id]",
    ),
    "no object": ("modal", "must be an object [json-pointer:/view]"),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_view_at_its_limits_is_taken(name: str) -> None:
    assert validate_view(SOUND[name]) == SOUND[name]


@pytest.mark.parametrize("name", BROKEN)
def test_a_view_beyond_is_refused_with_its_place(name: str) -> None:
    view, complaint = BROKEN[name]
    with pytest.raises(SlackError) as caught:
        validate_view(view)
    assert caught.value.error == "invalid_arguments"
    messages = caught.value.answer["response_metadata"]["messages"]
    assert any(complaint in line for line in messages), messages


def test_a_view_of_more_than_250_kb_is_too_large() -> None:
    blocks = [{"type": "section", "text": plain("é" * 3000)} for _ in range(50)]
    with pytest.raises(SlackError, match="view_too_large"):
        validate_view(modal(*blocks))


TYPED = {"type": "plain_text_input", "value": "typed"}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def sandbox(clock: Clock) -> AsyncIterator[Sandbox]:
    async with running_sandbox(now=clock) as running:
        yield running


@pytest.fixture
def client(sandbox: Sandbox) -> AsyncWebClient:
    return slack(sandbox)


async def open_view(client: Slack, trigger_id: str, **more: Any) -> str:
    """The error of views.open, or "ok"."""
    try:
        return "ok" if (await client.views_open(trigger_id=trigger_id, view=modal(**more))) else ""
    except SlackApiError as error:
        return error.response["error"]


async def test_a_trigger_opens_one_view(sandbox: Sandbox, client: Slack) -> None:
    trigger = sandbox.triggers.issue("U0ALICE")
    assert await open_view(client, trigger) == "ok"
    assert await open_view(client, trigger) == "exchanged_trigger_id"


async def test_a_trigger_lives_three_seconds(sandbox: Sandbox, client: Slack, clock: Clock) -> None:
    in_time, late = sandbox.triggers.issue("U0ALICE"), sandbox.triggers.issue("U0BOB")
    clock.now += 3.0
    assert await open_view(client, in_time) == "ok"
    clock.now += 0.01
    assert await open_view(client, late) == "expired_trigger_id"


@pytest.mark.parametrize("trigger", ["nonsense", "1.2.abc", "123.456.zzz"])
async def test_a_made_up_trigger(client: Slack, trigger: str) -> None:
    assert await open_view(client, trigger) == "invalid_trigger_id"


async def test_a_refused_view_leaves_the_trigger_good(sandbox: Sandbox, client: Slack) -> None:
    trigger = sandbox.triggers.issue("U0ALICE")
    assert await open_view(client, trigger, title=plain("x" * 25)) == "invalid_arguments"
    assert await open_view(client, trigger) == "ok"


async def test_an_open_view_has_ids_a_hash_and_its_initial_state(
    sandbox: Sandbox, client: Slack
) -> None:
    view = modal({"type": "divider"}, text_field("name", initial_value="Jo"), private_metadata="{}")
    trigger = sandbox.triggers.issue("U0ALICE")
    opened = (await client.views_open(trigger_id=trigger, view=view))["view"]
    assert opened["id"].startswith("V")
    assert opened["root_view_id"] == opened["id"]
    assert opened["previous_view_id"] is None
    assert opened["blocks"][0]["block_id"]
    assert opened["hash"]
    assert opened["state"]["values"] == {"name": {"v": {"type": "plain_text_input", "value": "Jo"}}}
    assert (opened["private_metadata"], opened["bot_id"], opened["team_id"]) == (
        "{}",
        "B0APPROVER",
        "T0ACME",
    )
    assert sandbox.modals.stack("U0ALICE") == [opened]


async def test_the_third_view_is_the_last_that_can_be_pushed(
    sandbox: Sandbox, client: Slack
) -> None:
    with pytest.raises(SlackApiError) as early:
        await client.views_push(trigger_id=sandbox.triggers.issue("U0ALICE"), view=modal())
    assert error_of(early) == "not_found"
    root = await client.views_open(trigger_id=sandbox.triggers.issue("U0ALICE"), view=modal())
    second = await client.views_push(trigger_id=sandbox.triggers.issue("U0ALICE"), view=modal())
    top = await client.views_push(trigger_id=sandbox.triggers.issue("U0ALICE"), view=modal())
    assert top["view"]["root_view_id"] == root["view"]["id"]
    assert top["view"]["previous_view_id"] == second["view"]["id"]
    with pytest.raises(SlackApiError) as caught:
        await client.views_push(trigger_id=sandbox.triggers.issue("U0ALICE"), view=modal())
    assert error_of(caught) == "push_limit_reached"


async def test_an_update_needs_the_hash_that_the_view_has_now(
    sandbox: Sandbox, client: Slack
) -> None:
    trigger = sandbox.triggers.issue("U0ALICE")
    old = (await client.views_open(trigger_id=trigger, view=modal(external_id="e1")))["view"]
    new = (await client.views_update(view_id=old["id"], hash=old["hash"], view=modal()))["view"]
    assert new["id"] == old["id"]
    assert new["hash"] != old["hash"]
    with pytest.raises(SlackApiError) as caught:
        await client.views_update(view_id=old["id"], hash=old["hash"], view=modal())
    assert error_of(caught) == "hash_conflict"


async def test_an_external_id_names_one_view(sandbox: Sandbox, client: Slack) -> None:
    first = sandbox.triggers.issue("U0ALICE")
    view = (await client.views_open(trigger_id=first, view=modal(external_id="e1")))["view"]
    second = sandbox.triggers.issue("U0BOB")
    assert await open_view(client, second, external_id="e1") == "duplicate_external_id"
    update = await client.views_update(external_id="e1", view=modal(external_id="e1"))
    assert update["view"]["id"] == view["id"]


async def test_an_update_keeps_what_is_typed_where_the_ids_stay(
    sandbox: Sandbox, client: Slack
) -> None:
    trigger = sandbox.triggers.issue("U0ALICE")
    old = (await client.views_open(trigger_id=trigger, view=modal(text_field("a"))))["view"]
    sandbox.modals.set_state(sandbox.modals.stack("U0ALICE")[0], {"a": {"v": TYPED}})
    fresh = modal(text_field("a", initial_value="new"), text_field("b", initial_value="new"))

    state = (await client.views_update(view_id=old["id"], view=fresh))["view"]["state"]["values"]

    assert (state["a"]["v"], state["b"]["v"]["value"]) == (TYPED, "new")


async def test_a_view_that_nobody_has_open(client: Slack) -> None:
    with pytest.raises(SlackApiError) as caught:
        await client.views_update(view_id="V1", view=modal())
    assert error_of(caught) == "not_found"


async def test_a_view_may_come_as_text(sandbox: Sandbox, client: Slack) -> None:
    args = {"trigger_id": sandbox.triggers.issue("U0ALICE"), "view": json.dumps(modal())}
    assert (await client.api_call("views.open", data=args))["ok"]
