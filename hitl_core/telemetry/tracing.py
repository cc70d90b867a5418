"""Traces with OpenTelemetry: one trace from an agent's submit to the run of its tool, over all processes.

The context of the submit is stored with the review (`Review.trace`), and is the parent of everything that
happens to the review later. This module never imports OpenTelemetry: a program that wants traces has imported
it, to set up a provider. Without one, nothing here costs more than a look into `sys.modules`.

Attributes follow the semantic conventions for messaging and generative AI
(opentelemetry.io/docs/specs/semconv). They have ids, names of tools and agents, and kinds of decisions: never
arguments, results, reasons, or who a person is.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Literal

from hitl_core.errors import Refused
from hitl_core.model import Review

SpanKind = Literal["INTERNAL", "PRODUCER", "CONSUMER"]
Attributes = Mapping[str, str | int]

#: The name of the instrumentation, and of what agents and bots exchange over Redis.
SCOPE, DESTINATION = "hitl", "hitl.reviews"


def review_attributes(review: Review) -> dict[str, str | int]:
    return {
        "hitl.review.id": review.id,
        "gen_ai.agent.name": review.agent,
        "gen_ai.conversation.id": review.thread_id,
    }


def message_attributes(review: Review, operation: Literal["send", "receive"]) -> Attributes:
    """The attributes of a review that one process sends to another through Redis."""
    return {
        **review_attributes(review),
        "messaging.system": "redis",
        "messaging.destination.name": DESTINATION,
        "messaging.operation.type": operation,
        "messaging.message.id": review.id,
    }


def span(
    name: str,
    attributes: Attributes,
    *,
    kind: SpanKind = "INTERNAL",
    parent: str | None = None,
    start: int | None = None,
) -> AbstractContextManager[None]:
    """A span around this block. `parent` is a stored context; then the current span becomes a link of this
    one, if it belongs to another trace. `start` is its beginning, in nanoseconds since the epoch.

    An exception ends the span with the exception's type, or with the code of a refusal, never with its text.
    """
    started = start_span(name, attributes, kind=kind, parent=parent, start=start)
    return _NO_SPAN if started is None else _during(started)


_NO_SPAN = nullcontext[None]()


@contextmanager
def _during(started: Any) -> Generator[None, None, None]:
    with use_span(started):
        try:
            yield
        except Exception as error:
            end_span(started, error.code if isinstance(error, Refused) else type(error).__name__)
            raise
        except BaseException:
            end_span(started)
            raise
        end_span(started)


def start_span(
    name: str,
    attributes: Attributes,
    *,
    kind: SpanKind = "INTERNAL",
    parent: str | None = None,
    start: int | None = None,
) -> Any:
    """An OpenTelemetry span, which the caller must end; None without OpenTelemetry or without a provider."""
    trace = _trace()
    # redis-py imports OpenTelemetry where it is installed. A span that goes nowhere still takes time.
    if trace is None or isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return None
    context, links = None, []
    if parent is not None:
        context = _propagator().extract({"traceparent": parent})
        there = trace.get_current_span(context).get_span_context()
        here = trace.get_current_span().get_span_context()
        if here.is_valid and here.trace_id != there.trace_id:
            links = [trace.Link(here)]
    return trace.get_tracer(SCOPE).start_span(
        name,
        context=context,
        kind=trace.SpanKind[kind],
        attributes=dict(attributes),
        links=links,
        start_time=start,
    )


@contextmanager
def use_span(started: Any) -> Generator[None, None, None]:
    """Makes the span the current one in this block. It does not end the span."""
    if (trace := _trace()) is None or started is None:
        yield
        return
    with trace.use_span(
        started, end_on_exit=False, record_exception=False, set_status_on_exception=False
    ):
        yield


def end_span(started: Any, error: str | None = None) -> None:
    """End the span. `error` is the kind of an error, without its text."""
    if (trace := _trace()) is None or started is None:
        return
    if error is not None:
        started.set_attribute("error.type", error)
        started.set_status(trace.StatusCode.ERROR)
    started.end()


def current_context() -> str | None:
    """The current span in the format of W3C's header `traceparent`; None if there is none."""
    trace = _trace()
    if trace is None or not trace.get_current_span().get_span_context().is_valid:
        return None
    carrier: dict[str, str] = {}
    _propagator().inject(carrier)
    return carrier.get("traceparent")


def _trace() -> Any:
    return sys.modules.get("opentelemetry.trace")


def _propagator() -> Any:
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return TraceContextTextMapPropagator()
