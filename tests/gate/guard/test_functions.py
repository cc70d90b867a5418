"""Which functions can be guarded, and what arguments a review gets from them."""

from __future__ import annotations

import asyncio
import inspect
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import Any, assert_type

import pytest
from pydantic import BaseModel

from hitl_core import Gate, InvalidToolCall
from hitl_core.review.edits.proposal import Proposal
from hitl_core.store import MemoryStore
from tests.gate.guard.deciding import decide


class Mailer:
    """Guarded where there is an object."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def send(self, to: str) -> None:
        self.sent.append(to)

    @classmethod
    def read(cls, to: str) -> str:
        return f"{cls.__name__} {to}"


async def test_a_bound_method_is_reviewed_without_its_object(
    gate: Gate, store: MemoryStore
) -> None:
    mailer = Mailer()

    send = gate.guard(mailer.send, name="add")
    await asyncio.gather(send("jo"), decide(store, Proposal("approve", 1)))

    assert mailer.sent == ["jo"]
    assert next(iter(store._reviews.values())).arguments("1").parse() == {"to": "jo"}
    assert await gate.guard(Mailer.read)("x") == "Mailer x"


def test_a_method_in_a_class_body_is_refused_at_once(gate: Gate) -> None:
    """Given a decorator where no object is yet, or a method looked up on its class, the error says how."""
    with pytest.raises(TypeError, match=r"Post\.send is a method.* gate\.guard\(obj\.send\)"):

        class Post:
            @gate.guard
            async def send(self, to: str) -> None: ...

    with pytest.raises(TypeError, match=r"Mailer\.send is a method"):
        gate.guard(Mailer.send)


def test_a_static_method_is_a_plain_function(gate: Gate) -> None:
    class Post:
        @staticmethod
        @gate.guard
        async def send(to: str) -> None: ...

    assert inspect.iscoroutinefunction(Post.send)


def generator(n: int) -> Any:
    yield n


REFUSED: list[tuple[Any, str | None, str]] = [
    (lambda *a: a, "add", r"takes \*args"),
    (lambda a: a, None, "'<lambda>' is not a valid tool name"),
    (partial(print), None, "'' is not a valid tool name"),
    (generator, None, "generator is a generator"),
    (classmethod(lambda cls: None), "add", "The tool add must be a function, not <classmethod"),
    (7, None, "A tool must be a function, not 7"),
]


@pytest.mark.parametrize(("function", "name", "text"), REFUSED)
def test_what_can_not_be_reviewed_is_refused_at_once(
    gate: Gate, function: Any, name: str | None, text: str
) -> None:
    with pytest.raises(TypeError, match=text):
        gate.guard(function, name=name)


class Colour(StrEnum):
    RED = "red"


async def test_arguments_come_as_json_has_them(gate: Gate) -> None:
    @gate.guard(name="read")
    async def paint(colour: Colour, *, size: tuple[int, int] = (1, 2), **more: Any) -> Any:
        return [colour, type(colour), size, more]

    assert await paint(Colour.RED, alpha=0.5) == ["red", str, [1, 2], {"alpha": 0.5}]


class Customer(BaseModel):
    name: str = "Jo"


NO_JSON = [
    (datetime(2026, 1, 2, tzinfo=UTC), "The argument /value is of type datetime,"),
    (Decimal("1.5"), "The argument /value is of type Decimal,"),
    (Customer(), "The argument /value is of type Customer,"),
    ({"deep": [{1, 2}]}, "The argument /value/deep/0 is of type set,"),
]


@pytest.mark.parametrize(("value", "message"), NO_JSON)
async def test_an_argument_that_is_no_json_is_named(
    gate: Gate, store: MemoryStore, value: Any, message: str
) -> None:
    @gate.guard
    async def add(value: Any) -> None:
        raise AssertionError("it ran")

    with pytest.raises(InvalidToolCall) as caught:
        await add(value)

    assert str(caught.value) == f"`add` can't be reviewed. {message} which JSON can't hold."
    assert store._reviews == {}


async def test_an_editor_knows_the_signature(gate: Gate) -> None:
    """The types are pyright's to check: an ignore that is not needed is an error there."""

    async def add(a: int, b: int = 2) -> int:
        return a + b

    @gate.guard(name="read")
    def read(path: str) -> str:
        """Reads it."""
        return path

    assert_type(await gate.guard(add, name="read")(1, b=3), int)
    assert_type(await read(path="x"), str)
    with pytest.raises(TypeError, match="read: missing a required argument: 'path'"):
        await read()  # pyright: ignore[reportCallIssue]
    assert (read.__name__, read.__doc__) == ("read", "Reads it.")
    assert str(inspect.signature(read)) == "(path: 'str') -> 'str'"


async def test_a_sync_function_that_hands_back_a_coroutine_is_awaited(gate: Gate) -> None:
    """A foreign decorator hides that the function is async; it must still be awaited."""

    async def inner(word: str) -> str:
        return word

    hidden = gate.guard(lambda word: inner(word + "!"), name="read")
    assert await hidden("read") == "read!"
