"""Agents in any language, people in Slack: the HTTP API of a bot that runs as in production."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import time
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from hitl_core.review.service import Reviews
from hitl_core.store import RedisStore
from tests.api.client import Client, issue
from tests.support.bots import CANARY, POLICY, ROOT, Process, Scene
from tests.support.slack import buttons, text_of
from tests.support.waiting import wait_until

CALL = {"id": "c1", "name": "send_email", "args": {"to": f"{CANARY}@example.com", "copies": 1}}


class HttpAgents:
    """Bots with a policy, and clients with a token of the agent `crm`."""

    def __init__(self, scene: Scene, store: RedisStore, session: aiohttp.ClientSession) -> None:
        self.scene, self.store, self.session = scene, store, session
        self.policy = scene.folder / "policy.yaml"
        self.policy.write_text(POLICY)

    async def bot(self) -> str:
        """The address of one more bot in this process."""
        return _address((await self.scene.bot(HITL_POLICY=str(self.policy))).url)

    async def process(self, failpoints: str = "") -> Process:
        return await self.scene.bot_process(failpoints, HITL_POLICY=str(self.policy))

    async def client(self, url: str, agent: str = "crm") -> Client:
        _, text = await issue(self.store, agent)
        return Client(self.session, url, text)


@pytest.fixture
async def agents(scene: Scene) -> AsyncIterator[HttpAgents]:
    store = await RedisStore.open(scene.redis_url)
    async with aiohttp.ClientSession() as session:
        yield HttpAgents(scene, store, session)
    await store.close()


def _address(url: str) -> str:
    return url.removesuffix("/slack/events")


async def settle(client: Client, scene: Scene) -> str:
    """The id of a review that Alice approved."""
    id = (await client.submit(CALL)).body["id"]
    await scene.alice.press(await scene.card("send_email"), "approve")
    await client.read(id, wait=10)
    return id


async def test_promise_8_what_a_person_edits_is_what_an_http_client_runs(
    scene: Scene, agents: HttpAgents
):
    """Given a client that submits and waits; when Alice edits the call, then it is answered within a
    moment with her arguments, and the result is on the card."""
    client = await agents.client(await agents.bot())
    review = (await client.submit(CALL, requester="U0BOB")).body
    waiting = asyncio.create_task(client.read(review["id"], wait=60))
    card = await scene.card("send_email", CANARY)
    await scene.alice.press(card, "edit")
    assert not waiting.done()

    assert (await scene.alice.submit(copies=3))["ok"]

    async with asyncio.timeout(30):
        outcome = (await waiting)["outcome"]
    [call] = outcome["execute"]
    assert call == {**CALL, "args": {**CALL["args"], "copies": 3}}
    assert (await client.once(review["id"])).body["run"] is True
    assert (await client.done(review["id"], c1="sent as m-1")).body["status"] == "done"
    await scene.card("edited and approved by U0ALICE", "sent as m-1")


async def test_promise_5_a_client_that_dies_after_once_leaves_a_doubt_on_the_card(
    scene: Scene, agents: HttpAgents
):
    """Fault A4: given a client that died between `once` and `done`; when its lease has ended, then the card
    asks, and after Bob's answer a second client runs the call, once."""
    url = await agents.bot()
    client, second = await agents.client(url), await agents.client(url)
    id = await settle(client, scene)
    assert (await client.once(id, lease=5)).body["run"] is True
    assert (await second.once(id)).code == "claimed_elsewhere"

    card = await scene.card("it may or may not have run")
    assert (await second.once(id)).code == "in_doubt"
    waiting = asyncio.create_task(second.read(id, wait=60))
    await scene.bob.press(card, "doubt_rerun")

    assert [call["id"] for call in (await waiting)["outcome"]["execute"]] == ["c1"]
    assert (await second.once(id)).body["run"] is True
    assert (await client.done(id, c1="late")).code == "claimed_elsewhere"
    await second.done(id, c1="ran again")
    await scene.card("ran again")


