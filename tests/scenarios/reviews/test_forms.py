"""Edit in Slack: every argument can be corrected, and nothing else changes."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hitl_core import ToolCall
from hitl_core.model import encode
from slack_sandbox.workspace.view_validation import validate_view
from tests.support.bots import CANARY, CLICK, Scene, email
from tests.support.bots import POLICY as POLICY_OF_BOTS
from tests.support.slack import APPROVALS
from tests.support.slack_limits import assert_view

Json = dict[str, Any]

SECRET = "s3cret-91c2"
TEXT = {"type": "string"}
RULES: Json = {
    "branch": {
        "type": "object",
        "properties": {
            "contact": {
                "oneOf": [
                    {
                        "title": "By mail",
                        "properties": {"kind": {"const": "mail"}, "to": TEXT},
                        "required": ["kind", "to"],
                    },
                    {
                        "title": "By phone",
                        "properties": {"kind": {"const": "phone"}, "number": {"type": "integer"}},
                        "required": ["kind", "number"],
                    },
                ]
            },
            "note": TEXT,
        },
        "required": ["contact", "note"],
    },
    "login": {"properties": {"user": TEXT, "pass": {"type": "string", "format": "password"}}},
    "limited": {"properties": {f"n{at:02}": {"type": "integer"} for at in range(90)}},
}
BY_MAIL = {"contact": {"kind": "mail", "to": "jo"}, "note": "hello"}


def policy(**more: Any) -> str:
    rules: Json = {
        name: {"allowed_decisions": ["approve", "edit", "reject"], "args_schema": schema}
        for name, schema in RULES.items()
    }
    return json.dumps({"default": "review", "interrupt_on": {**rules, **more}})


async def editing(
    scene: Scene, name: str, args: Json, rules: str = "", click: float = CLICK
) -> Any:
    """Alice has the Edit modal of this call open; the agent waits."""
    await scene.bot(HITL_CLICK_SECONDS=str(click))
    gate = await scene.gate(rules or policy())
    waiting = scene.ask(gate, ToolCall("c1", name, args))
    await scene.alice.press(await scene.card(name), "edit")
    return waiting


async def modal(scene: Scene) -> Json:
    view = await scene.actor.view(scene.alice.id)
    assert view is not None
    return view


def labels(view: Json) -> list[str]:
    return [block["label"]["text"] for block in view["blocks"] if block["type"] == "input"]


async def payloads(scene: Scene) -> str:
    """All requests to Slack."""
    return json.dumps(await scene.actor.calls()) + json.dumps(await scene.actor.deliveries())


VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**20), 10**20),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
        st.sampled_from(["", "a\r\nb", "⟦U+0041⟧", " x ", "jo@example.com", "2026-11-21", "null"]),
    ),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


async def test_promise_8_a_form_that_is_sent_untouched_runs_the_very_same_bytes(
    scene: Scene,
) -> None:
    """Given any arguments, when their form is opened in Slack and sent with one other value changed, then all
    others run byte for byte as they were; and when it is sent unchanged, the form says that nothing was
    changed."""
    await scene.bot()
    gate = await scene.gate(policy())
    examples: list[Json] = []

    @settings(
        max_examples=24,
        suppress_health_check=[HealthCheck.too_slow],
        deadline=None,
        database=None,
    )
    @given(st.dictionaries(st.sampled_from(["a", "b", "to", "\u200b", "c/d~"]), VALUES, max_size=4))
    def collect(args: Json) -> None:
        examples.append(args)

    collect()
    for at, args in enumerate(examples):
        call = ToolCall("c1", "tool", {**args, "mark": f"m-{at}"})
        waiting = scene.ask(gate, call)
        await scene.alice.press(await scene.card(f"m-{at}"), "edit")
        assert_view_of(await modal(scene))
        await scene.alice.submit()
        assert "Nothing was changed" in await scene.alice.modal(), args
        assert (await scene.alice.submit(mark="other"))["ok"], args
        [ran] = (await waiting).execute
        assert encode(ran.args).data == encode({**args, "mark": "other"}).data


def assert_view_of(view: Json) -> None:
    sent = {key: view[key] for key in ("type", "title", "submit", "close", "blocks", "callback_id")}
    sent = {key: value for key, value in sent.items() if value is not None}
    sent["private_metadata"] = view["private_metadata"]
    validate_view(sent)
    assert_view(sent)


async def test_ninety_fields_are_filled_in_page_by_page(scene: Scene) -> None:
    """Given ninety fields, when Alice edits one on each page, goes back and finds what she entered, then one
    edit with both runs; a bot that was restarted in between doesn't matter."""
    args = {f"n{at:02}": at for at in range(90)}
    waiting = await editing(scene, "limited", args)
    first = await modal(scene)
    assert_view_of(first)
    assert (await scene.alice.submit(n03=303))["ok"] is True
    await scene.bot()
    second = await modal(scene)
    assert set(labels(first)) & set(labels(second)) == set()
    assert second["submit"]["text"] == "Approve edited"

    await scene.actor.click_view(scene.alice.id, "form_back", values={"n80": 808})
    back = await modal(scene)
    [block] = [b for b in back["blocks"] if b["type"] == "input" and b["label"]["text"] == "n03"]
    assert block["element"]["initial_value"] == "303"
    await scene.alice.submit(n04=404)
    assert (await scene.alice.submit())["ok"]

    [ran] = (await waiting).execute
    assert ran.args == {**args, "n03": 303, "n04": 404, "n80": 808}
    assert await scene.actor.view(scene.alice.id) is None


