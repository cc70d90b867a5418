"""Drawing a large card doesn't block the event loop."""

from __future__ import annotations

import ast
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from bot.offload import MAX_INLINE_ARGS, MAX_INLINE_SCHEMA, is_small, offload_drawing
from hitl_core.model import EarlierTerms, Review, ReviewConfig
from tests.support.bots import ROOT
from tests.support.builders import call, policy, review_of

MANY: dict[str, Any] = {"properties": {f"p{n}": {} for n in range(MAX_INLINE_SCHEMA)}}


def _with_config(**schemas: Any) -> Review:
    review = review_of()[0]
    [action] = review.actions
    config = action.config.model_copy(update=schemas)
    return review.model_copy(update={"actions": (action.model_copy(update={"config": config}),)})


def _edited_from(**schemas: Any) -> Review:
    """An action that had these schemas before an edit."""
    review = review_of()[0]
    [action] = review.actions
    [before] = _with_config(**schemas).actions
    earlier = (EarlierTerms(tool="ask", config=before.config, route=action.route),)
    return review.model_copy(update={"actions": (action.model_copy(update={"earlier": earlier}),)})


LARGE: dict[str, Review] = {
    "arguments": review_of([call(text="x" * MAX_INLINE_ARGS)])[0],
    "a schema": review_of([call("wide")], by=policy(wide={"args_schema": MANY}))[0],
    "a tool's schema": review_of()[0].model_copy(update={"tools": {"other": MANY}}),
    "a schema that hides": _with_config(hiding_schema=MANY),
    "the schema of an earlier rule": _edited_from(hiding_schema=MANY),
    "many values": review_of([call(text=[1] * 2_000)])[0],
    "many calls": review_of([call(id=str(n), text=["x"] * 9) for n in range(100)])[0],
    "letters of other scripts": review_of([call(text="ж" * 2_000)])[0],
    "rules": review_of()[0].model_copy(update={"kept_policy": "x" * (MAX_INLINE_ARGS + 1)}),
}


async def test_a_small_review_is_drawn_at_once():
    review, _ = review_of([call(text="x" * 10)])
    assert await offload_drawing(review, threading.current_thread) is threading.main_thread()


@pytest.mark.parametrize("what", LARGE)
async def test_a_large_review_is_drawn_in_a_thread(what: str):
    """Given arguments, schemas or rules that are large, when they are drawn, then in a thread."""
    drawn_in = await offload_drawing(LARGE[what], threading.current_thread)
    assert drawn_in is not threading.main_thread()


def test_all_schemas_of_a_config_count():
    """Each field that holds a schema is one of those that were tried above."""
    fields = {name for name in ReviewConfig.model_fields if name.endswith("_schema")}
    for name in fields:
        assert not is_small(_with_config(**{name: MANY})), name


async def test_what_goes_wrong_in_the_thread_is_raised():
    def failing() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await offload_drawing(LARGE["arguments"], failing)


def test_nothing_draws_cards_on_the_loop():
    """Each use of `build_card` or `build_digest` outside bot/card is in a function that a thread may run: the
    agent chooses how large a card is."""
    used = 0
    for path in sorted((ROOT / "bot").rglob("*.py")):
        if (ROOT / "bot/card") in path.parents:
            continue
        tree = ast.parse(path.read_text("utf-8"))
        for call_, name in _uses(tree, {"build_card", "build_digest"}):
            used += 1
            assert call_ in ("offload_drawing", "to_thread"), f"{path}: {name}"
    assert used >= 5


def _uses(tree: ast.AST, names: set[str], around: str = "") -> Iterator[tuple[str, str]]:
    """Each use of a name, with the function in whose arguments it is."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Name) and node.id in names:
            yield around, node.id
        inner = around
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            inner = name if name in ("offload_drawing", "to_thread") else around
        yield from _uses(node, names, inner)
