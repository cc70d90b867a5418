"""A sandbox with a data file still has its messages after a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from slack_sandbox.client.actor import Actor
from slack_sandbox.server import running_sandbox
from tests.slack_sandbox.samples import CARD, HERE, slack
from tests.support.clock import Clock


async def test_messages_outlive_the_process_and_can_still_be_updated(tmp_path: Path) -> None:
    data, clock = tmp_path / "new" / "slack.json", Clock()
    metadata = {"event_type": "review", "event_payload": {"id": "r1"}}
    async with running_sandbox(data=data, now=clock) as sandbox:
        first = slack(sandbox)
        card = {"channel": HERE, "text": "card", "blocks": CARD, "metadata": metadata}
        ts = (await first.chat_postMessage(**card))["ts"]
        await first.chat_postMessage(channel=HERE, text="reply", thread_ts=ts)
        await first.chat_postMessage(channel="U0BOB", text="for Bob")

    clock.now -= 60
    async with running_sandbox(data=data, now=clock) as sandbox:
        again = slack(sandbox)
        replies = await again.conversations_replies(channel=HERE, ts=ts, include_all_metadata=True)
        assert [one["text"] for one in replies["messages"]] == ["card", "reply"]
        assert replies["messages"][0]["metadata"] == metadata
        direct = await again.conversations_history(channel="D0BOB")
        assert [one["text"] for one in direct["messages"]] == ["for Bob"]
        await again.chat_update(channel=HERE, ts=ts, text="decided", blocks=[])
        late = (await again.chat_postMessage(channel=HERE, text="late"))["ts"]
        assert late > replies["messages"][1]["ts"], "even where the clock went back"


async def test_files_outlive_the_process(tmp_path: Path) -> None:
    data, scopes = tmp_path / "slack.json", ["files:write", "chat:write"]
    async with running_sandbox(data=data, scopes=scopes) as sandbox:
        await slack(sandbox).files_upload_v2(channel=HERE, filename="a.json", content="{}")

    async with running_sandbox(data=data) as sandbox, Actor(sandbox.url) as actor:
        (message,) = await actor.messages(HERE)
        assert await actor.file_text("U0ALICE", message["files"][0]["id"]) == "{}"


async def test_a_broken_file_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    data = tmp_path / "slack.json"
    data.write_text("{")
    with pytest.raises(ValueError, match="Expecting"):
        async with running_sandbox(data=data):
            pass
