"""Signed payloads that differ from Slack's: each gets one clear refusal, and decides nothing."""

from __future__ import annotations

import asyncio
import copy
import json
import random
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest

from bot.channels.slack.transport.payload import InvalidPayload, parse_body
from hitl_core.store.redis.packing import unpack
from slack_sandbox.client.actor import sign
from slack_sandbox.sandbox import SIGNING_SECRET
from tests.support.bots import Scene, email, sql
from tests.support.slack import CARL

Json = Any

#: How many payloads are made of each that was recorded.
MUTANTS = 40
ODD: list[Json] = [
    None, True, 0, -1, 3.5, 10**20, "", "x", "\ud800", "9" * 5000, "a\nb", "../..", [], ["x"], [[]], [None],
    {}, {"x": 1}, {"id": []}, {"id": None}, {"values": []}, {"type": {}},
]  # fmt: skip


def places(value: Json, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each value inside this one."""
    inside = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, each in inside:
        yield (*at, key)
        yield from places(each, (*at, key))


def mutant(payload: Json, chance: random.Random) -> Json:
    """The payload with one to three values that are missing, or odd."""
    made = copy.deepcopy(payload)
    for _ in range(chance.randint(1, 3)):
        *way, last = chance.choice(list(places(made)) or [("type",)])
        holder = made
        for key in way:
            holder = holder[key]
        if chance.random() < 0.25:
            del holder[last]
        else:
            holder[last] = copy.deepcopy(chance.choice(ODD))
    return made


async def record_payloads(scene: Scene) -> list[Json]:
    """What Slack sends of everything that people do, as if Carl did it, who may decide nothing here."""
    gate = await scene.gate()
    scene.ask(gate, email(), sql())
    card = await scene.card("send_email", "run_sql")
    await scene.wait_noted(gate, card)
    scene.patience(30.0)
    scene.ask(gate, *(email(f"many-{number}") for number in range(30)))
    await scene.alice.press(await scene.card("30 "), "review")
    await scene.actor.click_view(scene.alice.id, "review_page:next")
    await scene.actor.close(scene.alice.id)
    await scene.alice.press(card, "edit")
    await scene.actor.open_home(scene.alice.id)
    url, scene.sandbox.bot_url = scene.sandbox.bot_url, None  # from here on it is only recorded
    await scene.alice.submit(copies=2)
    await scene.alice.press(card, "approve")
    await scene.alice.press(card, "more", option="Skip it")
    await scene.actor.run_command(scene.alice.id, card["channel"], "/approvals show 1")
    scene.sandbox.bot_url = url
    found = [_parse(each["body"]) for each in await scene.actor.deliveries()]
    events = [
        {"type": "user_change", "user": {"id": CARL, "name": "carl"}},
        {"type": "subteam_updated", "subteam": {"id": "S0OPS", "handle": "ops"}},
        {"type": "member_left_channel", "user": CARL, "channel": card["channel"]},
        {"type": "channel_rename", "channel": {"id": card["channel"], "name": "x", "created": 1}},
        {"type": "channel_archive", "channel": card["channel"], "user": CARL},
        {"type": "channel_id_changed", "old_channel_id": "G0OLDID", "new_channel_id": "C0NEWID"},
    ]
    found += [{"type": "event_callback", "team_id": "T0ACME", "event": event} for event in events]
    return json.loads(json.dumps(found).replace(scene.alice.id, CARL))


def _parse(body: str) -> Json:
    if body.startswith("{"):
        return json.loads(body)
    fields = {key: values[0] for key, values in parse_qs(body, keep_blank_values=True).items()}
    return json.loads(fields["payload"]) if "payload" in fields else fields


def _to_form(payload: Json) -> str:
    """As Slack sends this kind of payload."""
    if isinstance(payload, dict) and "command" in payload:
        return urlencode(
            {key: str(value).encode("utf-8", "replace") for key, value in payload.items()}
        )
    if isinstance(payload, dict) and str(payload.get("type")).startswith("event"):
        return json.dumps(payload)
    return urlencode({"payload": json.dumps(payload)})


@pytest.mark.slow  # some hundreds of requests
async def test_a_wrong_shape_decides_nothing(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    """slack-clients 7: given everything that Slack sends, with values that are missing or of another type;
    then through real Bolt there is no fault in the log, and nothing is decided. A click fails only if Slack
    shows its refusal nowhere."""
    bot = await scene.bot()
    payloads = await record_payloads(scene)
    kinds = {str(each.get("type", each.get("command"))) for each in payloads}
    assert kinds >= {"block_actions", "view_submission", "event_callback", "/approvals"}
    chance = random.Random(7)
    wrong: list[tuple[int, Json]] = []
    refused = failed = 0
    at_once = asyncio.Semaphore(8)

    async def send(payload: Json) -> None:
        nonlocal refused, failed
        body, at = _to_form(payload), str(int(time.time()))
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": at,
            "X-Slack-Signature": sign(SIGNING_SECRET, at, body),
        }
        async with at_once:
            status, _ = await scene.actor.send_raw(bot.endpoints["slack"], body, headers)
        refused += status == 400
        failed += status == 500
        if status not in (200, 400, 404, 500):
            wrong.append((status, payload))

    made = [mutant(payload, chance) for payload in payloads for _ in range(MUTANTS)]
    await asyncio.gather(*map(send, [*payloads, *made]))

    assert wrong == []
    assert refused > len(made) / 10
    faults = [one for one in caplog.messages if "could not be handled" in one]
    assert all("Undeliverable" in one or "didn't show a person" in one for one in faults), faults
    assert failed <= len(faults)
    audit = await (await scene.redis()).xrange("hitl:{0}:audit")
    events = [json.loads(unpack(fields[b"event"])) for _, fields in audit]
    known = {"submitted", "delivered", "refused"}
    assert {each["kind"] for each in events} == known


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"payload=[]",
        b"payload=" + b"%5B" * 100_000,
        b"payload=" + b"[" + b"1," * 100_000 + b"1]",
        b"{" + b'"a":1,' * 100_000 + b'"a":1}',
        b"a=b&" * 1000,
        b"\xff",
        b'{"type": "block_actions", "actions": "x"}',
        b'{"type": "view_submission", "user": ["U1"], "view": {}}',
        b'{"type": "event_callback", "event": "x"}',
        b'{"command": 5}',
    ],
    ids=lambda body: repr(body[:24]),
)
def test_what_is_refused_is_named(body: bytes) -> None:
    """Given a body that is no payload of Slack's; then one short line says where
    it is wrong."""
    with pytest.raises(InvalidPayload) as caught:
        parse_body(body)
    assert caught.value.status in (400, 404)
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "state",
    [
        {"type": "multi_static_select", "selected_options": None},
        {"type": "static_select", "selected_option": None},
        {"type": "plain_text_input", "value": None},
    ],
)
def test_an_input_without_an_answer_may_be_null(state: Json) -> None:
    """HTTP L4: null is an empty input, and stays null."""
    view = {
        "id": "V1", "type": "home", "hash": "1.x", "blocks": [], "state": {"values": {"b": {"a": state}}},
    }  # fmt: skip
    sent = {"type": "view_submission", "user": {"id": "U1", "team_id": "T1"}, "view": view}
    assert parse_body(json.dumps(sent).encode())["view"]["state"]["values"]["b"]["a"] == state