async def test_an_error_on_another_page_is_told_there(scene: Scene) -> None:
    """Given a form of two pages whose rules look at both, when it is sent, then the error is shown on the
    page where it can be corrected."""
    schema = {
        "properties": {
            **{f"n{at:02}": {"type": "integer"} for at in range(60)},
            "n00": {"type": "integer"},
        },
        "not": {
            "properties": {"n00": {"const": 1}, "n59": {"const": 2}},
            "required": ["n00", "n59"],
        },
    }
    rule = {"allowed_decisions": ["approve", "edit"], "args_schema": schema}
    waiting = await editing(scene, "odd", {f"n{at:02}": 0 for at in range(60)}, policy(odd=rule))
    await scene.alice.submit(n00=1)
    wrong = await scene.alice.submit(n59=2)
    assert "can't have these values together" in str(wrong.get("errors")), wrong
    assert (await scene.alice.submit(n59=3))["ok"]
    assert (await waiting).execute[0].args["n59"] == 3


async def test_a_lost_draft_is_reported(scene: Scene) -> None:
    """Given a form at its second page, when what was entered on the first is no longer kept, then it is not
    sent without it."""
    waiting = await editing(scene, "limited", {f"n{at:02}": at for at in range(90)})
    await scene.alice.submit(n03=303)
    redis = await scene.redis()
    async for key in redis.scan_iter("hitl:temporary:*"):
        await redis.delete(key)
    await scene.alice.submit()
    assert "has expired" in await scene.alice.modal()
    assert not waiting.done()


async def test_a_choice_draws_what_follows(scene: Scene) -> None:
    """Given a value with two possible forms, when Alice chooses the other one, then its fields are drawn at
    once, and her input there runs in that form."""
    waiting = await editing(scene, "branch", BY_MAIL)
    before = labels(await modal(scene))
    await scene.actor.click_view(
        scene.alice.id,
        "value",
        block_id="f:/contact~#1",
        option="By phone",
        values={"note": "call her"},
    )
    view = await modal(scene)
    assert_view_of(view)
    number = next(label for label in labels(view) if label not in before)
    await scene.alice.submit(**{number: 42})
    assert "This removes contact.to" in await scene.alice.modal()
    assert (await scene.alice.submit())["ok"]

    [ran] = (await waiting).execute
    assert ran.args == {"contact": {"kind": "phone", "number": 42}, "note": "call her"}


async def test_a_form_sent_before_it_was_drawn_again_is_drawn_and_not_sent(scene: Scene) -> None:
    """Given a choice whose new fields Slack has not drawn yet, when the form is sent, then it stays open with
    them, and nothing runs without an answer to them."""
    waiting = await editing(scene, "branch", BY_MAIL)
    await scene.alice.submit(contact="By phone", note="call her")
    view = await modal(scene)
    assert not waiting.done()
    [number] = [label for label in labels(view) if "number" in label]
    await scene.alice.submit(**{number: 7})
    assert "This removes contact.to" in await scene.alice.modal()
    assert (await scene.alice.submit())["ok"]
    [ran] = (await waiting).execute
    assert ran.args == {"contact": {"kind": "phone", "number": 7}, "note": "call her"}


