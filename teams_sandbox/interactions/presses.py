"""Presses of a card's buttons, and what the person sees after the bot's answer.

https://learn.microsoft.com/adaptive-cards/authoring-cards/universal-action-model#response-format
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ..delivery import Activities, Answer, BotClient
from ..json_checks import Json, is_object
from ..validation import CardError, Entry, InputError, check_card, read_press
from ..workspace import Message, User, Workspace

UNREACHABLE = "Unable to reach app. Please try again."
WRONG = "Something went wrong. Please try again."


@dataclass(frozen=True)
class PressResult:
    """What the person sees: another card in place of this one, a `notice` or an `error` below it, or `errors`
    beside inputs (input id → text), for which nothing was sent. `problem`: why Teams did not accept the bot's
    answer.
    """

    card: Json | None = None
    notice: str = ""
    error: str = ""
    errors: dict[str, str] = field(default_factory=dict[str, str])
    problem: str = ""


@dataclass(frozen=True)
class Notice:
    """The text that one person saw below a message after a press."""

    user: str
    message: str
    text: str
    is_error: bool


class Presses:
    """`notices`: all texts that people saw below their cards."""

    def __init__(self, workspace: Workspace, activities: Activities, bot: BotClient) -> None:
        self._workspace, self._activities, self._bot = workspace, activities, bot
        self.notices: list[Notice] = []

    async def press(
        self,
        user: User,
        message: Message,
        action: Json,
        entries: Mapping[str, Entry] | None = None,
        trigger: Literal["manual", "automatic"] = "manual",
    ) -> PressResult:
        """Presses a button of the card that this person sees, after making these entries (by input id).
        Raises ValueError for what the person can't do."""
        conversation = self._workspace.conversations[message.conversation]
        card = message.card_for(user.id)
        if user not in self._workspace.members(conversation) or card is None:
            raise ValueError(f"{user.name} sees no card in this message")
        if action.get("type") != "Action.Execute":
            raise ValueError(f"{action.get('title')!r} is no button for the bot")
        try:
            data = read_press(card, action, entries or {})
        except InputError as error:
            return PressResult(errors=error.errors)
        activity = self._activities.press(user, conversation, message, action, data, trigger)
        result = read_answer(await self._bot.invoke(activity))
        if result.card is not None:
            message.cards[user.id] = result.card
        if text := result.notice or result.error:
            self.notices.append(Notice(user.id, message.id, text, bool(result.error)))
        self._workspace.notify_change()
        return result


def read_answer(answer: Answer | None) -> PressResult:
    """What the person sees after this answer of the bot to an invoke."""
    if answer is None:
        return PressResult(error=UNREACHABLE, problem="no answer in time")
    if answer.status != 200:
        return PressResult(error=WRONG, problem=f"status {answer.status}: {answer.body}")
    return _read_body(answer)


def _read_body(answer: Answer) -> PressResult:
    body = answer.json()
    if not is_object(body) or set(body) != {"statusCode", "type", "value"}:
        problem = f"the answer needs statusCode, type and value, and nothing else: {answer.body}"
        return PressResult(error=UNREACHABLE, problem=problem)
    match body:
        case {"statusCode": 200, "type": "application/vnd.microsoft.card.adaptive", "value": card}:
            try:
                check_card(card)
            except CardError as error:
                return PressResult(error=WRONG, problem=str(error))
            return PressResult(card=card)
        case {"statusCode": 200, "type": "application/vnd.microsoft.activity.message"}:
            text = body["value"]
            if isinstance(text, str) and text:
                return PressResult(notice=text)
            return PressResult(error=UNREACHABLE, problem="the message is empty")
        case {
            "statusCode": 400 | 500,
            "type": "application/vnd.microsoft.error",
            "value": {"code": str(), "message": str(text)},
        }:
            return PressResult(error=text or WRONG)
        case _:
            return PressResult(error=WRONG, problem=f"Teams knows no such answer: {answer.body}")
