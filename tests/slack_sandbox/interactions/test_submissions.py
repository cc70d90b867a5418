"""Submitted modals: what the bot gets, and what its answer does."""

from __future__ import annotations

import pytest
from slack_sdk.errors import SlackApiError

from slack_sandbox.client.actor import Actor
from slack_sandbox.interactions.interactions import MODAL_ERROR
from tests.slack_sandbox.conftest import PlainBot
from tests.slack_sandbox.samples import (
    Slack,
    error_of,
    field,
    modal,
    open_modal,
    option,
    plain,
    text_field,
)


async def test_untouched_fields_are_submitted_with_their_initial_values(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    blocks = [
        text_field("name", initial_value="Jo"),
        field("note", {"type": "plain_text_input"}, optional=True),
        field("tags", {"type": "checkboxes", "options": [option("a")]}, optional=True),
        field("level", {"type": "static_select", "options": [option("a"), option("b")]}),
    ]
    view = modal(*blocks, private_metadata="r1", callback_id="edit", external_id="e1")
    shown = await open_modal(client, actor, plain_bot, view)
    assert await actor.submit("U0ALICE", {"level": 1}) == {"ok": True, "closed": True}
    payload = plain_bot.payloads[-1]
    assert payload["type"] == "view_submission"
    assert payload["response_urls"] == []
    assert payload["trigger_id"]
    sent = payload["view"]
    assert sent["state"]["values"] == {
        "name": {"v": {"type": "plain_text_input", "value": "Jo"}},
        "note": {"v": {"type": "plain_text_input", "value": None}},
        "tags": {"v": {"type": "checkboxes", "selected_options": []}},
        "level": {
            "v": {
                "type": "static_select",
                "selected_option": {"text": {**plain("b"), "emoji": True}, "value": "b"},
            }
        },
    }
    assert (sent["id"], sent["hash"]) == (shown["id"], shown["hash"])
    assert (sent["private_metadata"], sent["callback_id"], sent["external_id"]) == (
        "r1",
        "edit",
        "e1",
    )
    assert await actor.view("U0ALICE") is None


async def test_slacks_client_refuses_before_the_bot_hears_of_it(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    await open_modal(client, actor, plain_bot)
    heard = len(plain_bot.payloads)
    answer = await actor.submit("U0ALICE")
    assert answer == {"ok": False, "errors": {"name": "Please complete this required field."}}
    assert len(plain_bot.payloads) == heard


async def test_errors_stand_beside_the_fields_and_the_view_stays(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    await open_modal(client, actor, plain_bot)
    plain_bot.answers({"response_action": "errors", "errors": {"name": "not a name"}})
    answer = await actor.submit("U0ALICE", {"name": "?"})
    assert answer == {"ok": False, "errors": {"name": "not a name"}}
    assert await actor.view("U0ALICE")
    plain_bot.answers("")
    assert await actor.submit("U0ALICE", {"name": "Jo"}) == {"ok": True, "closed": True}


async def test_what_was_typed_stays_after_an_error(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    await open_modal(client, actor, plain_bot, modal(text_field("name"), text_field("why")))
    assert not (await actor.submit("U0ALICE", {"name": "Jo"}))["ok"]
    assert (await actor.submit("U0ALICE", {"why": "x"}))["ok"]
    values = plain_bot.payloads[-1]["view"]["state"]["values"]
    assert (values["name"]["v"]["value"], values["why"]["v"]["value"]) == ("Jo", "x")


async def test_a_fourth_view_can_not_be_pushed_by_an_answer(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    await open_modal(client, actor, plain_bot)
    plain_bot.answers({"response_action": "push", "view": modal()})
    for _ in range(2):
        assert (await actor.submit("U0ALICE", {"name": "x"}))["ok"]
    answer = await actor.submit("U0ALICE", {"name": "x"})
    assert answer == {"ok": False, "error": MODAL_ERROR}
    assert len((await actor.state("U0ALICE"))["views"]) == 3


UNSOUND = {
    "an unknown block": {"response_action": "errors", "errors": {"nowhere": "x"}},
    "a block that is no input": {"response_action": "errors", "errors": {"words": "x"}},
    "no errors": {"response_action": "errors", "errors": {}},
    "an empty error": {"response_action": "errors", "errors": {"name": ""}},
    "an error that is no text": {"response_action": "errors", "errors": {"name": 1}},
    "an unknown action": {"response_action": "dance"},
    "an update without a view": {"response_action": "update"},
    "an update with a bad view": {
        "response_action": "update",
        "view": modal(title=plain("x" * 25)),
    },
    "a push with a bad view": {"response_action": "push", "view": {"type": "modal"}},
    "words": "OK",
    "a list": "[]",
}


@pytest.mark.parametrize("name", UNSOUND)
async def test_an_unsound_answer_is_a_failure_to_the_person(
    client: Slack, actor: Actor, plain_bot: PlainBot, name: str
) -> None:
    words = {"type": "section", "block_id": "words", "text": plain("x")}
    shown = await open_modal(client, actor, plain_bot, modal(text_field(), words))
    plain_bot.answers(UNSOUND[name])
    answer = await actor.submit("U0ALICE", {"name": "x"})
    assert answer == {"ok": False, "error": MODAL_ERROR}
    still = await actor.view("U0ALICE")
    assert still
    assert (still["id"], still["hash"]) == (shown["id"], shown["hash"])


@pytest.mark.parametrize("status", [201, 404, 500])
async def test_anything_but_200_is_a_failure_too(
    client: Slack, actor: Actor, plain_bot: PlainBot, status: int
) -> None:
    await open_modal(client, actor, plain_bot)
    plain_bot.answers("", status)
    answer = await actor.submit("U0ALICE", {"name": "x"})
    assert answer == {"ok": False, "error": MODAL_ERROR}
    assert await actor.view("U0ALICE")


async def test_an_answer_may_update_push_and_clear(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    shown = await open_modal(client, actor, plain_bot)
    plain_bot.answers({"response_action": "update", "view": modal(title=plain("Two"))})
    assert await actor.submit("U0ALICE", {"name": "x"}) == {"ok": True, "closed": False}
    updated = await actor.view("U0ALICE")
    assert updated
    assert (updated["id"], updated["title"]["text"]) == (shown["id"], "Two")
    assert updated["hash"] != shown["hash"]

    plain_bot.answers({"response_action": "push", "view": modal(title=plain("Three"))})
    await actor.submit("U0ALICE", {"name": "x"})
    assert len((await actor.state("U0ALICE"))["views"]) == 2

    plain_bot.answers("")
    await actor.submit("U0ALICE", {"name": "x"})
    assert (await actor.view("U0ALICE")) == updated, "the view below is there again"

    plain_bot.answers({"response_action": "clear"})
    assert await actor.submit("U0ALICE", {"name": "x"}) == {"ok": True, "closed": True}
    assert await actor.view("U0ALICE") is None


async def test_a_view_belongs_to_the_person_who_opened_it(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    shown = await open_modal(client, actor, plain_bot)
    assert await actor.view("U0BOB") is None
    wish = {"user": "U0BOB", "view_id": shown["id"], "values": {}}
    assert (await actor.post("submit", wish))["error"] == "This view is no longer open."


async def test_closing_is_told_to_a_bot_that_asked(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    await open_modal(client, actor, plain_bot)
    heard = len(plain_bot.payloads)
    await actor.close("U0ALICE")
    assert len(plain_bot.payloads) == heard
    shown = await open_modal(client, actor, plain_bot, modal(notify_on_close=True))
    await actor.close("U0ALICE")
    closed = plain_bot.payloads[-1]
    assert (closed["type"], closed["view"]["id"], closed["is_cleared"]) == (
        "view_closed",
        shown["id"],
        False,
    )
    assert await actor.view("U0ALICE") is None


async def test_closing_a_view_that_clears_closes_all_and_tells_of_each(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    first = await open_modal(client, actor, plain_bot, modal(notify_on_close=True))
    above = modal(notify_on_close=True, clear_on_close=True)
    plain_bot.answers({"response_action": "push", "view": above})
    await actor.submit("U0ALICE", {"name": "x"})
    plain_bot.answers("")

    await actor.close("U0ALICE")

    assert await actor.view("U0ALICE") is None
    second, last = plain_bot.payloads[-2:]
    assert last["view"]["id"] == first["id"] != second["view"]["id"]
    assert (last["type"], last["is_cleared"], second["is_cleared"]) == ("view_closed", True, True)


async def test_the_trigger_of_a_click_is_used_once(
    client: Slack, actor: Actor, plain_bot: PlainBot
) -> None:
    await open_modal(client, actor, plain_bot)
    with pytest.raises(SlackApiError) as caught:
        await client.views_open(trigger_id=plain_bot.payloads[0]["trigger_id"], view=modal())
    assert error_of(caught) == "exchanged_trigger_id"
