"""The Microsoft 365 Agents Playground as a client of the bot: it shows cards with Microsoft's own renderer.

It sends no tokens and does not use Entra. So a proxy between it and the bot signs what the Playground sends,
passes on the Connector's calls, and takes logins, keys and Graph from the local Teams.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import yaml
from aiohttp import web

from slack_sandbox.demo.ports import find_free_port
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.server import running_sandbox
from teams_sandbox.workspace.acme import (
    ALICE,
    APPROVALS,
    APPROVALS_GROUP,
    BOB,
    ESCALATIONS,
    GROUP_CHAT,
)

FOLDER = Path(__file__).parent
#: Where `make test-teams-playground` installs it.
PROGRAM = FOLDER.parents[1] / "build/playground/node_modules/@microsoft/m365agentsplayground/cli.js"
PERSONAL_CHAT = "a:1alice"


@dataclass
class Playground:
    """`url` is its page, `settings` those of the bot. `bot_url` gets what people do."""

    sandbox: Sandbox
    url: str
    settings: dict[str, str]
    bot_url: str = ""


@asynccontextmanager
async def running_playground(folder: Path) -> AsyncIterator[Playground]:
    """`folder` gets its configuration and its log."""
    async with running_sandbox() as sandbox, aiohttp.ClientSession() as session:
        front = Front(sandbox, session)
        async with front.serving() as url:
            port = find_free_port()
            front.connector = f"http://127.0.0.1:{port}/_connector"
            sandbox_url, sandbox.url = sandbox.url, url
            front.others = sandbox_url
            async with _program(folder, port, f"{url}/api/messages", sandbox, session):
                playground = Playground(sandbox, f"http://127.0.0.1:{port}/", sandbox.settings())
                front.playground = playground
                yield playground


class Front:
    def __init__(self, sandbox: Sandbox, session: aiohttp.ClientSession) -> None:
        self._sandbox, self._session = sandbox, session
        self.connector = self.others = ""
        self.playground: Playground | None = None

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        app = web.Application(client_max_size=2**20)
        app.router.add_route("*", "/api/messages", self._to_bot)
        service = "/smba.trafficmanager.net/emea/{tenant}"
        app.router.add_route("*", service + "/{path:.*}", self._to_playground)
        app.router.add_route("*", "/{path:.*}", self._to_sandbox)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()

    async def _to_bot(self, request: web.Request) -> web.Response:
        if request.method == "HEAD":  # the page asks whether there is a bot
            return web.Response()
        assert self.playground is not None
        token = self._sandbox.login.bot_framework_token(self._sandbox.service_url)
        headers = {"Authorization": f"Bearer {token}"}
        return await self._pass_on(request, self.playground.bot_url, headers)

    async def _to_playground(self, request: web.Request) -> web.Response:
        url = f"{self.connector}/{request.match_info['path']}"
        return await self._pass_on(
            request, url, {"Authorization": request.headers["Authorization"]}
        )

    async def _to_sandbox(self, request: web.Request) -> web.Response:
        headers = {
            k: v for k, v in request.headers.items() if k in ("Authorization", "Content-Type")
        }
        return await self._pass_on(request, f"{self.others}{request.path}", headers)

    async def _pass_on(
        self, request: web.Request, url: str, headers: dict[str, str]
    ) -> web.Response:
        headers = {"Content-Type": request.content_type, **headers}
        body = await request.read()
        async with self._session.request(
            request.method, url, params=request.query, data=body, headers=headers
        ) as answer:
            content = await answer.read()
            return web.Response(
                body=content, status=answer.status, content_type=answer.content_type
            )


@asynccontextmanager
async def _program(
    folder: Path, port: int, bot_url: str, sandbox: Sandbox, session: aiohttp.ClientSession
) -> AsyncIterator[None]:
    (folder / ".m365agentsplayground.yml").write_text(yaml.safe_dump(_configuration(sandbox)))
    options = ["-e", bot_url, "-c", "msteams", "-p", str(port), "--su", sandbox.service_url]
    loopback = f"--require {FOLDER / 'loopback.cjs'}"
    environment = {
        **os.environ,
        "NODE_OPTIONS": loopback,
        "APPLICATION_INSIGHTS_NO_STATSBEAT": "1",  # else it calls home also without telemetry
    }
    with (folder / "playground.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            "node", str(PROGRAM), "start", *options, "--disable-telemetry",
            cwd=folder, env=environment, stdout=log, stderr=log,
        )  # fmt: skip

    async def answers() -> bool:
        try:
            async with session.get(f"http://127.0.0.1:{port}/_debug/ping") as answer:
                return answer.status == 200
        except aiohttp.ClientError:
            return False

    try:
        async with asyncio.timeout(30):
            while not await answers():
                await asyncio.sleep(0.1)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        await process.wait()


def _configuration(sandbox: Sandbox) -> dict[str, object]:
    """The tenant, as the Playground's file has it: Alice is at the screen."""
    workspace = sandbox.workspace

    def user(id: str) -> dict[str, str]:
        person = workspace.person(id)
        assert person is not None
        given, _, surname = person.display_name.partition(" ")
        mail = f"{given.lower()}@example.com"
        return {
            "id": person.mri, "aadObjectId": id, "name": person.display_name, "email": mail,
            "userPrincipleName": mail, "givenName": given, "surname": surname,
        }  # fmt: skip

    others = [one for one in workspace.users if one not in (ALICE, BOB)]
    return {
        "version": "0.1.1",
        "tenantId": workspace.tenant_id,
        "bot": {"id": sandbox.app.mri, "name": sandbox.app.name},
        "currentUser": user(ALICE),
        "users": [user(one) for one in (BOB, *others[:4])],
        "personalChat": {"id": PERSONAL_CHAT},
        "groupChat": {"id": GROUP_CHAT, "name": "Release 7"},
        "team": {
            "id": APPROVALS, "name": "Agent approvals", "aadGroupId": APPROVALS_GROUP,
            "channels": [{"id": ESCALATIONS, "name": "Escalations"}],
        },
    }  # fmt: skip
