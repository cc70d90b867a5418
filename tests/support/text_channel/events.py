"""What people do → commands and forms. A reply is a notice that only this person sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import assert_never

from bot.forms import FieldErrors, FormPage, FormRef, FormService, Notice, Stored
from bot.inbox import ActionRef, Inbox, InboxCommand, Press
from hitl_core.errors import Refused
from hitl_core.model import MessageRef, Place, Reviewer

from . import forms, render
from .channel import TextChannel
from .home import TextHome
from .network import Content, Network
from .reading import action_page_content, arguments_content, split_arguments


class TextEvents:
    """Connects a network to the inbox."""

    def __init__(
        self,
        network: Network,
        channel: TextChannel,
        inbox: Inbox,
        name_of: Callable[[Place], str],
        home: TextHome,
    ) -> None:
        """`name_of` knows the places of all channels."""
        self._inbox, self._home = inbox, home
        self._form_service = FormService(inbox, forms.LIMITS, name_of)
        self._names = channel.names
        network.listener = self.handle

    async def handle(self, event: Mapping[str, str]) -> Content:
        """An event that the network repeats has the same id, so it counts once."""
        person = event["person"]
        who = await self._inbox.directory.load_reviewer(
            render.NAME, person, TextChannel.team, person
        )
        op = f"{render.NAME}:{event['id']}"
        ref = _message_of(event)
        try:
            if "home" in event:
                await self._home.open(person)
                return Content(())
            if "form" in event:
                is_back = event["token"] == "back"
                fill_in = self._turn_back if is_back else self._fill_in
                return await fill_in(event["form"], event["text"], who, op)
            press = Press.parse(event["token"])
            if press.verb in ("back", "next") and not press.target.review_id:
                await self._home.publish(person, press.number)
                return Content(())
            notice = await self._press(press, ref, who, op)
            if ref is None:
                await self._home.publish(person)
            return notice
        except Refused as refused:
            return render.notice(str(refused))

    async def _press(self, press: Press, ref: MessageRef | None, who: Reviewer, op: str) -> Content:
        if (command := press.command(who, op, ref)) is not None:
            return await self._apply(command)
        if (form := FormRef.of_button(press, ref)) is not None:
            return await self._open(form, who, op)
        if press.target.action:
            return await self._show_arguments(press.target, press.number, who)
        review_id, number = press.target.review_id, press.number
        page = await self._inbox.reader.first_action(review_id, number, ref, who)
        await self._record_read(page.reads, who)
        return action_page_content(page, self._names)

    async def _apply(self, command: InboxCommand) -> Content:
        reply, who = await self._inbox.apply(command), command.who
        if reply.unread is not None:
            return await self._show_arguments(reply.unread.target, 0, who)
        if reply.unanswered is not None:
            return await self._open(FormRef("approve", reply.unanswered), who, command.op)
        return render.notice(reply.text)

    async def _show_arguments(self, target: ActionRef, number: int, who: Reviewer) -> Content:
        page = await self._inbox.reader.arguments(target, number, who, split_arguments)
        await self._record_read(page.reads, who)
        return arguments_content(page)

    async def _record_read(self, target: ActionRef | None, who: Reviewer) -> None:
        if target is not None:
            await self._inbox.access.read_marks.record(target, who)

    async def _open(self, ref: FormRef, who: Reviewer, op: str) -> Content:
        return forms.form_content(await self._form_service.open(ref, who), op)

    async def _turn_back(self, token: str, text: str, who: Reviewer, op: str) -> Content:
        """What the person wrote stays in the draft."""
        form = forms.OpenForm.from_token(token)
        id, entries = form.session_id, form.read(text)
        return forms.form_content(
            await self._form_service.redraw(form.ref, id, entries, who, back=True), id
        )

    async def _fill_in(self, token: str, text: str, who: Reviewer, op: str) -> Content:
        form = forms.OpenForm.from_token(token)
        result = await self._form_service.submit(
            form.ref, form.session_id, form.read(text), who, op
        )
        match result:
            case FormPage():
                return forms.form_content(result, form.session_id)
            case FieldErrors():
                return forms.errors_content(result.errors, form)
            case Notice():
                return replace(render.notice(result.text), form=token if result.fixable else "")
            case Stored():
                return Content(())
        assert_never(result)


def _message_of(event: Mapping[str, str]) -> MessageRef | None:
    """The message with the button; None in a Home."""
    if "message" not in event:
        return None
    return MessageRef(channel=render.NAME, conversation=event["room"], ts=event["message"])
