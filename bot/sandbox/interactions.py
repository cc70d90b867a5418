"""When a person clicks, submits or closes: what the app is sent, and what its answer does."""

from __future__ import annotations

import json
from typing import Any

from bot.sandbox.clicks import Refused, clicked
from bot.sandbox.delivery import Answer, Courier
from bot.sandbox.errors import SlackError
from bot.sandbox.home import Homes
from bot.sandbox.inputs import input_ids, refused
from bot.sandbox.modals import Modals
from bot.sandbox.payloads import Payloads
from bot.sandbox.response_urls import ResponseUrls
from bot.sandbox.shapes import Json, is_object
from bot.sandbox.states import filled_state
from bot.sandbox.triggers import Triggers
from bot.sandbox.view import checked_view
from bot.sandbox.workspace import App, Ephemeral, Message, Workspace

MODAL_TROUBLE = "We had some trouble connecting. Try again?"
SLOW = "The app did not respond within 3 seconds. Try again?"


class Interactions:
    def __init__(
        self,
        workspace: Workspace,
        app: App,
        modals: Modals,
        homes: Homes,
        triggers: Triggers,
        response_urls: ResponseUrls,
        courier: Courier,
    ) -> None:
        self._workspace, self._modals, self._homes = workspace, modals, homes
        self._triggers, self._response_urls, self._courier = triggers, response_urls, courier
        self._payloads = Payloads(workspace, app)

    @property
    def deliveries(self) -> list[Json]:
        """What the app was sent, of every kind."""
        return self._courier.deliveries

    async def click_message(self, wish: Json) -> None:
        """A click in a message or a notice: user, channel, ts, block_id, action_id, value?,
        option?, state?, team?, tab?."""
        user, team = wish["user"], wish.get("team")
        where = self._seen(user, team, wish["channel"], wish["ts"])
        action, state = clicked(where.blocks, wish)
        payload = self._payloads.message_click(
            user,
            team,
            where,
            {**action, "action_ts": self._workspace.next_ts()},
            state,
            self._triggers.issue(user, wish.get("tab")),
            self._response_urls.issue(user, where),
        )
        await self._notify(payload, SLOW)

    async def click_view(self, wish: Json) -> None:
        """A click in a modal or a Home tab: user, view_id, block_id, action_id, value?, option?,
        state?, tab?."""
        user, view = wish["user"], self._own_view(wish, or_home=True)
        action, state = clicked(view["blocks"], wish, view["state"]["values"])
        action["action_ts"] = self._workspace.next_ts()
        self._modals.typed(view, state)
        trigger = self._triggers.issue(user, wish.get("tab"))
        payload = self._payloads.view_click(user, wish.get("team"), view, action, state, trigger)
        await self._notify(payload, MODAL_TROUBLE)

    async def submit(self, wish: Json) -> Json:
        """Submits a modal: user, view_id, values? (what was typed), tab?. `{"ok": True, "closed"}`,
        or the errors beside its fields."""
        user, view = wish["user"], self._own_view(wish)
        if view["submit"] is None:
            raise Refused("This view can't be submitted.")
        try:
            state = filled_state(view["blocks"], wish.get("values") or {}, view["state"]["values"])
        except ValueError as error:
            raise Refused(str(error)) from error
        self._modals.typed(view, state)
        errors = refused(view["blocks"], state)
        if errors:
            return {"ok": False, "errors": errors}
        trigger = self._triggers.issue(user, wish.get("tab"))
        payload = self._payloads.submission(user, wish.get("team"), view, state, trigger)
        answer = await self._deliver(payload)
        if answer is None or answer.status != 200:
            raise Refused(MODAL_TROUBLE)
        return self._obey(user, view, answer.body)

    async def close(self, wish: Json) -> None:
        """Closes a view, or the whole modal where the view says `clear_on_close`; an app that asked
        for it is told, and its answer is of no interest."""
        user, view = wish["user"], self._own_view(wish)
        all_of_them = view["clear_on_close"]
        for gone in self._modals.close(user, None if all_of_them else view):
            if gone["notify_on_close"]:
                await self._deliver(self._payloads.closed(user, gone, all_of_them))

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
        person = self._workspace.person(user)
        if (person is None and team is None) or (person is not None and person.deleted):
            raise Refused("You are not a member of this workspace.")

    def _own_view(self, wish: Json, or_home: bool = False) -> Json:
        self._check_person(wish["user"], wish.get("team"))
        view_id = wish["view_id"]
        found = self._modals.find(view_id) or (self._homes.find(view_id) if or_home else None)
        if found is None or found[0] != wish["user"]:
            raise Refused("This view is no longer open.")
        return found[1]

    async def _notify(self, payload: Json, slow: str) -> None:
        answer = await self._deliver(payload)
        if answer is None:
            raise Refused(slow)
        if answer.status != 200:
            raise Refused(f"The app responded with status code {answer.status}. Try again?")

    async def _deliver(self, payload: Json) -> Answer | None:
        """Hands the payload over as Slack does; None where no answer came in time."""
        answer = await self._courier.interaction(payload)
        return answer if isinstance(answer, Answer) else None

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
                self._modals.close(user)
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
