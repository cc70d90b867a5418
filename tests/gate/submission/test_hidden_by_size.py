"""No argument can be hidden among many: what can't be shown is refused before anybody is asked."""

from __future__ import annotations

from typing import Any

import pytest

from bot.api.submissions import judge_turn as judged_at_the_door
from bot.api.wire.requests import Submit
from bot.card.compose import build_card
from bot.web.problems import ApiProblem
from hitl_core.errors import DecisionError, InvalidToolCall, Refused
from hitl_core.gate.submission.calls import judge_calls
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import Review, ToolCall, encode
from hitl_core.policy import Policy
from hitl_core.review.decisions import decide
from hitl_core.review.edits.proposal import Proposal
from tests.gate.conftest import Open
from tests.support.builders import START, judge_turn, person

Json = dict[str, Any]
PIN: Json = {"type": "string", "format": "password"}
ROWS: Json = {"properties": {"rows": {"items": {"properties": {"pin": PIN}}}}}
ANCHOR: Json = {
    "$defs": {"p": {"$anchor": "p", **PIN}},
    "properties": {"v": {"$ref": "#p"}},
}
LARGE: Json = {"query": "DROP TABLE users", "rows": [{"pin": "1"}] * 6_000}


def policy(schema: Json) -> Policy:
    rule = {"must_read": True, "args_schema": schema}
    return Policy.from_mapping(
        {"default": "deny", "notify": "slack:#o", "interrupt_on": {"t": rule}}
    )


def review(schema: Json, args: Json) -> Review:
    asked = judge_turn(policy(schema), [ToolCall("c1", "t", args)])
    return build_review(ReviewKey("a", "t", "x", None), asked, 1, START)[0]


@pytest.mark.parametrize(
    "more",
    [
        {f"x{n}": 0 for n in range(9_000)},
        {"tags": ["a"] * 9_000},
        {"rows": [{"k": 0}] * 9_000},
        {"tuple": [0, "s3cr3t", "DROP TABLE users"]},
    ],
    ids=["names", "list", "rows", "after a tuple"],
)
def test_values_that_the_schema_says_nothing_of_hide_nothing(more: Json) -> None:
    """Given a schema that hides one argument, when a call has thousands of others, the card shows them."""
    schema = {
        "properties": {
            "query": {"type": "string"},
            "password": PIN,
            "rows": {"items": {"properties": {"k": {"type": "integer"}}}},
            "tuple": {"prefixItems": [{}, PIN]},
        }
    }
    made = review(schema, {"query": "DROP TABLE users", "password": "s3cr3t", **more})
    (shown,) = build_card(made, made.actions[0].places[0]).open_actions
    values = {argument.label: argument.value for argument in shown.excerpt.arguments}
    assert values["query"] == "DROP TABLE users"
    assert "s3cr3t" not in repr(shown)
    if "tuple" in more:
        assert "DROP TABLE users" in values["tuple"]
    else:
        assert shown.reads_first


@pytest.mark.parametrize(
    ("schema", "args"),
    [(ROWS, LARGE), (ANCHOR, {"v": "DROP TABLE users"})],
    ids=["large", "anchor"],
)
async def test_what_can_not_be_told_apart_is_refused(
    open_gate: Open, schema: Json, args: Json
) -> None:
    gate = await open_gate(policy=policy(schema))
    with pytest.raises(
        InvalidToolCall, match="it is unclear which of these arguments the schema hides"
    ):
        await gate.submit([ToolCall("c1", "t", args)], thread_id="t")
    asked = {"thread_id": "t", "calls": [{"id": "c1", "name": "t", "args": args}]}
    with pytest.raises(
        ApiProblem, match=r"^/calls: .*it is unclear which of these arguments the schema hides"
    ):
        await judged_at_the_door(policy(schema), Submit.model_validate(asked))


@pytest.mark.parametrize("card", [[{"number": "4111"}], "4111", 4111])
async def test_a_value_in_place_of_an_object_with_a_part_that_the_schema_hides_is_refused(
    open_gate: Open, card: object
) -> None:
    gate = await open_gate(policy=policy({"properties": {"card": {"properties": {"number": PIN}}}}))
    with pytest.raises(InvalidToolCall, match="send objects as objects") as caught:
        await gate.submit([ToolCall("c1", "t", {"card": card})], thread_id="t")
    assert "4111" not in str(caught.value)


