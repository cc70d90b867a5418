"""Values that only some systems can write, and interrupts that say something twice."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from hitl_core import dialects
from hitl_core.errors import (
    DecisionError,
    DialectError,
    HitlError,
    InvalidToolCall,
    UnsupportedByDialect,
)
from hitl_core.gate import JudgedCalls
from hitl_core.gate.submission.calls import check_calls
from hitl_core.model import ToolCall
from hitl_core.review import decisions
from hitl_core.review.edits.proposal import Proposal
from tests.api.interrupts import INTERRUPTS
from tests.dialects.answers import read_answers
from tests.dialects.test_bad_input import ADA, WIRES, review_of

Json = dict[str, Any]


def interrupt(args: Any, name: str = "b", description: str = "D") -> Json:
    return {
        "action_requests": [{"name": name, "args": args, "description": description}],
        "review_configs": [{"action_name": name, "allowed_decisions": ["approve", "edit"]}],
    }


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return {"x": value}


ODD = [
    (float("nan"), "no NaN and no infinity"),
    (float("-inf"), "no NaN and no infinity"),
    ("\ud800", "half a surrogate pair"),
    ({"\udc00": 1}, "half a surrogate pair"),
    ({1: 1}, "not text"),
    ({1, 2}, "the type set"),
    (10**400, "too many digits"),
    pytest.param(10**5000, "too many digits", id="more digits than Python writes"),
    (deep(100_000)["x"], "nested deeper"),
    (deep(40)["x"], "nest deeper than 32"),
]


@pytest.mark.parametrize(("value", "message"), ODD)
def test_a_value_that_is_no_json_is_refused(value: Any, message: str) -> None:
    langchain = dialects.get("langchain")
    with pytest.raises((DialectError, InvalidToolCall), match=message):
        review_of(langchain.load_request(interrupt({"x": value}), "t"))
    review = review_of(langchain.load_request(interrupt({"x": 1}), "t"))
    edit = {"type": "edit", "edited_action": {"name": "b", "args": {"x": value}}}
    with pytest.raises(DecisionError, match=message):
        read_answers(langchain, {"decisions": [edit]}, review)


@pytest.mark.parametrize("name", ["__proto__", "constructor", "toString", "hasOwnProperty"])
@pytest.mark.parametrize("dialect", ["langchain_js", "xpertai", "sagents", "langchain"])
def test_a_tool_may_be_called_anything_that_a_name_can_be(dialect: str, name: str) -> None:
    """Given a policy that names it, or not, then only the one that does asks."""
    key, allowed = (
        ("interruptOn", "allowedDecisions")
        if dialect in ("langchain_js", "xpertai")
        else ("interrupt_on", "allowed_decisions")
    )
    call = ToolCall("1", name, {name: 1})
    dialect_format = dialects.get(dialect)
    named = dialect_format.load_policy({key: {name: {allowed: ["approve"]}}})
    assert named.judge(call).verdict.kind == "review"
    assert dialect_format.load_policy({key: {"b": True}}).judge(call).verdict.kind == "allow"
    review = review_of(JudgedCalls([call], [named.judge(call)], dialect=dialect_format.name))
    assert (
        dialect_format.load_request(dialect_format.dump_request(review), "t").calls[0].name == name
    )


def test_a_repeated_id_is_refused() -> None:
    one, answer = copy.deepcopy(WIRES["sagents"])
    one["action_requests"] *= 2
    one["hitl_tool_call_ids"] *= 2
    with pytest.raises(InvalidToolCall, match="Two calls of this turn have the id '1'"):
        review_of(dialects.get("sagents").load_request(one, "t"))
    twice = copy.deepcopy(WIRES["langchain_per_call"][0]) * 2
    with pytest.raises(InvalidToolCall, match="Two calls"):
        review_of(dialects.get("langchain_per_call").load_request(twice, "t"))
    assert answer


def test_a_description_of_a_megabyte_is_kept_whole() -> None:
    text = "x" * 1024 * 1024
    langchain = dialects.get("langchain")
    review = review_of(langchain.load_request(interrupt({}, description=text), "t"))
    assert langchain.dump_request(review)["action_requests"][0]["description"] == text
    with pytest.raises(DialectError, match="more than"):
        langchain.load_request(interrupt({}, description=text * 20), "t")


BIG = 2**53 + 1


def test_a_large_whole_number_stays_exact_in_python_and_is_refused_for_javascript() -> None:
    """JavaScript would read another number, so something else would run than was approved."""
    langchain = dialects.get("langchain")
    review = review_of(langchain.load_request(interrupt({"x": BIG}), "t"))
    assert review.arguments("1").parse() == {"x": BIG}
    for name in ("langchain_js", "xpertai", "agent_inbox", "arcgis"):
        with pytest.raises(UnsupportedByDialect, match="send it as text"):
            dialects.get(name).dump_request(review)
    wire = copy.deepcopy(WIRES["langchain_js"][0])
    wire["actionRequests"][0]["args"]["x"] = BIG
    with pytest.raises(DialectError, match="send it as text"):
        dialects.get("langchain_js").load_request(wire, "t")


def test_one_and_one_point_zero_are_not_the_same() -> None:
    langchain = dialects.get("langchain")
    reviews = [review_of(langchain.load_request(interrupt({"x": x}), "t")) for x in (1, 1.0)]
    assert reviews[0].calls[0].args_hash != reviews[1].calls[0].args_hash


@pytest.mark.parametrize(("other", "about"), [(10, 10.0), (1, True), ({"y": [0]}, {"y": [False]})])
def test_a_call_is_found_in_its_turn_by_its_exact_arguments(other: Any, about: Any) -> None:
    """Given a turn whose calls Python takes for equal, when the interrupt is about the second, then the
    second is asked about, and never the first."""
    calls = [ToolCall("c1", "b", {"x": other}), ToolCall("c2", "b", {"x": about})]
    asked = dialects.get("langchain").load_request(interrupt(calls[1].args), "t", calls)
    assert [each.verdict.kind for each in asked.rulings] == ["allow", "review"]
    with pytest.raises(DialectError, match="not a call of this turn"):
        dialects.get("langchain").load_request(interrupt(calls[1].args), "t", calls[:1])


def test_javascript_writes_ten_and_ten_point_zero_the_same() -> None:
    """But never `true` like a number."""
    wire = copy.deepcopy(WIRES["langchain_js"][0])
    for reason, ran in ((10, 10.0), (0, -0.0), (10.0, 10)):
        wire["actionRequests"][0]["args"] = {"x": [reason]}
        calls = [ToolCall("c1", "b", {"x": [reason + 1]}), ToolCall("c2", "b", {"x": [ran]})]
        asked = dialects.get("langchain_js").load_request(wire, "t", calls)
        assert [each.verdict.kind for each in asked.rulings] == ["allow", "review"]
    wire["actionRequests"][0]["args"] = {"x": [1]}
    with pytest.raises(DialectError, match="not a call of this turn"):
        dialects.get("langchain_js").load_request(wire, "t", [ToolCall("c1", "b", {"x": [True]})])


BROKEN = {"type": "object", "properties": 5}


UNUSABLE = "This schema can't be used for the arguments of b: .*properties"


def test_an_interrupt_whose_schema_can_not_be_used_is_refused() -> None:
    """No form could be made of it, so nobody could be asked."""
    wire = copy.deepcopy(WIRES["langchain_js"][0])
    wire["reviewConfigs"][0]["argsSchema"] = BROKEN
    for name in ("langchain_js", "xpertai"):
        with pytest.raises(DialectError, match=UNUSABLE):
            dialects.get(name).load_request(wire, "t")
    edit = {"properties": {"args": BROKEN}}
    schema = {"properties": {"type": {"const": "edit"}, "edited_action": edit}}
    (per_call,) = copy.deepcopy(WIRES["langchain_per_call"][0])
    with pytest.raises(DialectError, match=UNUSABLE):
        dialects.get("langchain_per_call").load_request(per_call | {"response_schema": schema}, "t")


def test_a_request_from_outside_never_has_a_schema_that_can_not_be_used() -> None:
    """For any sender."""
    asked = dialects.get("langchain").load_request(interrupt({}), "t")
    rulings = [each._replace(args_schema=BROKEN) for each in asked.rulings]
    with pytest.raises(InvalidToolCall, match=UNUSABLE):
        check_calls(asked._replace(rulings=rulings))


def test_a_bad_answer_can_be_corrected() -> None:
    """If the last decision of an answer is wrong, nothing of the answer is stored."""
    langchain = dialects.get("langchain")
    wire, answer = WIRES["langchain"]
    review = review_of(langchain.load_request(wire, "t"))
    bad = {"decisions": [answer["decisions"][0], {"type": "respond"}]}
    with pytest.raises(DecisionError) as caught:
        read_answers(langchain, bad, review)
    assert (caught.value.index, caught.value.tool, caught.value.field) == (1, "c", "message")
    proposals = {"1": Proposal("approve", 1), "2": Proposal("respond", 7, "late")}
    with pytest.raises(DecisionError) as stale:
        decisions.decide_all(review, proposals, ADA, 2.0)
    assert (stale.value.index, stale.value.tool, stale.value.code) == (1, "c", "stale")
    answered = decisions.decide_all(review, read_answers(langchain, answer, review), ADA, 2.0)
    assert answered.review.status == "settled"
    assert (answered.event.action, answered.event.what) == ("1,2", "edit,respond")


def test_an_unknown_dialect_has_a_name_in_its_refusal() -> None:
    with pytest.raises(DialectError, match="no dialect 'nope': use one of langchain, "):
        dialects.get("nope")
    assert issubclass(UnsupportedByDialect, HitlError)


SPELLINGS: list[tuple[str, Any, str]] = [
    ("langchain", {**interrupt({}), "actionRequests": []}, "actionRequests"),
    ("langchain_js", {**INTERRUPTS["langchain_js"], "action_requests": []}, "action_requests"),
    ("langchain_js", {**INTERRUPTS["langchain_js"], "review_configs": []}, "review_configs"),
    ("sagents", {**INTERRUPTS["sagents"], "actionRequests": []}, "actionRequests"),
    ("sagents", {"type": "subagent_hitl", "interrupt_data": {}, "inner": {}}, "inner"),
    ("sagents", {**INTERRUPTS["sagents"], "interrupts": []}, "interrupts"),
    ("agent_inbox", [{**INTERRUPTS["agent_inbox"][0], "actionRequest": {}}], "actionRequest"),
    ("arcgis", {**INTERRUPTS["arcgis"], "agent_id": "z"}, "agent_id"),
    ("langchain_per_call", [{**INTERRUPTS["langchain_per_call"][0], "Value": {}}], "Value"),
]


@pytest.mark.parametrize(("dialect", "wire", "key"), SPELLINGS)
def test_an_interrupt_that_says_a_thing_twice_is_refused(dialect: str, wire: Any, key: str) -> None:
    """One of them would count, and nobody would see the other one."""
    with pytest.raises(DialectError, match=f"`{key}`"):
        dialects.get(dialect).load_request(wire, "t")


@pytest.mark.parametrize(
    ("part", "more"),
    [
        ("reviewConfigs", {"allowed_decisions": ["approve"]}),
        ("reviewConfigs", {"action_name": "c"}),
        ("actionRequests", {"Name": "c"}),
        ("actionRequests", {"arguments": {"n": 2}}),
    ],
)
def test_an_interrupt_with_a_repeated_entry_is_refused(part: str, more: Json) -> None:
    wire = copy.deepcopy(INTERRUPTS["langchain_js"])
    wire[part][0] |= more
    with pytest.raises((DialectError, InvalidToolCall), match=next(iter(more))):
        dialects.get("langchain_js").load_request(wire, "t")


def test_tool_arguments_may_have_such_keys() -> None:
    """Tool arguments may have such keys: only the interrupt's own keys are
    checked."""
    asked = dialects.get("sagents").load_request(
        {
            "action_requests": [
                {"tool_name": name, "arguments": {"a_b": 1, "aB": 2}} for name in ("x_y", "xY")
            ],
            "review_configs": {"x_y": {}, "xY": {}},
        },
        "t",
    )
    assert [call.args for call in asked.calls] == [{"a_b": 1, "aB": 2}] * 2


_BATCH = {"review_configs": [{"allowed_decisions": ["approve", "reject"]}]}


_WITH_MORE: list[Any] = [
    {**_BATCH, "action_requests": [{"name": "pay", "args": {}, "more": {"n": 9}}]},
    {**_BATCH, "action_requests": [{"name": "pay", "args": {}, "more": '{"n": 9}'}]},
    {"actionRequests": [{"name": "pay", "args": {}, "more": [9]}], "reviewConfigs": [{}]},
    {"action_requests": [{"tool_name": "pay", "arguments": {}, "more": {"n": 9}}]},
    {"action_request": {"action": "pay", "args": {}, "more": {"n": 9}}, "config": {"allow_accept": True}},
    {"type": "tool_approval", "tool_call_id": "c1", "name": "pay", "args": {}, "more": {"n": 9}},
]  # fmt: skip


@pytest.mark.parametrize("interrupt", _WITH_MORE, ids=range(len(_WITH_MORE)))
def test_an_interrupt_has_no_values_beside_the_arguments(interrupt: Any) -> None:
    """Given an entry of an interrupt with a key that may hold arguments too, then nobody is asked about the
    rest of it, as with a tool call."""
    dialect = dialects.get(dialects.detect(interrupt))
    with pytest.raises(InvalidToolCall, match="`more`, which may hold arguments"):
        dialect.load_request(interrupt, "t-1")


def test_a_description_may_begin_with_a_bracket() -> None:
    action = {"name": "pay", "args": {}, "description": "[urgent] Pay?"}
    interrupt = {**_BATCH, "action_requests": [action]}
    [ruling] = dialects.get("langchain").load_request(interrupt, "t-1").rulings
    assert ruling.description == "[urgent] Pay?"
