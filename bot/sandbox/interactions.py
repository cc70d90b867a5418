"""When a person clicks, submits or closes: the signed request to the app (or an envelope over one of its
sockets), and its answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import aiohttp

from bot.sandbox.elements import options_of
from bot.sandbox.errors import SlackError
from bot.sandbox.inputs import chosen, filled_state, find, input_ids, refused
from bot.sandbox.modals import Modals
from bot.sandbox.payloads import Payloads, sign
from bot.sandbox.response_urls import ResponseUrls
from bot.sandbox.shapes import Json, is_object
from bot.sandbox.socket_mode import SocketMode
from bot.sandbox.triggers import Triggers
from bot.sandbox.view import checked_view
from bot.sandbox.workspace import App, Ephemeral, Message, Workspace

MODAL_TROUBLE = "We had some trouble connecting. Try again?"
SLOW = "The app did not respond within 3 seconds. Try again?"


class Refused(Exception):
    """What a person sees when something did not work: one sentence."""


@dataclass(frozen=True)
class Answer:
    status: int
    body: str


class Interactions:
    """`bot_url` is read at each delivery, because a bot starts after the sandbox. `deliveries` is
    what was sent: at, body, headers, and the app's status and answer, or None where none came. Over
    Socket Mode, which has no headers, `socket` is the id of the one that was picked."""

    def __init__(
        self,
        workspace: Workspace,
        app: App,
        modals: Modals,
        triggers: Triggers,
        response_urls: ResponseUrls,
        sockets: SocketMode,
        bot_url: Callable[[], str | None],
        patience: float,
    ) -> None:
        self._workspace, self._app, self._modals = workspace, app, modals
        self._triggers, self._response_urls, self._bot_url = triggers, response_urls, bot_url
        self._sockets, self._patience = sockets, patience
        self._payloads = Payloads(workspace, app)
        self.deliveries: list[Json] = []
        self.session: aiohttp.ClientSession | None = None

    async def click_message(self, wish: Json) -> None:
        """A click in a message or a notice: user, channel, ts, block_id, action_id, value?,
        option?, state?, team?."""
        user, team = wish["user"], wish.get("team")
        where = self._seen(user, team, wish["channel"], wish["ts"])
        action, state = self._action(where.blocks, wish)
        payload = self._payloads.message_click(
            user,
            team,
            where,
            action,
            state,
            self._triggers.issue(user),
            self._response_urls.issue(user, where),
        )
        await self._notify(payload, SLOW)

    async def click_view(self, wish: Json) -> None:
        """A click in a modal: user, view_id, block_id, action_id, value?, option?, state?."""
        user, view = wish["user"], self._own_view(wish)
        action, state = self._action(view["blocks"], wish)
        trigger = self._triggers.issue(user)
        payload = self._payloads.view_click(user, wish.get("team"), view, action, state, trigger)
        await self._notify(payload, MODAL_TROUBLE)

    async def submit(self, wish: Json) -> Json:
        """Submits a modal. `{"ok": True, "closed"}`, or the errors beside its fields."""
        user, view = wish["user"], self._own_view(wish)
        if view["submit"] is None:
            raise Refused("This view can't be submitted.")
        state = self._state(view["blocks"], wish.get("values") or {})
        errors = refused(view["blocks"], state)
        if errors:
            return {"ok": False, "errors": errors}
        trigger = self._triggers.issue(user)
        payload = self._payloads.submission(user, wish.get("team"), view, state, trigger)
        answer = await self._deliver(payload)
        if answer is None or answer.status != 200:
            raise Refused(MODAL_TROUBLE)
        return self._obey(user, view, answer.body)

    async def close(self, wish: Json) -> None:
        """Closes a modal; an app that asked for it is told, and its answer is of no interest."""
        user, view = wish["user"], self._own_view(wish)
        self._modals.close(user, view)
        if view["notify_on_close"]:
            await self._deliver(self._payloads.closed(user, view))

    def _seen(self, user: str, team: str | None, channel_id: str, ts: str) -> Message | Ephemeral:
        """The message or notice, if this person can see it."""
        self._check_person(user, team)
        channel = self._workspace.channels.get(channel_id)
        if channel is None or not self._workspace.sees(user, channel):
            raise Refused("You can't see this channel.")
        notice = self._workspace.ephemerals.get(ts)
        if notice is not None and notice.user == user:
            return notice
        message = channel.messages.get(ts)
        if message is None or message.deleted:
            raise Refused("This message is no longer there.")
        return message

    def _check_person(self, user: str, team: str | None) -> None:
        """Members act, and strangers of another team where a channel is shared with it."""
        person = self._workspace.users.get(user)
        if (person is None and team is None) or (person is not None and person.deleted):
            raise Refused("You are not a member of this workspace.")

    def _own_view(self, wish: Json) -> Json:
        self._check_person(wish["user"], wish.get("team"))
        found = self._modals.find(wish["view_id"])
        if found is None or found[0] != wish["user"]:
            raise Refused("This view is no longer open.")
        return found[1]

    def _state(self, blocks: list[Json], typed: Json) -> Json:
        try:
            return filled_state(blocks, typed)
        except ValueError as error:
            raise Refused(str(error)) from error

    def _action(self, blocks: list[Json], wish: Json) -> tuple[Json, Json]:
        """What was clicked as the `actions` of a payload tell it, and the state around it."""
        found = find(blocks, wish["block_id"], wish["action_id"])
        if found is None:
            raise Refused("This button is no longer there.")
        _, element = found
        state = self._state(blocks, wish.get("state") or {})
        try:
            if element["type"] == "button" or options_of(element):
                more = chosen(element, wish.get("value"), wish.get("option"))
            else:
                more = state[wish["block_id"]][wish["action_id"]]
        except ValueError as error:
            raise Refused(str(error)) from error
        if wish["block_id"] in state and wish["action_id"] in state[wish["block_id"]]:
            state[wish["block_id"]][wish["action_id"]] |= more
        action = {
            "type": element["type"],
            "action_id": element["action_id"],
            "block_id": wish["block_id"],
            "action_ts": self._workspace.next_ts(),
            **more,
        }
        return action, state

    async def _notify(self, payload: Json, slow: str) -> None:
        answer = await self._deliver(payload)
        if answer is None:
            raise Refused(slow)
        if answer.status != 200:
            raise Refused(f"The app responded with status code {answer.status}. Try again?")

    async def _deliver(self, payload: Json) -> Answer | None:
        """Hands the payload over as Slack does; None where no answer came in time."""
        if self._sockets.enabled:
            return await self._over_a_socket(payload)
        body = urlencode({"payload": json.dumps(payload)})
        timestamp = str(int(self._workspace.now()))
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": sign(self._app.signing_secret, timestamp, body),
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
        }
        delivery = self._note(body=body, headers=headers)
        url = self._bot_url()
        if url is None or self.session is None:
            return None
        try:
            async with asyncio.timeout(self._patience):
                async with self.session.post(url, data=body, headers=headers) as response:
                    answer = Answer(response.status, await response.text())
        except (aiohttp.ClientError, TimeoutError):
            return None
        delivery |= {"status": answer.status, "answer": answer.body}
        return answer

    async def _over_a_socket(self, payload: Json) -> Answer | None:
        socket = self._sockets.pick()
        delivery = self._note(body=json.dumps(payload), headers={}, socket=socket and socket.id)
        said = await socket.ask(payload, self._patience) if socket else None
        if said is None:
            return None
        answer = Answer(200, json.dumps(said))
        delivery |= {"status": answer.status, "answer": answer.body}
        return answer

    def _note(self, **sent: Any) -> Json:
        delivery = {"at": self._workspace.now(), **sent, "status": None, "answer": None}
        self.deliveries.append(delivery)
        return delivery

    def _obey(self, user: str, view: Json, body: str) -> Json:
        """Does what the answer to a submission asks for; anything unsound is a failure to the
        person, as in Slack, which tells the app nothing."""
        try:
            wish: Any = json.loads(body) if body.strip() else {}
            if not is_object(wish):
                raise Refused(MODAL_TROUBLE)
            return self._respond(user, view, wish)
        except (ValueError, SlackError) as error:
            raise Refused(MODAL_TROUBLE) from error

    def _respond(self, user: str, view: Json, wish: Json) -> Json:
        still_open = view in self._modals.stack(user)
        match wish.get("response_action"):
            case None:
                if still_open:
                    self._modals.close(user, view)
                return {"ok": True, "closed": True}
            case "clear":
                self._modals.clear(user)
                return {"ok": True, "closed": True}
            case "errors":
                return {"ok": False, "errors": self._field_errors(view, wish.get("errors"))}
            case "update" if still_open:
                self._modals.update(view, checked_view(wish.get("view")))
            case "push" if still_open:
                self._modals.push(user, checked_view(wish.get("view")))
            case _:
                raise Refused(MODAL_TROUBLE)
        return {"ok": True, "closed": False}

    @staticmethod
    def _field_errors(view: Json, errors: object) -> Json:
        """Errors must be strings and stand beside input blocks of the view that was submitted."""
        known = input_ids(view["blocks"])
        if not is_object(errors) or not errors or not set(errors) <= known:
            raise Refused(MODAL_TROUBLE)
        if not all(isinstance(message, str) and message for message in errors.values()):
            raise Refused(MODAL_TROUBLE)
        return errors