async def test_promise_5_of_two_clients_at_two_bots_one_may_run(scene: Scene, agents: HttpAgents):
    """Given two bots and two clients of one name; when both ask at the same moment, then one is told to
    run."""
    one = await agents.client(await agents.bot())
    two = Client(agents.session, await agents.bot(), one.token)
    id = await settle(one, scene)

    replies = await asyncio.gather(*(client.once(id) for client in (one, two) * 4))

    assert sorted(reply.body["run"] for reply in replies) == [False] * 7 + [True]


async def test_promise_4_a_bot_killed_before_it_answers_has_told_nobody(
    scene: Scene, agents: HttpAgents
):
    """Given a bot that dies after it stored a `once`, before it answered; when the client asks another
    bot again, with its key, then it is told to run; and without one, that the call was started."""
    first = await agents.process("api.after_once=kill")
    client = await agents.client(_address(first.url))
    id = await settle(client, scene)
    with pytest.raises(aiohttp.ClientError):
        await client.once(id, key="k1")
    assert await first.wait_end() == -signal.SIGKILL

    client.url = await agents.bot()
    assert (await client.once(id, key="k1")).body["run"] is True
    assert (await client.once(id)).body["run"] is False
    await client.done(id, c1="sent")
    await scene.card("sent")


async def test_promise_6_a_cancelled_review_says_so_and_its_buttons_change_nothing(
    scene: Scene, agents: HttpAgents
):
    """Given a card that still shows its buttons; when the agent withdraws the review, then a person who
    presses is told so, and the card says why."""
    client = await agents.client(await agents.bot())
    id = (await client.submit(CALL)).body["id"]
    card = await scene.card("send_email")
    await scene.actor.inject_fault("http_500", method="chat.update")
    reply = await client.post(f"/v1/reviews/{id}/cancel", {"reason": "The customer called"})
    assert reply.body["outcome"]["jump_to_model"] is True

    await scene.alice.press(card, "approve")

    assert await scene.alice.notices() == [
        "The agent cancelled this: nobody needs to decide any more."
    ]
    await scene.actor.inject_fault("ok", method="chat.update")
    closed = await scene.card("The customer called")
    assert not buttons(closed, "approve")
    assert (await client.once(id)).code == "cancelled"


async def test_a_revoked_token_stops_at_once_and_the_cards_stay(scene: Scene, agents: HttpAgents):
    """Given a client that waits; when its token is revoked, then it gets nothing more, and people may still
    decide."""
    client = await agents.client(await agents.bot())
    id = (await client.submit(CALL)).body["id"]
    waiting = asyncio.create_task(client.get(f"/v1/reviews/{id}?wait=60"))
    card = await scene.card("send_email")
    [token] = await agents.store.tokens()
    await agents.store.drop_token(token.id)

    assert (await client.once(id)).code == "unauthorized"
    assert (await client.submit(CALL)).code == "unauthorized"
    await scene.alice.press(card, "approve")
    assert (await waiting).code == "unauthorized"
    assert (await Reviews(agents.store).load(id)).review.status == "settled"


async def test_promise_7_looking_decides_nothing_and_strangers_see_nothing(
    scene: Scene, agents: HttpAgents
):
    """Given a review that waits; when its address is opened in every way, with and without another
    agent's token, then it still waits, and nobody has read it."""
    url = await agents.bot()
    client, stranger = await agents.client(url), await agents.client(url, agent="support")
    id = (await client.submit(CALL)).body["id"]
    card = await scene.card("send_email")
    nobody = Client(agents.session, url, "")
    for who, status in [(client, 200), (stranger, 404), (nobody, 401)]:
        for method in ("GET", "HEAD"):
            assert (await who.send(method, f"/v1/reviews/{id}")).status == status
            for route in ("once", "done", "cancel", "renew"):
                reply = await who.send(method, f"/v1/reviews/{id}/{route}")
                assert reply.status == 405
                assert CANARY not in str(reply.body)

    assert (await client.read(id))["status"] == "pending"
    assert text_of(await scene.card("send_email")) == text_of(card)


