"""One trace from an agent's submit to the run of its tool, through Redis, a bot and people's clicks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from hitl_core import Outcome, ToolCall
from hitl_core.store.redis.packing import unpack
from tests.support.bots import CANARY, ROOT, Scene, email, sql
from tests.support.clicks import freeze_cards
from tests.support.slack import ALICE

pytest.importorskip("opentelemetry.sdk", reason="needs opentelemetry-sdk, an extra of `dev`")

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

#: Each span of a review that is approved and run, with the name of its parent.
SPANS = {
    "submit hitl.reviews": None,
    "post card": "submit hitl.reviews",
    "click": "submit hitl.reviews",
    "decide": "click",
    "claim hitl.reviews": "submit hitl.reviews",
    "execute_tool send_email": "submit hitl.reviews",
}


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What a program with a provider exports, during this test alone."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    yield exporter
    provider.shutdown()


def context_of(span: ReadableSpan) -> trace.SpanContext:
    assert span.context is not None
    return span.context


def words(span: ReadableSpan) -> str:
    """All that leaves the process of a span, beside numbers."""
    events = [(event.name, dict(event.attributes or {})) for event in span.events]
    return repr((span.name, dict(span.attributes or {}), events, span.status.description))


async def decide(scene: Scene, button: str) -> Outcome:
    """An agent that submits and ends, a person who presses, and another process of the agent."""
    await (await scene.gate()).submit([email()], thread_id="t-1", requester=ALICE)
    await scene.alice.press(await scene.card("send_email"), button)
    return await anext((await scene.gate()).outcomes())


async def test_one_trace_from_the_submit_to_the_run(
    scene: Scene, spans: InMemorySpanExporter
) -> None:
    """Given a bot, and an agent whose second process goes on; then all that happens is one trace, with a span
    for each step, and no span has an argument, a token or a person."""
    await scene.bot()
    outcome = await decide(scene, "approve")

    def send_email(to: str, copies: int) -> str:
        with trace.get_tracer("mail").start_as_current_span("smtp"):
            return f"sent {copies} to {to}"

    await outcome.run({"send_email": send_email})
    found = {span.name: span for span in spans.get_finished_spans()}
    assert found.keys() == {*SPANS, "smtp"}
    assert len({context_of(span).trace_id for span in found.values()}) == 1
    by_id = {context_of(span).span_id: name for name, span in found.items()}
    parents = {
        name: by_id[span.parent.span_id] if span.parent else None for name, span in found.items()
    }
    assert parents == {**SPANS, "smtp": "execute_tool send_email"}
    for name in SPANS:
        attributes = dict(found[name].attributes or {})
        if name != "decide":
            assert attributes["hitl.review.id"] == outcome.review_id
            assert attributes["gen_ai.conversation.id"] == "t-1"
    assert dict(found["decide"].attributes or {}) == {
        "hitl.decision": "approve",
        "hitl.channel": "slack",
    }
    assert (found["execute_tool send_email"].attributes or {})["gen_ai.tool.name"] == "send_email"
    assert (found["submit hitl.reviews"].attributes or {})["messaging.operation.type"] == "send"
    said = "".join(map(words, found.values()))
    for secret in (CANARY, ALICE, "Alice", "xoxb", "127.0.0.1"):
        assert secret not in said


async def test_a_refused_click_and_a_failing_tool_end_with_a_code(
    scene: Scene, spans: InMemorySpanExporter
) -> None:
    """T71: given a click that comes too late, and a tool that raises with its arguments; then the spans have
    the kind of the error, and none of its words."""
    await scene.bot()
    gate = await scene.gate()
    waiting = scene.ask(gate, email())
    card = await scene.card("send_email")
    async with freeze_cards(scene.actor):
        await scene.alice.press(card, "approve")
        await scene.bob.press(card, "approve")

    def send_email(to: str, copies: int) -> str:
        raise ValueError(f"no such address: {to}")

    await (await waiting).run({"send_email": send_email})
    errors = {
        span.name: (span.attributes or {})["error.type"]
        for span in spans.get_finished_spans()
        if not span.status.is_ok and not span.status.is_unset
    }
    assert errors == {
        "click": "already_decided",
        "decide": "already_decided",
        "execute_tool send_email": "tool_error",
    }
    assert CANARY not in "".join(map(words, spans.get_finished_spans()))


async def test_an_agents_own_trace_goes_on_and_is_linked(
    scene: Scene, spans: InMemorySpanExporter
) -> None:
    """Given an agent that submits within a trace of its own, and one that claims within another; then the
    review belongs to the first trace, and its claim has a link to the second."""
    tracer = trace.get_tracer("agent")
    gate = await scene.gate()
    with tracer.start_as_current_span("invoke_agent"):
        review_id = await gate.submit([email()], thread_id="t-1")
    await gate.cancel(review_id)
    with tracer.start_as_current_span("worker"):
        await gate.submit([sql(), email()], thread_id="t-1", turn="2")
    found = {span.name: span for span in spans.get_finished_spans()}
    assert found["submit hitl.reviews"].parent is not None

    with tracer.start_as_current_span("another"):
        review_id = await gate.submit([ToolCall("c9", "read_mail", {})], thread_id="t-2")
    with tracer.start_as_current_span("resume") as own:
        await gate.wait(review_id)
    claim = next(s for s in spans.get_finished_spans() if s.name == "claim hitl.reviews")
    assert context_of(claim).trace_id != own.get_span_context().trace_id
    assert [link.context.span_id for link in claim.links] == [own.get_span_context().span_id]


async def test_without_a_provider_nothing_is_stored(scene: Scene) -> None:
    """Given no trace; then a review takes no room for one."""
    gate = await scene.gate()
    review_id = await gate.submit([email()], thread_id="t-1")
    assert (await gate.reviews.load(review_id)).review.trace is None
    redis = await scene.redis()
    [key] = await redis.keys("hitl:{0}:review:*")
    assert b'"trace"' not in unpack(await redis.hget(key, "data"))


def test_everything_works_without_opentelemetry() -> None:
    """Given a machine that does not have it; then an agent runs its call, and the bot can be imported."""
    program = """
import sys
sys.modules["opentelemetry"] = None  # its import fails
import asyncio
import bot.app
from hitl_core import Gate, Policy, ToolCall
from hitl_core.store import MemoryStore

async def main():
    policy = Policy.from_mapping({"default": "allow"})
    async with Gate(MemoryStore(), policy=policy, agent="a") as gate:
        outcome = await gate.review([ToolCall("c1", "read", {})], thread_id="t")
        print(await outcome.run({"read": lambda: "ran"}))

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "ran" in done.stdout
