"""Files that a bot sends to a person: the question, the upload, the card of the file."""

from __future__ import annotations

from typing import Any

import pytest

from teams_sandbox.client import Person, ScriptError
from teams_sandbox.sandbox import Sandbox
from teams_sandbox.workspace import ids
from tests.teams_sandbox.conftest import Rest

CONSENT = "application/vnd.microsoft.teams.card.file.consent"
CONTENT: dict[str, Any] = {
    "description": "A file", "sizeInBytes": 4, "acceptContext": {"id": "1"}, "declineContext": {},
}  # fmt: skip


def question(name: str = "a.txt", **changed: Any) -> dict[str, Any]:
    content = {**CONTENT, **changed}
    attachment = {"contentType": CONSENT, "name": name, "content": content}
    return {"type": "message", "attachments": [attachment]}


def chat(sandbox: Sandbox) -> str:
    return Person(sandbox, ids.ALICE).chat


async def test_a_question_is_for_personal_chats_only(rest: Rest, sandbox: Sandbox):
    assert (await rest.post(chat(sandbox), question())).status_code == 201
    assert (await rest.post(ids.OPS, question())).status_code == 400
    assert (await rest.post(ids.GROUP_CHAT, question())).status_code == 400


async def test_a_question_needs_supports_files(rest: Rest, sandbox: Sandbox):
    sandbox.app.supports_files = False
    assert (await rest.post(chat(sandbox), question())).status_code == 403


@pytest.mark.parametrize(
    "wrong",
    [
        question("a/b.txt"),
        question("name"),
        question(sizeInBytes=0),
        question(sizeInBytes="4"),
        question(acceptContext="x"),
        question(other=1),
        question(description=None),
    ],
)
async def test_a_question_is_checked(rest: Rest, sandbox: Sandbox, wrong: dict[str, Any]):
    assert (await rest.post(chat(sandbox), wrong)).status_code == 400


async def test_an_upload_is_checked_and_counts_once(rest: Rest, sandbox: Sandbox):
    alice = Person(sandbox, ids.ALICE)
    place = sandbox.files.open_upload(alice.user, "a.txt")
    url, right = place["uploadUrl"], {"Content-Range": "bytes 0-3/4"}

    async def put(headers: dict[str, str]) -> int:
        return (await rest.http.put(url, content=b"text", headers=headers)).status_code

    assert await put({}) == 400
    assert await put({"Content-Range": "bytes 0-4/5"}) == 400
    assert await put({**right, "Authorization": f"Bearer {rest.token}"}) == 401
    info = {
        "contentType": "application/vnd.microsoft.teams.card.file.info",
        "contentUrl": place["contentUrl"],
        "name": "a.txt",
        "content": {"uniqueId": place["uniqueId"], "fileType": "txt"},
    }
    card = {"type": "message", "attachments": [info]}
    assert (await rest.post(alice.chat, card)).status_code == 400, "the file is not there yet"
    assert await put(right) == 201
    assert alice.files() == {"a.txt": "text"}
    assert (await rest.post(alice.chat, card)).status_code == 201
    assert await put(right) == 404


async def test_only_a_question_can_be_answered(rest: Rest, sandbox: Sandbox):
    alice = Person(sandbox, ids.ALICE)
    await rest.post(alice.chat)
    await rest.post(alice.chat, question())
    card, asked = alice.messages(alice.chat)[-2:]
    with pytest.raises(ScriptError):
        await alice.answer_file(card)
    await alice.answer_file(asked)
    activity = sandbox.bot_client.deliveries[-1]["activity"]
    assert (activity["name"], activity["replyToId"]) == ("fileConsent/invoke", asked.id)
    assert activity["value"]["context"] == {"id": "1"}
    await alice.answer_file(asked, "decline")
    value = sandbox.bot_client.deliveries[-1]["activity"]["value"]
    assert value == {"type": "fileUpload", "action": "decline", "context": {}}