async def test_promise_8_what_is_hidden_never_reaches_slack(scene: Scene) -> None:
    """T19: given a password and a redacted value, when the card is drawn, opened, edited and approved, then
    no request to Slack holds either, and both run as they were."""
    rule = {
        "allowed_decisions": ["approve", "edit"],
        "redact": ["/token/key"],
        "must_read": False,
    }
    rules = json.loads(policy())
    rules["interrupt_on"]["login"] |= rule
    args = {"user": "jo", "pass": SECRET, "token": {"key": SECRET, "for": "ci"}, "long": "x" * 4000}
    waiting = await editing(scene, "login", args, json.dumps(rules))
    assert "hidden" in await scene.alice.modal()
    await scene.actor.click_view(scene.alice.id, "file")
    await scene.actor.close(scene.alice.id)
    assert (await scene.alice.submit(user="al"))["ok"]
    [ran] = (await waiting).execute
    assert ran.args == {**args, "user": "al"}
    await scene.card("edited and approved")
    assert SECRET not in await payloads(scene)
    files = [f for m in await scene.actor.messages(APPROVALS) for f in m["files"]]
    for file in files:
        assert SECRET not in str(await scene.actor.file_text(scene.alice.id, file["id"]))


async def test_a_long_text_can_be_had_as_a_file(scene: Scene) -> None:
    """Given a text that is too long for an input, then it is locked, and all of it is posted below the
    card."""
    text = f"{CANARY} " + "word " * 2000 + "end"
    rule = {"must_read": False}
    waiting = await editing(scene, "note", {"body": text, "to": "jo"}, policy(note=rule))
    assert "can't be changed here" in await scene.alice.modal()
    await scene.actor.click_view(scene.alice.id, "file")
    assert "below the card" in await scene.alice.modal()

    def posted_files(state: Json) -> list[Json]:
        return [f for m in state["messages"][APPROVALS] for f in m["files"]]

    [file] = await scene.actor.wait_for(posted_files)
    assert text.strip() in str(await scene.actor.file_text(scene.alice.id, file["id"]))
    await scene.actor.close(scene.alice.id)
    assert (await scene.alice.submit(to="al"))["ok"]
    assert (await waiting).execute[0].args == {"body": text, "to": "al"}


async def test_a_second_click_on_send_counts_once(scene: Scene) -> None:
    """Given a form that was sent, when the same submission reaches the bot again, then it says what the first
    did, and the edit is there once."""
    waiting = await editing(scene, "send_email", email().args, POLICY_OF_BOTS)
    assert (await scene.alice.submit(copies=4))["ok"]
    sent = (await scene.actor.deliveries())[-1]
    for _ in range(2):
        status, body = await scene.actor.send_raw(
            str(scene.sandbox.bot_url), sent["body"], sent["headers"]
        )
        assert (status, "Your first attempt was stored" in body) == (200, True)
    assert [call.args["copies"] for call in (await waiting).execute] == [4]


async def test_a_form_left_open_over_a_restart_still_counts(scene: Scene) -> None:
    waiting = await editing(scene, "branch", BY_MAIL)
    await scene.bot()
    assert (await scene.alice.submit(note="later"))["ok"]
    assert (await waiting).execute[0].args == {**BY_MAIL, "note": "later"}


async def test_promise_6_a_form_of_what_was_edited_since_changes_nothing(scene: Scene) -> None:
    """Given a form that Alice has open, when Bob edits and approves meanwhile, then hers changes nothing, and
    she is told."""
    waiting = await editing(scene, "branch", BY_MAIL)
    await scene.bob.press(await scene.card("branch"), "edit")
    await scene.bob.submit(note="of Bob")
    await scene.alice.submit(note="of Alice")
    assert "already edited and approved branch" in await scene.alice.modal()
    assert (await waiting).execute[0].args["note"] == "of Bob"


async def test_an_edit_under_a_quorum_waits_for_another_person(scene: Scene) -> None:
    """Given a rule that wants two, when Alice edits, then nothing runs before Bob has approved her edit."""
    rule = {
        "allowed_decisions": ["approve", "edit", "reject"],
        "reviewers": {"channel_members": True, "quorum": 2, "editor_approves": True},
    }
    waiting = await editing(scene, "two", {"a": "old"}, policy(two=rule))
    assert "one other person must approve it" in await scene.alice.modal()
    assert (await scene.alice.submit(a="new"))["ok"]
    card = await scene.card("1 of 2")
    assert not waiting.done()
    await scene.bob.press(card, "approve")
    assert (await waiting).execute[0].args == {"a": "new"}
