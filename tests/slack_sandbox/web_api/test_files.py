"""Files: uploaded in three steps, shared in a channel or a thread, and read by people who can see that
message.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from slack_sandbox.client.actor import Actor, ScriptError
from slack_sandbox.sandbox import Sandbox
from slack_sandbox.server import running_sandbox
from tests.slack_sandbox.samples import HERE, Slack, post, refusal

HTML = "<script>alert(1)</script> änd more"


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with running_sandbox(scopes=["files:write", "chat:write"]) as running:
        yield running


async def upload(sandbox: Sandbox, client: Slack, text: str = HTML) -> str:
    """A file that has its content and is shared nowhere yet."""
    size = len(text.encode())
    ticket = await client.files_getUploadURLExternal(filename="args.json", length=size)
    async with (
        aiohttp.ClientSession() as session,
        session.post(ticket["upload_url"], data=text.encode()) as response,
    ):
        assert response.status == 200
    return ticket["file_id"]


async def share(client: Slack, file_id: str, **more: Any) -> Any:
    return await client.files_completeUploadExternal(
        files=[{"id": file_id, "title": "All arguments"}], **more
    )


async def test_a_file_in_a_thread(sandbox: Sandbox, client: Slack, actor: Actor) -> None:
    card = await post(client)
    file_id = await upload(sandbox, client)
    answer = await share(client, file_id, channel_id=HERE, thread_ts=card, initial_comment="*all*")

    (reply,) = await actor.replies(HERE, card)
    (file,) = reply["files"]
    assert (reply["text"], file["id"], file["title"]) == ("*all*", file_id, "All arguments")
    assert file["permalink"] == f"{sandbox.url}/files/{file_id}" == answer["files"][0]["permalink"]
    assert "ticket" not in file
    assert await actor.file_text("U0ALICE", file_id) == HTML


async def test_files_of_slacks_own_client(sandbox: Sandbox, client: Slack, actor: Actor) -> None:
    await client.files_upload_v2(channel=HERE, filename="args.json", content="{}")
    (message,) = await actor.messages(HERE)
    assert await actor.file_text("U0ALICE", message["files"][0]["id"]) == "{}"


async def test_only_who_sees_the_message_reads_its_file(
    sandbox: Sandbox, client: Slack, actor: Actor
) -> None:
    board = sandbox.workspace.channels["G0BOARD"]
    board.members.append("U0APPROVER")
    file_id = await upload(sandbox, client)
    with pytest.raises(ScriptError, match="404"):
        await actor.file_text("U0DANA", file_id)
    await share(client, file_id, channel_id=board.id)

    assert await actor.file_text("U0DANA", file_id) == HTML
    with pytest.raises(ScriptError, match="404"):
        await actor.file_text("U0ALICE", file_id)
    with pytest.raises(ScriptError, match="403"):
        await actor.file_text("", file_id)


async def test_a_file_is_inert(sandbox: Sandbox, client: Slack) -> None:
    """Given a file of HTML, a browser shows its letters and runs nothing."""
    file_id = await upload(sandbox, client)
    await share(client, file_id, channel_id=HERE)
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{sandbox.url}/files/{file_id}?user=U0ALICE") as response,
    ):
        assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]


async def test_what_slack_refuses_of_files(sandbox: Sandbox, client: Slack) -> None:
    ticket = await client.files_getUploadURLExternal(filename="a", length=1)
    done = await upload(sandbox, client)
    for files, more, error in (
        ([{"id": "F1"}], {}, "file_not_found"),
        ([{"id": ticket["file_id"]}], {}, "file_not_found"),
        ([], {}, "invalid_arguments"),
        ([{"id": done}], {"channel_id": "C0NOWHERE"}, "channel_not_found"),
        ([{"id": done}], {"channel_id": "C0EMPTY"}, "channel_not_found"),
        ([{"id": done}], {"channel_id": "C0OLD"}, "is_archived"),
    ):
        answer = await refusal(client, "files.completeUploadExternal", files=files, **more)
        assert answer["error"] == error, files


async def test_an_upload_address_is_good_once(sandbox: Sandbox, client: Slack) -> None:
    ticket = await client.files_getUploadURLExternal(filename="a", length=1)
    async with aiohttp.ClientSession() as session:
        statuses: list[int] = []
        for _ in range(2):
            async with session.post(ticket["upload_url"], data=b"x") as response:
                statuses.append(response.status)
    assert statuses == [200, 404]