async def test_promise_11_requests_are_refused_while_redis_is_away(
    scene: Scene, agents: HttpAgents, own_redis: Any
):
    """Given a Redis that is away for a while; then a submit is refused with a time for the next try, and the
    next try is stored once."""
    server = own_redis()
    scene.redis_url = server.url
    store = await RedisStore.open(server.url)
    client = await agents.client(await agents.bot())
    client.token = (await issue(store, "crm"))[1]
    server.kill()

    refused = await client.submit(CALL)

    assert (refused.status, refused.code) == (503, "unavailable")
    assert "Retry-After" in refused.headers
    server.start()

    async def is_stored() -> bool:
        return (await client.submit(CALL)).status in (200, 201)

    await wait_until("it is stored", is_stored, 20)
    await scene.card("send_email")
    await scene.all_shown()
    assert len(await scene.cards()) == 1
    await store.close()


async def test_a_bot_that_stops_answers_who_waits_and_ends_in_time(
    scene: Scene, agents: HttpAgents
):
    """Given a client that waits; when the bot gets SIGTERM, then the client is answered with what there
    is, and continues at another bot; and the log has one line for each request."""
    first = await agents.process()
    client = await agents.client(_address(first.url))
    id = (await client.submit(CALL)).body["id"]
    waiting = asyncio.create_task(client.read(id, wait=60))
    card = await scene.card("send_email")
    began = time.monotonic()
    first.signal(signal.SIGTERM)

    assert (await waiting)["status"] == "pending"
    assert await first.wait_end() == 0
    assert time.monotonic() - began < 30  # the client wanted to wait 60 s
    client.url = await agents.bot()
    await scene.alice.press(card, "approve")
    assert (await client.read(id, wait=10))["status"] == "settled"
    assert "POST /v1/reviews 201 " in first.output
    assert f"GET /v1/reviews/{id} 200 " in first.output
    assert client.token.split("_", 2)[2] not in first.output


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node on the PATH")
@pytest.mark.parametrize(
    ("button", "text"), [("approve", "sent to ada@example.com"), ("reject", "User rejected")]
)
async def test_an_agent_in_javascript(scene: Scene, agents: HttpAgents, button: str, text: str):
    """Given examples/http_agent.mjs, as it is; when Alice decides, then it runs the call, or its model gets
    the reason."""
    client = await agents.client(await agents.bot())
    agent = await asyncio.create_subprocess_exec(
        "node", "examples/http_agent.mjs", cwd=ROOT, stdout=asyncio.subprocess.PIPE,
        env={"HITL_URL": client.url, "HITL_TOKEN": client.token},
    )  # fmt: skip
    try:
        await scene.alice.press(await scene.card("send_email", "ada@example.com"), button)
        if button == "reject":
            await scene.alice.submit()
        async with asyncio.timeout(20):
            output, _ = await agent.communicate()
    finally:
        if agent.returncode is None:
            agent.kill()
            await agent.wait()

    assert agent.returncode == 0
    [answer] = json.loads(output)
    assert answer["tool_call_id"] == "c1"
    assert answer["content"].startswith(text)
    await scene.card("send_email", "by U0ALICE")


async def test_a_worker_bot_has_no_http_api(scene: Scene, agents: HttpAgents):
    """Given a bot with `--workers` only, and one with the HTTP API; then only the other one serves the HTTP
    API."""
    workers = await scene.process(
        "bot", "serve", "--only", "workers",
        env=scene.environment(HITL_POLICY=str(agents.policy)),
    )  # fmt: skip
    await workers.listening()
    client = await agents.client(_address(workers.url))

    assert (await client.get("/v1/openapi.json")).status == 404
    assert (await client.submit(CALL)).status == 404
    client.url = await agents.bot()
    assert (await client.get("/v1/openapi.json")).body["openapi"] == "3.1.0"


async def test_a_policy_that_is_wrong_stops_the_start(scene: Scene, agents: HttpAgents):
    """Given a folder of policies with a typo in one; then the bot does not start, and names it."""
    folder = scene.folder / "policies"
    folder.mkdir()
    (folder / "crm.yaml").write_text(POLICY)
    (folder / "support.yaml").write_text("default: reveiw\n")

    bot = await scene.process("bot", "serve", env=scene.environment(HITL_POLICY=str(folder)))

    assert await bot.wait_end() == 2
    assert "support.yaml:1" in bot.output
