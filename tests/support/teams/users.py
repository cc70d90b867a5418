"""People in the local Teams: what they do becomes a request that Teams sends to the bot."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

import aiohttp

from teams_sandbox.delivery import Answer
from teams_sandbox.interactions import read_answer
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import Conversation, Message, User
from tests.support.redis_servers import lost_replies
from tests.support.waiting import wait_until

Json = dict[str, Any]


def elements(card: Any) -> Iterator[Json]:
    """Every object in a card, also those of its inner cards."""
    if isinstance(card, dict):
        yield card
        for part in card.values():
            yield from elements(part)
    elif isinstance(card, list):
        for part in card:
            yield from elements(part)


def text_of(card: Any) -> str:
    """All text that people read, with a line for each element."""
    lines: list[str] = []
    for one in elements(card):
        match one.get("type"):
            case "RichTextBlock":
                lines.append("".join(run["text"] for run in one["inlines"]))
            case "TextBlock":
                lines.append(one["text"])
            case str(kind) if kind.startswith("Input."):
                lines.append(f"{one['label']} {one.get('value', '')}")
            case _:
                pass
    return "\n".join(" ".join(line.split()) for line in lines)


def actions(card: Any) -> dict[str, Json]:
    """The buttons that send something, by label. If a button asks for a confirmation, the confirming button
    is in an inner card.
    """
    return {one["title"]: one for one in elements(card) if one.get("type") == "Action.Execute"}


def inputs(card: Any) -> dict[str, Json]:
    """The inputs by the label that people see."""
    return {one["label"]: one for one in elements(card) if one.get("type", "").startswith("Input.")}


def filled_in(card: Any, values: Mapping[str, str]) -> dict[str, str]:
    """The inputs that a client sends: the values on the card, replaced by `values` (by the
    labels of inputs).
    """
    found = inputs(card)
    entries = {one["id"]: str(one["value"]) for one in found.values() if "value" in one}
    return entries | {found[label]["id"]: value for label, value in values.items()}


class TeamsUsers:
    """Acts for the people in a tenant. `answers`: the bodies of the bot's answers, oldest first."""

    def __init__(self, sandbox: Sandbox, session: aiohttp.ClientSession) -> None:
        self.sandbox, self._session = sandbox, session
        self.answers: list[Any] = []

    def user(self, id: str) -> User:
        user = self.sandbox.workspace.person(id)
        assert user is not None
        return user

    def conversation(self, id: str) -> Conversation:
        found = self.sandbox.workspace.find_conversation(id)
        assert found is not None
        return found

    def chat(self, person: str) -> str:
        """The id of the person's chat with the bot."""
        return self.sandbox.workspace.open_personal_chat(self.user(person)).id

    async def message(self, *having: str, conversation: str, without: str | None = None) -> Message:
        """Waits for a message in the conversation that contains all of these texts, and
        returns the newest.
        """

        def find() -> Message | None:
            for one in reversed([*self.conversation(conversation).messages.values()]):
                text = text_of(one.card)
                if one.deleted or (without is not None and without in text):
                    continue
                if all(words in text for words in having):
                    return one
            return None

        return await wait_until(f"a message with {having}", find)

    def activity(self, person: str, conversation: str, **fields: Any) -> Json:
        """An activity with the fields that all activities have."""
        user, where = self.user(person), self.conversation(conversation)
        sandbox, tenant = self.sandbox, self.sandbox.workspace.tenant_id
        channel: Json = {"tenant": {"id": tenant}}
        if where.team:
            channel |= {"team": {"id": where.team.id}, "channel": {"id": where.id}}
        return {
            "id": f"f:{uuid4()}",
            "channelId": "msteams",
            "serviceUrl": sandbox.service_url,
            "from": {"id": user.mri, "aadObjectId": user.id, "name": user.display_name},
            "recipient": {"id": sandbox.app.mri, "name": sandbox.app.name},
            "conversation": {
                "id": where.id, "conversationType": where.type, "tenantId": tenant,
            },
            "channelData": channel,
            **fields,
        }  # fmt: skip

    async def send(self, activity: Json) -> Any:
        """Returns the body of the bot's answer, or its status if it has no body. With `--lost-replies`, a
        press can fail; then it is sent again, as a person would do.
        """
        answer = await self._send_once(activity)
        while lost_replies.is_on() and answer == 500:
            answer = await self._send_once(activity)
        self.answers.append(answer)
        return answer

    async def _send_once(self, activity: Json) -> Any:
        token = self.sandbox.login.bot_framework_token(activity["serviceUrl"])
        headers = {"Authorization": f"Bearer {token}"}
        assert self.sandbox.bot_url is not None
        async with self._session.post(
            self.sandbox.bot_url, json=activity, headers=headers
        ) as answer:
            return json.loads(await answer.text() or str(answer.status))

    async def write(
        self, person: str, text: str, conversation: str | None = None, root: str = ""
    ) -> None:
        """Writes to the bot: in the personal chat, or in another conversation with a mention of the bot.
        `root`: the first message of a thread.
        """
        where, app = conversation or self.chat(person), self.sandbox.app
        mentioned = {"id": app.mri, "name": app.name}
        mention = {"type": "mention", "text": f"<at>{app.name}</at>", "mentioned": mentioned}
        entities = [mention] if conversation else []
        written = self.activity(person, where, type="message", text=text, entities=entities)
        if root:
            written["conversation"]["id"] += f";messageid={root}"
        await self.send(written)

    def press_of(
        self, person: str, message: Message, action: Json, values: Mapping[str, str], **more: Any
    ) -> Json:
        """The invoke activity for a press of this button."""
        data = {**filled_in(message.card_for(person), values), **action["data"]}
        execute = {"type": "Action.Execute", "verb": action.get("verb", ""), "data": data}
        root = f"{message.conversation};messageid={message.root or message.id}"
        activity = self.activity(
            person, message.conversation,
            type="invoke", name="adaptiveCard/action", replyToId=message.id,
            value={"action": execute, "trigger": "manual", **more},
        )  # fmt: skip
        activity["channelData"]["legacy"] = {"replyToId": message.legacy_id}
        activity["conversation"]["id"] = root if message.root else message.conversation
        return activity

    async def press(
        self, person: str, label: str, message: Message, values: Mapping[str, str] | None = None
    ) -> str:
        """Presses the button. Returns what the person sees then: the text of their card, or a refusal."""
        shown = actions(message.card_for(person))
        assert label in shown, f"{label!r} is none of {[*shown]}"
        body = await self.send(self.press_of(person, message, shown[label], values or {}))
        return self.show(person, message, body)

    async def submit(self, person: str, message: Message, *text: str, **values: str) -> str:
        """Sends the form: `values` by the labels of its inputs, or one text for its only input."""
        card = message.card_for(person)
        labels = {label.removesuffix(" (optional)"): label for label in inputs(card)}
        if text:
            values = {next(iter(labels)): text[0]}
        entered = {labels[name]: value for name, value in values.items()}
        return await self.press(person, _button(card, "send"), message, entered)

    async def turn_back(self, person: str, message: Message) -> str:
        return await self.press(person, _button(message.card_for(person), "back"), message)

    async def install(self, person: str, conversation: str | None = None) -> None:
        """Adds the app for the person, or (by this person) to a team or a chat."""
        where = conversation or self.chat(person)
        update = self.activity(person, where, type="installationUpdate", action="add")
        assert await self.send(update) == 200

    def show(self, person: str, message: Message, body: Any) -> str:
        """Shows the answer to an invoke as a client does, and returns its text. Fails if Teams would not
        accept it.
        """
        problem = read_answer(Answer(200, json.dumps(body))).problem
        assert not problem, problem
        match body:
            case {"statusCode": 200, "type": kind, "value": {} as card} if "card" in kind:
                message.cards[person] = card
                return text_of(card)
            case {"statusCode": 200, "type": kind, "value": str(text)} if "message" in kind:
                assert text
                return text
            case _:
                raise AssertionError(f"no answer to an invoke: {body}")


def _button(card: Any, verb: str) -> str:
    """The label of the form's button with this verb."""
    return next(label for label, one in actions(card).items() if one.get("verb") == verb)
