"""The Events API: sends events of the workspace to an app that subscribed to them.

https://docs.slack.dev/apis/events-api
"""

from __future__ import annotations

import asyncio
import json
import secrets

from ..json_checks import Json
from ..workspace import App, Workspace
from .app_client import Answer, AppClient


class Events:
    """As in Slack, an event is lost if all attempts fail, and two events may arrive in the wrong order.
    `pauses`: seconds before each retry; Slack's are 0, 60 and 300.
    """

    def __init__(self, workspace: Workspace, app: App, app_client: AppClient) -> None:
        self._workspace, self._app, self._app_client = workspace, app, app_client
        self._tasks: set[asyncio.Task[None]] = set()
        self.retry_delays: tuple[float, ...] = (0.0, 0.05, 0.1)

    def send(self, event: Json, needs: str | None = None) -> None:
        """Starts the delivery, if the app subscribed to this type of event and has the scope."""
        if event["type"] not in self._app.events or (needs and needs not in self._app.scopes):
            return
        task = asyncio.create_task(self._deliver(self._envelope(event)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def wait_delivered(self) -> None:
        """Waits until every event was delivered or lost."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def end(self) -> None:
        """Cancels the deliveries that are running."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def verify_url(self) -> bool:
        """Returns whether the app answers the challenge; otherwise Slack doesn't accept its address.
        https://docs.slack.dev/reference/events/url_verification"""
        challenge = secrets.token_hex(26)
        token = self._app.verification_token
        answer = await self._app_client.send_event(
            {"token": token, "challenge": challenge, "type": "url_verification"}
        )
        return isinstance(answer, Answer) and answer.status == 200 and challenge in answer.body

    async def _deliver(self, body: Json) -> None:
        answer = await self._app_client.send_event(body)
        for retry, pause in enumerate(self.retry_delays, start=1):
            match answer:
                case Answer(status, _, may_retry):
                    if 200 <= status < 300 or not may_retry:
                        return
                    reason = "http_error"
                case silence:
                    reason = silence
            await asyncio.sleep(pause)
            answer = await self._app_client.send_event(body, retry, reason)

    def _envelope(self, event: Json) -> Json:
        team, moment = self._workspace.team_id, self._workspace.next_ts()
        body: Json = {
            "token": self._app.verification_token,
            "team_id": team,
            "context_team_id": team,
            "context_enterprise_id": None,
            "api_app_id": self._app.app_id,
            "event": {**event, "event_ts": moment},
            "type": "event_callback",
            "event_id": self._workspace.new_id("Ev"),
            "event_time": int(float(moment)),
            "authorizations": [
                {
                    "enterprise_id": None,
                    "team_id": team,
                    "user_id": self._app.user_id,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": False,
        }
        return json.loads(json.dumps(body))  # a copy: later changes must not change it
