"""What the README shows works as it stands there."""

from __future__ import annotations

import asyncio
import re
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from examples.support.model import ScriptedModel
from examples.support.tools import make_tools
from hitl_core import Policy, ToolCall
from hitl_core.errors import Refused
from hitl_core.model import Reviewer
from hitl_core.review.service import Reviews
from hitl_core.review.transitions import Proposal
from hitl_core.store import RedisStore
from tests.support.waiting import wait_until

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
ALICE = Reviewer(channel="slack", team="T0ACME", id="U0ALICE", name="Alice Ng")


def block(language: str, words: str) -> str:
    """The README's block in this language that holds these words."""
    blocks = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    (found,) = [text for text in blocks if words in text]
    return found


async def run(code: str, **names: Any) -> dict[str, Any]:
    """Run a snippet as the body of a coroutine; the answer is what it left behind."""
    body = textwrap.indent(code, "    ")
    exec(f"async def snippet():\n{body}\n    return locals()", names)
    return await names["snippet"]()


@asynccontextmanager
async def approving(url: str) -> AsyncIterator[None]:
    """Somebody who approves whatever comes into this Redis."""
    store = await RedisStore.open(url)
    reviews = Reviews(store)

    async def approve() -> None:
        while True:
            for hint in await store.read_events("alice", block=1):
                review = (await reviews.load(hint.review_id)).review
                for action in review.actions:
                    try:
                        proposal = Proposal("approve", action.revision)
                        op = f"{review.id}.{action.key}"
                        await reviews.decide(review.id, action.key, proposal, ALICE, op)
                    except Refused:
                        continue

    approver = asyncio.create_task(approve())
    try:
        yield
    finally:
        approver.cancel()
        await asyncio.gather(approver, return_exceptions=True)
        await store.close()


async def is_done(url: str) -> bool:
    """Whether the one review of the snippet's thread is."""
    store = await RedisStore.open(url)
    try:
        snapshots = [await store.load(review_id) for review_id in await store.thread("t-42")]
        return [s.review.status for s in snapshots if s] == ["done"]
    finally:
        await store.close()


@pytest.fixture
def policy_file(tmp_path: Path) -> Path:
    (tmp_path / "policy.yaml").write_text(block("yaml", "interrupt_on:"), "utf-8")
    return tmp_path / "policy.yaml"


def test_the_two_commands_stand_in_the_first_screen() -> None:
    first_screen = "\n".join(README.splitlines()[:20])
    assert "make demo" in first_screen
    assert "make test" in first_screen
    assert "docs/review.png" in first_screen


def test_every_file_that_it_links_to_is_there() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    missing = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert missing == []


def test_its_policy_loads(policy_file: Path) -> None:
    policy = Policy.load(policy_file)
    verdicts = [
        policy.judge(ToolCall("c", name, args)).verdict.kind
        for name, args in [
            ("read_mail", {}),
            ("drop_table", {}),
            ("run_sql", {"query": "Delete from x"}),
            ("unnamed", {}),
        ]
    ]
    assert verdicts == ["allow", "deny", "review", "review"]


async def test_its_plain_loop_runs(redis_url: str, policy_file: Path) -> None:
    code = block("python", "gate.review(calls")
    code = code.replace("redis://localhost:6379/0", redis_url).replace(
        "policy.yaml", str(policy_file)
    )
    ran: list[Any] = []

    async with approving(redis_url):
        left = await run(code, run_tool=lambda *call: ran.append(call) or "sent", messages=[])

    assert ran == [("send_email", {"to": "jo@example.com", "body": "Hi Jo"})]
    assert left["results"] == {"c1": "sent"}


async def test_its_langgraph_agent_runs(redis_url: str, policy_file: Path, tmp_path: Path) -> None:
    code = block("python", "HumanReview(gate)")
    code = code.replace("redis://localhost:6379/0", redis_url).replace(
        "policy.yaml", str(policy_file)
    )

    async with (
        AsyncSqliteSaver.from_conn_string(str(tmp_path / "runs.db")) as checkpointer,
        approving(redis_url),
    ):
        agent = asyncio.create_task(
            run(
                code,
                create_agent=create_agent,
                HumanInTheLoopMiddleware=HumanInTheLoopMiddleware,
                model=ScriptedModel(),
                tools=make_tools(tmp_path / "shop"),
                checkpointer=checkpointer,
            )
        )
        await wait_until("the review is done", lambda: agent.done() or is_done(redis_url))
        agent.cancel()
        await asyncio.gather(agent, return_exceptions=True)

    assert len(list((tmp_path / "shop" / "outbox").glob("*.eml"))) == 1
