"""Handles the invoke of a card's button: checks it, reads its value, and answers."""

from __future__ import annotations

from hitl_core.model import Reviewer

from .... import click_budget
from ....forms import FormService
from ....inbox import Inbox, Press
from ..channel import TeamsChannel
from ..ids import IN_HOME, ON_CARD, Kind, OpenForm, Where
from ..render import TEAMS_LIMITS
from ..transport import Activity, Answer, ExecuteValue, parse_execute
from .answers import card_answer
from .click import Click, conversation_of, message_of, op_of_press
from .files import Files
from .forms import Forms
from .home import TeamsHome
from .presses import Presses
from .views import Views


class CardActions:
    """Every answer is a card or a sentence that only this person sees. The data of a button is trusted only
    after its MAC was checked, and nobody decides by a name.
    """

    def __init__(self, inbox: Inbox, channel: TeamsChannel, home: TeamsHome, files: Files) -> None:
        self._channel = channel
        form_service = FormService(inbox, TEAMS_LIMITS, channel.name_of)
        self._views = Views(inbox, channel, home)
        self._presses = Presses(inbox, form_service, self._views, files)
        self._forms = Forms(form_service, self._views, self._presses)

    async def answer(self, activity: Activity, who: Reviewer) -> Answer:
        """Raises InvalidActivity, Refused, ChannelError, StoreUnavailable, TimeoutError."""
        execute = parse_execute(activity)
        key = self._channel.key_in(conversation_of(activity))
        kind, value = key.read(execute.action.data)
        return await self._answer(activity, execute, kind, value, who)

    async def _answer(
        self, activity: Activity, execute: ExecuteValue, kind: Kind, value: str, who: Reviewer
    ) -> Answer:

        def click_in(where: Where) -> Click:
            op = op_of_press(activity, who, value)
            conversation = conversation_of(activity)
            card, message_id = message_of(activity, where), activity.reply_to_id
            return Click(who, op, conversation, where, card, message_id)

        if kind == "close":
            return await self._presses.close(value, click_in(ON_CARD if value else IN_HOME))
        if kind == "form":
            form = OpenForm.parse(value)
            click, action = click_in(form.where), execute.action
            if execute.is_automatic:
                return await self._refresh(form.ref.target.review_id, click)
            return await self._forms.answer(form, action.verb, action.data, click)
        where, button = Where.parse(kind, value)
        press, click = Press.parse(button), click_in(where)
        if execute.is_automatic:
            return await self._refresh(press.target.review_id, click)
        return await self._presses.answer(press, click)

    async def _refresh(self, review_id: str, click: Click) -> Answer:
        """Teams itself asks for the card, and nobody pressed anything. So nothing is decided, and no message
        is updated: after an update Teams would ask again.
        """
        async with click_budget.timeout("page"):
            if click.where.in_home:
                return await self._views.home(click)
            return card_answer(await self._views.current_card(review_id, click))
