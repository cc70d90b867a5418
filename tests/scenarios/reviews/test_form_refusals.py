"""Forms that can't be made or stored at once, and what must be confirmed or read first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hitl_core import ToolCall
from tests.scenarios.reviews.test_forms import BY_MAIL, TEXT, Json, editing, modal, policy
from tests.support.bots import CANARY, Scene
from tests.support.builders import review_of as review_made
from tests.support.slack import review_of
from tests.support.waiting import wait_until


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"x": {"type": "string", "pattern": r"^(a+)\1$"}}},
        {"properties": {"x": {"$ref": "http://127.0.0.1:9/x.json"}}},
        {"properties": {"x": {"$ref": "file:///etc/passwd"}}},
    ],
)
async def test_no_form_is_made_of_a_schema_that_could_hang_or_fetch(
    scene: Scene, schema: Json
) -> None:
    """T62, T64: given a review that somebody stored with such a schema (no policy loads it), when Alice
    presses Edit, then she is told at once why there is no form, and may still approve."""
    await scene.bot()
    gate = await scene.gate(policy())
    review, event = review_made([ToolCall("c1", "evil", {"x": "a" * 40 + "!"})])
    [action] = review.actions
    config = action.config.model_copy(update={"args_schema": schema, "policy_schema": schema})
    action = action.model_copy(update={"config": config})
    await gate.reviews.submit(review.model_copy(update={"actions": (action,)}), event)
    card = await scene.card("evil")
    await scene.wait_noted(gate, card)

    await scene.alice.press(card, "edit")
    assert "A form for this can't be made" in await scene.alice.last_notice()
    assert await scene.actor.view(scene.alice.id) is None
    await scene.alice.press(card, "approve")
    await scene.card("approved by U0ALICE")


async def test_promise_11_a_form_survives_that_redis_is_away(scene: Scene) -> None:
    """What was typed stays in the modal when it could not be stored."""
    waiting = await editing(scene, "branch", BY_MAIL, click=3)
    redis = await scene.redis()
    await redis.execute_command("CLIENT", "PAUSE", "2500", "ALL")
    failed = await scene.alice.submit(note="again")
    assert not failed["ok"]
    assert await scene.actor.view(scene.alice.id) is not None

    async def submit_note() -> bool:
        return bool((await scene.alice.submit(note="again")).get("ok"))

    await wait_until("it counts", submit_note, 10)
    assert (await waiting).execute[0].args["note"] == "again"


async def test_a_stale_forms_review_is_named_in_no_payload(scene: Scene) -> None:
    """A modal's private metadata has ids, and no argument."""
    await editing(scene, "branch", {**BY_MAIL, "note": CANARY})
    view = await modal(scene)
    assert CANARY not in view["private_metadata"]
    assert len(view["private_metadata"]) <= 3000


async def test_a_removal_is_shown_and_confirmed_once_more(scene: Scene) -> None:
    """Given a mail with a copy; when Alice empties the copy and sends it, then
    the form says what that removes and nothing runs; with another value besides she is asked again; the same
    sent twice counts."""
    fields = {"to": TEXT, "cc": TEXT, "note": TEXT}
    rule = {"allowed_decisions": ["edit"], "args_schema": {"properties": fields}}
    rules = policy(mail=rule)
    waiting = await editing(scene, "mail", {"to": "jo", "cc": "al", "note": "hi"}, rules)

    assert not (await scene.alice.submit(cc=None)).get("closed")
    assert "This removes cc. Send the form again to confirm." in await scene.alice.modal()
    await scene.alice.submit(note=None)
    assert "This removes cc and note. Send the form again to confirm." in await scene.alice.modal()
    assert not waiting.done()
    assert (await scene.alice.submit())["ok"]

    [ran] = (await waiting).execute
    assert ran.args == {"to": "jo"}


@pytest.mark.parametrize("quorum", [1, 2])
async def test_a_form_that_is_sent_again_says_what_its_first_try_did(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, quorum: int
) -> None:
    """Given an edit that was stored, and whose answer never came; when Alice sends it
    again, then she reads that it was stored, and it counts once; while the store is away, the answer does not
    claim that nothing was changed."""
    rule = {
        "allowed_decisions": ["edit", "approve"],
        "reviewers": {"channel_members": True, "quorum": quorum},
    }
    await editing(scene, "mail", {"to": "jo"}, policy(mail=rule), click=3)
    card = await scene.card("mail")
    with monkeypatch.context() as armed:
        armed.setenv("HITL_FAILPOINTS", f"bot.after_commit=pause:{tmp_path / 'never'}")
        late = await scene.alice.submit(to="al")
    assert "It is not known whether this was stored" in json.dumps(late)
    redis = await scene.redis()
    await redis.execute_command("CLIENT", "PAUSE", "2500", "ALL")
    away = await scene.alice.submit(to="al")
    assert "counts only once" in json.dumps(away)

    async def has_hint() -> bool:
        await scene.alice.submit(to="al")
        return "Your first attempt was stored" in await scene.alice.modal()

    await wait_until("it says so", has_hint, 20)
    gate = await scene.gate()
    [action] = (await gate.reviews.load(review_of(card))).review.actions
    assert (action.revision, action.is_pending) == (2, quorum == 2)
    assert len(action.edits) == 1


async def test_what_no_form_shows_whole_is_read_before_it_is_edited(scene: Scene) -> None:
    """Given a text that is too long for the form, when Alice presses Edit, then she reads all of it first,
    and is told why; at its end Edit opens the form, and after it was sent no modal is left."""
    args = {"body": f"{CANARY} " + "word " * 1200 + "end", "to": "jo"}
    waiting = await editing(scene, "note", args, policy())
    assert "The form can't show all of it" in await scene.alice.modal()
    await scene.actor.click_view(scene.alice.id, "edit")
    assert "can't be changed here" in await scene.alice.modal()
    assert (await scene.alice.submit(to="al"))["ok"]
    assert await scene.actor.view(scene.alice.id) is None
    assert (await waiting).execute[0].args == {**args, "to": "al"}


async def test_what_was_read_is_rejected_where_it_was_read(scene: Scene) -> None:
    """Given all arguments of a call, when Alice presses Reject below them and says why, then it is rejected,
    and no modal is left."""
    args = {"body": f"{CANARY} " + "word " * 1200 + "end", "to": "jo"}
    waiting = await editing(scene, "note", args, policy())
    await scene.actor.click_view(scene.alice.id, "reject")
    assert (await scene.alice.submit(message="Too long."))["ok"]
    assert await scene.actor.view(scene.alice.id) is None
    assert "Too long." in str((await waiting).answers)