@pytest.mark.parametrize("card", ['{"number": "4111"}', "4111", [{"number": "4111"}]])
async def test_an_object_with_a_hidden_part_can_not_come_in_another_form(
    open_gate: Open, card: object
) -> None:
    """Given a rule that hides a part of an object; when the object comes as text or as a list, then nobody is
    asked, because its part can't be hidden alone; an edit into such a form is refused too.
    """
    rule = {"redact": ["/card/number"], "allowed_decisions": ["approve", "edit", "reject"]}
    by = Policy.from_mapping({"default": "deny", "interrupt_on": {"t": rule}})
    gate = await open_gate(policy=by)
    words = r"the policy hides card\.number, so card must be an object"
    with pytest.raises(InvalidToolCall, match=words) as caught:
        await gate.submit([ToolCall("c1", "t", {"card": card})], thread_id="t")
    assert "4111" not in str(caught.value)

    asked = judge_turn(by, [ToolCall("c1", "t", {"card": {"holder": "Jo"}})])
    made = build_review(ReviewKey("a", "t", "x", None), asked, 1, START)[0]
    edit = Proposal("edit", 1, args=encode({"card": card}))
    with pytest.raises(Refused, match=words):
        decide(made, "1", edit, person("Ada"), START + 5)


async def test_all_calls_share_the_work_of_finding_what_is_hidden(open_gate: Open) -> None:
    """Given calls of which each one could be shown; when many of them come at once, they are refused."""
    parts = [{"title": str(n), **ROWS} for n in range(24)]
    schema = {"type": "object", "allOf": parts}
    calls = [ToolCall(f"c{n}", "t", {"rows": [{"pin": "1"}] * 40}) for n in range(60)]
    gate = await open_gate(policy=policy(schema))
    await gate.submit(calls[:3], thread_id="few")
    with pytest.raises(InvalidToolCall, match="is too much work; send fewer at once"):
        await gate.submit(calls, thread_id="many")
    asked = {
        "thread_id": "t",
        "calls": [{"id": each.id, "name": "t", "args": each.args} for each in calls],
    }
    with pytest.raises(ApiProblem, match=r"^/calls: .*is too much work; send fewer at once"):
        await judged_at_the_door(policy(schema), Submit.model_validate(asked), large=True)


def test_an_edit_hides_nothing_by_its_size() -> None:
    made = review(ROWS, {"query": "SELECT 1"})
    edit = Proposal("edit", 1, args=encode(LARGE))
    with pytest.raises(Refused, match="it is unclear which of these arguments the schema hides"):
        decide(made, "1", edit, person("Ada"), START + 5)


def test_an_answer_among_the_arguments_meets_their_schema() -> None:
    """Given an answer that becomes an argument, then the rule's schema and its `readOnly` hold for it."""
    for seat, wrong in ({"enum": ["1A"]}, "must be one of"), ({"readOnly": True}, "readOnly"):
        rule = {
            "allowed_decisions": ["approve", "reject"],
            "answer_schema": {"type": "string"},
            "output": {"key": "seat", "into": "input"},
            "args_schema": {"properties": {"seat": seat}},
        }
        rules = Policy.from_mapping({"default": "deny", "interrupt_on": {"book": rule}})
        asked = judge_turn(rules, [ToolCall("c1", "book", {"seat": "1A"})])
        made = build_review(ReviewKey("a", "t", "x", None), asked, 1, START)[0]
        with pytest.raises(DecisionError, match=wrong):
            decide(made, "1", Proposal("approve", 1, answer="9Z"), person("Ada"), START + 5)
        same = decide(made, "1", Proposal("approve", 1, answer="1A"), person("Ada"), START + 5)
        assert same.review.status == "settled"


async def test_schemas_with_many_small_values_are_refused_together() -> None:
    """Given 100 calls that share one schema with 15,000 values, in 35 kB; then the review, whose every load
    would read all of them, is refused with a sentence."""
    context = {"interrupt_on": {"act": {"args_schema": {"enum": [[[[[0]]]]] * 3_000}}}}
    policy = Policy.from_mapping({"default": "review"}).for_run(context)
    calls = [ToolCall(f"c{n}", "act", {"n": n}) for n in range(100)]
    with pytest.raises(InvalidToolCall, match="100,000 values together"):
        await judge_calls(policy, calls)
    assert (await judge_calls(policy, calls[:5])).rulings
