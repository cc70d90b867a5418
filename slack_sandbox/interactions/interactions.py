"""A person clicks, submits or closes: sends the payload to the app, and applies its answer."""

from __future__ import annotations

import json
from typing import Any

from ..activity import HomeTabs
from ..delivery import Answer, AppClient, Payloads
from ..errors import SlackError
from ..json_checks import (
    Json,
    is_object,
)
from ..validation import UserError, client_errors, fill_state, input_ids, read_click
from ..workspace import App, Ephemeral, Message, Modals, Workspace, validate_view
from .response_urls import ResponseUrls
from .triggers import Triggers

MODAL_ERROR = "We had some trouble connecting. Try again?"
TIMEOUT_ERROR = "The app did not respond within 3 seconds. Try again?"


class Interactions:
    def __init__(
        self,
        workspace: Workspace,
        app: App,
        modals: Modals,
        homes: HomeTabs,
        triggers: Triggers,
        response_urls: ResponseUrls,
        app_client: AppClient,
    ) -> None:
        self._workspace, self._modals, self._homes = workspace, modals, homes
        self._triggers, self._response_urls, self._app_client = triggers, response_urls, app_client
        self._payloads = Payloads(workspace, app)

    @property
    def deliveries(self) -> list[Json]:
        """Everything that was sent to the app."""
        return self._app_client.deliveries

    async def click_message(self, params: Json) -> None:
        """A click in a message or a notice: user, channel, ts, block_id, action_id, value?,
        option?, state?, team?, tab?."""
        user, team = params["user"], params.get("team")
        where = self._visible_message(user, team, params["channel"], params["ts"])
        action, state = read_click(where.blocks, params)
        payload = self._payloads.message_click(
            user,
            team,
            where,
            {**action, "action_ts": self._workspace.next_ts()},
            state,
            self._triggers.issue(user, params.get("tab")),
            self._response_urls.issue(user, where),
        )
        await self._deliver_or_raise(payload, TIMEOUT_ERROR)

    async def click_view(self, params: Json) -> None:
        """A click in a modal or a Home tab: user, view_id, block_id, action_id, value?, option?,
        state?, tab?."""
        user, view = params["user"], self._own_view(params, or_home=True)
        action, state = read_click(view["blocks"], params, view["state"]["values"])
        action["action_ts"] = self._workspace.next_ts()
        self._modals.set_state(view, state)
        trigger = self._triggers.issue(user, params.get("tab"))
        payload = self._payloads.view_click(user, params.get("team"), view, action, state, trigger)
        await self._deliver_or_raise(payload, MODAL_ERROR)

    async def submit(self, params: Json) -> Json:
        """Submits a modal: user, view_id, values? (what was typed), tab?. `{"ok": True, "closed"}`,
        or the errors beside its fields."""
        user, view = params["user"], self._own_view(params)
        if view["submit"] is None:
            raise UserError("This view can't be submitted.")
        try:
            state = fill_state(view["blocks"], params.get("values") or {}, view["state"]["values"])
        except ValueError as error:
            raise UserError(str(error)) from error
        self._modals.set_state(view, state)
        errors = client_errors(view["blocks"], state)
        if errors:
            return {"ok": False, "errors": errors}
        trigger = self._triggers.issue(user, params.get("tab"))
        payload = self._payloads.submission(user, params.get("team"), view, state, trigger)
        answer = await self._deliver(payload)
        if answer is None or answer.status != 200:
            raise UserError(MODAL_ERROR)
        return self._apply_answer(user, view, answer.body)

    async def close(self, params: Json) -> None:
        """Closes a view, or the whole modal if the view says `clear_on_close`. If the view says
        `notify_on_close`, the app gets a payload; its answer is ignored."""
        user, view = params["user"], self._own_view(params)
        all_of_them = view["clear_on_close"]
        for closed_view in self._modals.close(user, None if all_of_them else view):
            if closed_view["notify_on_close"]:
                await self._deliver(self._payloads.view_closed(user, closed_view, all_of_them))

    def _visible_message(
        self, user: str, team: str | None, channel_id: str, ts: str
    ) -> Message | Ephemeral:
        """The message or notice, if this person can see it."""
        self._check_person(user, team)
        channel = self._workspace.channels.get(channel_id)
        if channel is None or not self._workspace.can_see(user, channel):
            raise UserError("You can't see this channel.")
        notice = self._workspace.ephemerals.get(ts)
        if notice is not None and notice.user == user:
            return notice
        message = channel.messages.get(ts)
        if message is None or message.deleted:
            raise UserError("This message is no longer there.")
        return message

    def _check_person(self, user: str, team: str | None) -> None:
        """Members may act; so may people of another workspace with which a channel is shared."""
        person = self._workspace.person(user)
        if (person is None and team is None) or (person is not None and person.deleted):
            raise UserError("You are not a member of this workspace.")

    def _own_view(self, params: Json, or_home: bool = False) -> Json:
        self._check_person(params["user"], params.get("team"))
        view_id = params["view_id"]
        match = self._modals.find(view_id) or (self._homes.find(view_id) if or_home else None)
        if match is None or match[0] != params["user"]:
            raise UserError("This view is no longer open.")
        return match[1]

    async def _deliver_or_raise(self, payload: Json, timeout_error: str) -> None:
        answer = await self._deliver(payload)
        if answer is None:
            raise UserError(timeout_error)
        if answer.status != 200:
            raise UserError(f"The app responded with status code {answer.status}. Try again?")

    async def _deliver(self, payload: Json) -> Answer | None:
        """Sends the payload as Slack does. None if no answer came in time."""
        answer = await self._app_client.send_interaction(payload)
        return answer if isinstance(answer, Answer) else None

    def _apply_answer(self, user: str, view: Json, body: str) -> Json:
        """Applies the answer to a submission. If the answer is invalid, the person sees a failure and
        the app gets no error, as in Slack."""
        try:
            response: Any = json.loads(body) if body.strip() else {}
            if not is_object(response):
                raise UserError(MODAL_ERROR)
            return self._apply_response(user, view, response)
        except (ValueError, SlackError) as error:
            raise UserError(MODAL_ERROR) from error

    def _apply_response(self, user: str, view: Json, response: Json) -> Json:
        still_open = view in self._modals.stack(user)
        match response.get("response_action"):
            case None:
                if still_open:
                    self._modals.close(user, view)
                return {"ok": True, "closed": True}
            case "clear":
                self._modals.close(user)
                return {"ok": True, "closed": True}
            case "errors":
                return {"ok": False, "errors": self._field_errors(view, response.get("errors"))}
            case "update" if still_open:
                self._modals.update(view, validate_view(response.get("view")))
            case "push" if still_open:
                self._modals.push(user, validate_view(response.get("view")))
            case _:
                raise UserError(MODAL_ERROR)
        return {"ok": True, "closed": False}

    @staticmethod
    def _field_errors(view: Json, errors: object) -> Json:
        """Errors must be strings, each for an input block of the submitted view."""
        known = input_ids(view["blocks"])
        if not is_object(errors) or not errors or not set(errors) <= known:
            raise UserError(MODAL_ERROR)
        if not all(isinstance(message, str) and message for message in errors.values()):
            raise UserError(MODAL_ERROR)
        return errors
