"""`outcome.run(tools)` runs a whole turn with one line of code."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from hitl_core import Gate, InvalidToolCall, ToolCall
from hitl_core.errors import Refused
from hitl_core.gate import blocking
from hitl_core.gate.outcome.outcome import Outcome
from hitl_core.model import Reviewer, encode
from hitl_core.review import Decide
from hitl_core.review.edits.proposal import Proposal
from tests.gate.conftest import Open
from tests.support.builders import policy

ALICE = Reviewer(channel="slack", team="T0ACME", id="U0ALICE", name="Alice Ng")


async def decide(gate: Gate, proposals: dict[str, Proposal], *calls: ToolCall) -> Outcome:
    review_id = await gate.submit(calls, thread_id="t-1")
    for key, proposal in proposals.items():
        await gate.reviews.apply(Decide(review_id, key, proposal, ALICE, f"op:{key}"))
    return await gate.wait(review_id)


async def line(gate: Gate, outcome: Outcome, key: str) -> str | None:
    return (await gate.reviews.load(outcome.review_id)).review.runs[key].line


async def test_every_call_gets_one_answer_in_the_models_order(gate: Gate) -> None:
    """Allowed, rejected, edited, denied; sync and async functions; a result that is no
    text."""
    ran: list[Any] = []

    async def ask(n: int) -> dict[str, int]:
        ran.append(n)
        return {"doubled": 2 * n}

    outcome = await decide(
        gate,
        {
            "2": Proposal("reject", 1, message="not today"),
            "3": Proposal("edit", 1, args=encode({"n": 5})),
        },
        ToolCall("c1", "look_up", {}),
        ToolCall("c2", "ask", {"n": 1}),
        ToolCall("c3", "ask", {"n": 2}),
        ToolCall("c4", "drop_table", {}),
    )
    answers = await outcome.run({"look_up": lambda: None, "ask": ask})

    assert ran == [5]
    assert [(a.tool_call_id, a.status) for a in answers] == [
        ("c1", "success"),
        ("c2", "error"),
        ("c3", "success"),
        ("c4", "error"),
    ]
    assert answers[0].content == "`look_up` ran."
    assert "not today" in answers[1].content
    assert '{"doubled": 10}' in answers[2].content
    snapshot = await gate.reviews.load(outcome.review_id)
    assert snapshot.review.status == "done"


async def test_a_tool_that_raises_is_answered_and_leaves_no_doubt(gate: Gate) -> None:
    """The card says what failed, with the text; the next call still runs."""

    def ask(n: int) -> int:
        if n == 1:
            raise ValueError("no such order")
        return n

    approve = Proposal("approve", 1)
    outcome = await decide(
        gate,
        {"1": approve, "2": approve},
        ToolCall("c1", "ask", {"n": 1}),
        ToolCall("c2", "ask", {"n": 2}),
    )
    first, second = await outcome.run({"ask": ask})

    assert (first.status, first.content) == ("error", "`ask` failed: ValueError: no such order")
    assert (second.status, second.content) == ("success", "2")
    assert await line(gate, outcome, "1") == "failed: ValueError: no such order"
    review = (await gate.reviews.load(outcome.review_id)).review
    assert review.status == "done"
    assert not review.calls_in_doubt


async def test_the_card_repeats_no_text_of_an_error_where_arguments_are_hidden(
    open_gate: Open,
) -> None:
    gate = await open_gate(policy=policy(hush={"redact": ["/iban"]}))

    def hush(iban: str) -> None:
        raise ValueError(f"{iban} is closed")

    call = ToolCall("c1", "hush", {"iban": "DE00 1234"})
    outcome = await decide(gate, {"1": Proposal("approve", 1)}, call)
    (answer,) = await outcome.run({"hush": hush})

    shown = await line(gate, outcome, "1")
    assert shown == "failed: ValueError"
    assert "DE00 1234 is closed" in answer.content  # the model made the arguments


async def test_an_edit_that_the_function_does_not_take_is_answered_in_a_sentence(
    gate: Gate,
) -> None:
    edit = Proposal("edit", 1, args=encode({"m": 1}))
    outcome = await decide(gate, {"1": edit}, ToolCall("c1", "ask", {"n": 1}))
    (answer,) = await outcome.run({"ask": lambda n: n})

    assert answer.status == "error"
    assert "have m, which ask does not take" in answer.content


async def test_nothing_runs_where_a_function_is_missing(gate: Gate) -> None:
    """It is found before the first call starts, so no call is in doubt."""
    ran: list[str] = []
    approve = Proposal("approve", 1)
    outcome = await decide(
        gate,
        {"1": approve, "2": approve},
        ToolCall("c1", "ask", {}),
        ToolCall("c2", "rerunnable", {}),
    )
    with pytest.raises(InvalidToolCall, match=r"got no function for rerunnable.*Nothing was"):
        await outcome.run({"ask": lambda: ran.append("ask")})

    assert ran == []
    review = (await gate.reviews.load(outcome.review_id)).review
    assert (review.status, review.runs) == ("claimed", {})


async def test_what_another_attempt_began_is_not_run_again(gate: Gate) -> None:
    """Nor is the review done: nobody knows whether that one ran, so a person is asked."""
    outcome = await decide(gate, {"1": Proposal("approve", 1)}, ToolCall("c1", "ask", {}))
    assert await outcome.once(outcome.execute[0])
    ran: list[str] = []

    with pytest.raises(Refused, match="was started and has no result"):
        await outcome.run({"ask": lambda: ran.append("ask")})

    assert ran == []
    assert (await gate.reviews.load(outcome.review_id)).review.status == "claimed"


def test_without_an_event_loop_functions_run_in_the_thread_that_calls(redis_url: str) -> None:
    """A database connection of that thread is good in them."""
    threads: list[int] = []

    def look_up() -> str:
        threads.append(threading.get_ident())
        return "found"

    async def look_around() -> None: ...

    def look_back() -> object:
        return look_around()

    calls = [ToolCall(f"c{n}", name, {}) for n, name in enumerate(["look_up", "look_back"])]
    with blocking.connect(redis_url, policy=policy(), agent="script") as gate:
        outcome = gate.review(calls, thread_id="t")
        with pytest.raises(TypeError, match=r"look_back is async.*Nothing was run"):
            outcome.run({"look_up": look_up, "look_back": look_around})
        assert threads == []
        first, second = outcome.run({"look_up": look_up, "look_back": look_back})

    assert threads == [threading.get_ident()]
    assert (first.content, first.status) == ("found", "success")
    assert second.status == "error"
    assert "look_back is async" in second.content


async def test_a_positional_argument_behind_a_missing_one_arrives(gate: Gate) -> None:
    """Given a function whose arguments have no names for its callers, and a call without the first one; then
    what people approved does not end up in `**options`, with the default in its place."""
    ran: list[Any] = []

    def ask(memo: str = "none", amount: int = 10, /, **options: Any) -> None:
        ran.append((memo, amount, options))

    call = ToolCall("c1", "ask", {"amount": 5, "urgent": True})
    outcome = await decide(gate, {"1": Proposal("approve", 1)}, call)

    await outcome.run({"ask": ask})

    assert ran == [("none", 5, {"urgent": True})]


async def test_a_function_that_raises_stop_iteration_ends(gate: Gate) -> None:
    """Given functions that call `next` on nothing, which no thread can hand over, then both have an answer,
    and the review is done."""

    def find() -> str:
        return next(iter([]))

    calls = [ToolCall("c1", "find", {}), ToolCall("c2", "look_up", {})]
    outcome = await decide(gate, {"1": Proposal("approve", 1)}, *calls)
    async with asyncio.timeout(20):
        answers = await outcome.run({"find": find, "look_up": find})
    assert [(a.tool_call_id, a.status) for a in answers] == [("c1", "error"), ("c2", "error")]
    assert "StopIteration" in answers[0].content
    assert (await gate.reviews.load(outcome.review_id)).review.status == "done"


class Silent:
    """Has no text."""

    def __str__(self) -> str:
        raise RuntimeError

    __repr__ = __str__


class SilentError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)
RESULTS = [
    ({("a", 1): 2}, "{('a', 1): 2}"),
    (CIRCLE, "[[...]]"),
    ({"a": Silent()}, '{"a": "(Silent)"}'),
    (Silent(), '"(Silent)"'),
    (10**5000, "(int)"),
]


@pytest.mark.parametrize(("result", "text"), RESULTS, ids=range(len(RESULTS)))
async def test_a_result_without_a_text_stops_no_other_call(
    gate: Gate, result: object, text: str
) -> None:
    """Given a function with a result that JSON can't hold, or that has no text, then the model has an answer,
    the next call runs, and the review is done."""
    calls = [ToolCall("c1", "look_up", {}), ToolCall("c2", "ask", {"n": 1})]
    outcome = await decide(gate, {"2": Proposal("approve", 1)}, *calls)
    answers = await outcome.run({"look_up": lambda: result, "ask": lambda n: n})
    assert [a.content for a in answers] == [text, "1"]
    assert (await gate.reviews.load(outcome.review_id)).review.status == "done"


async def test_an_error_without_a_text_is_an_answer(gate: Gate) -> None:
    def look_up() -> None:
        raise SilentError

    outcome = await decide(gate, {}, ToolCall("c1", "look_up", {}))
    [answer] = await outcome.run({"look_up": look_up})
    assert answer.content == "`look_up` failed: SilentError: (SilentError)"


async def test_what_an_edit_removes_does_not_come_back_as_a_default(gate: Gate) -> None:
    """Given a call whose edit removed an argument for which the function has a default, then it does not run,
    as where it is guarded. What the model itself left out gets its default."""
    ran: list[Any] = []

    def ask(n: int, copy_to: str = "everybody", note: str | None = None, times: int = 1) -> None:
        ran.append((n, copy_to, note, times))

    given = {"n": 1, "copy_to": "boss", "note": "!"}
    calls = [ToolCall(id, "ask", given) for id in ("c1", "c2")]
    edits = {
        "1": Proposal("edit", 1, args=encode({"n": 1})),
        "2": Proposal("edit", 1, args=encode({"n": 1, "copy_to": "nobody"})),
    }
    outcome = await decide(gate, edits, *calls)
    first, second = await outcome.run({"ask": ask})
    assert ran == [(1, "nobody", None, 1)]
    assert (first.status, second.status) == ("error", "success")
    assert "lack copy_to, and ask would use its default" in first.content
    assert "It did not run" in (await line(gate, outcome, "1") or "")


async def test_a_generator_that_a_decorator_hides_did_not_run(gate: Gate) -> None:
    """Given a function that returns a generator, of which nothing ran, then neither its answer nor its card
    says that it ran."""

    def ask(n: int) -> Any:
        return (each for each in range(n))

    outcome = await decide(gate, {"1": Proposal("approve", 1)}, ToolCall("c1", "ask", {"n": 1}))
    [answer] = await outcome.run({"ask": ask})
    assert answer.status == "error"
    assert "it did not run" in (await line(gate, outcome, "1") or "")


def test_a_function_without_a_signature_is_refused_at_once(gate: Gate) -> None:
    with pytest.raises(TypeError, match="The parameters of max are not known"):
        gate.guard(max)


async def test_what_is_no_call_and_no_result_of_the_turn_is_one_sentence(gate: Gate) -> None:
    """Given an id in place of the call from `execute`, a list in place of results by id, and an id of another
    turn; each says what to pass, and the call can still run."""
    outcome = await decide(gate, {"1": Proposal("approve", 1)}, ToolCall("c1", "ask", {"n": 1}))
    wrong: Any = "c1"
    for use in (outcome.idempotency_key, outcome.fencing_token):
        with pytest.raises(InvalidToolCall, match="Pass a call as it is in `execute`, not 'c1'"):
            use(wrong)
    with pytest.raises(InvalidToolCall, match="Pass a call as it is in `execute`, not 'c1'"):
        await outcome.once(wrong)
    results: Any = ["sent"]
    for end in (outcome.report, outcome.finish):
        with pytest.raises(InvalidToolCall, match="a dict with each call's result by its id"):
            await end(results)
    with pytest.raises(Refused, match="no call 'c7'; it has 'c1'"):
        outcome.decision("c7")
    with pytest.raises(TypeError, match="The tool ask must be a function, not 7"):
        await outcome.run({"ask": 7})  # pyright: ignore[reportArgumentType]
    assert await outcome.once(outcome.execute[0])
