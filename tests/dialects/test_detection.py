"""The format of each system beyond its cases: what it can express, and what it can't."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core import dialects
from hitl_core.dialects import agent_inbox
from hitl_core.dialects.parts.decisions import FinalDecision
from hitl_core.errors import DecisionError, DialectError, Refused, UnsupportedByDialect
from hitl_core.gate import JudgedCalls
from hitl_core.gate.outcome.answers import answers
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import DecisionType, Review, Route, ToolCall, encode
from hitl_core.model.review import DIALECTS
from hitl_core.policy import InvalidPolicy, Policy
from hitl_core.review import commands, decisions, escalation
from hitl_core.review.edits.proposal import Proposal
from tests.support.builders import START, person

NOW = START + 5
ADA = person("Ada")
Json = dict[str, Any]
FIVE = ("approve", "edit", "reject", "respond", "ignore")
EDIT = Proposal("edit", 1, args=encode({"x": 2}))
SAID: dict[str, Proposal] = {
    "approve": Proposal("approve", 1),
    "edit": EDIT,
    "reject": Proposal("reject", 1, "no"),
    "respond": Proposal("respond", 1, "blue"),
    "ignore": Proposal("ignore", 1),
}


def asking(*allowed: DecisionType, schema: Json | None = None, **rule: Any) -> Review:
    """A review of ours: one call of `b`."""
    made: Json = {"allowed_decisions": allowed or FIVE, **rule}
    policy = Policy.from_mapping({"default": "deny", "interrupt_on": {"b": made}})
    call = ToolCall("c1", "b", {"x": 1})
    return built(JudgedCalls([call], [policy.judge(call)]))


def built(asked: JudgedCalls) -> Review:
    return build_review(ReviewKey("a", "t", "x", None), asked, 1, START)[0]


def decide(review: Review, kind: str) -> Review:
    return decisions.decide(review, "1", SAID[kind], ADA, NOW).review


# --------------------------------------------------------------------- every decision in every system

EDITED = {"name": "b", "args": {"x": 2}}
TOLD = "The tool call `b` was skipped. The tool was not executed."
WORDS: dict[str, dict[str, Any]] = {
    "langchain": {
        "approve": {"decisions": [{"type": "approve"}]},
        "edit": {"decisions": [{"type": "edit", "edited_action": EDITED}]},
        "reject": {"decisions": [{"type": "reject", "message": "no"}]},
        "respond": {"decisions": [{"type": "respond", "message": "blue"}]},
        "ignore": {"decisions": [{"type": "reject", "message": TOLD}]},
    },
    "langchain_per_call": {
        "approve": {"c1": {"type": "approve"}},
        "edit": {"c1": {"type": "edit", "edited_action": EDITED}},
        "reject": {"c1": {"type": "reject", "message": "no"}},
        "respond": {"c1": {"type": "respond", "message": "blue"}},
        "ignore": {"c1": {"type": "reject", "message": TOLD}},
    },
    "langchain_js": {
        "approve": {"decisions": [{"type": "approve"}]},
        "edit": {"decisions": [{"type": "edit", "editedAction": EDITED}]},
        "reject": {"decisions": [{"type": "reject", "message": "no"}]},
        "ignore": {"decisions": [{"type": "reject", "message": TOLD}]},
    },
    "sagents": {
        "approve": [{"type": "approve"}],
        "edit": [{"type": "edit", "arguments": {"x": 2}}],
        "reject": [{"type": "reject"}],
        "ignore": [{"type": "reject"}],
    },
    "agent_inbox": {
        "approve": [{"type": "accept", "args": {"action": "b", "args": {"x": 1}}}],
        "edit": [{"type": "edit", "args": {"action": "b", "args": {"x": 2}}}],
        "reject": [{"type": "response", "args": "no"}],
        "respond": [{"type": "response", "args": "blue"}],
        "ignore": [{"type": "ignore", "args": None}],
    },
    "arcgis": {
        "approve": {"id": "c1", "agentId": "a", "payload": True},
        "reject": {"id": "c1", "agentId": "a", "payload": False},
        "ignore": {"id": "c1", "agentId": "a", "payload": False},
    },
}
WORDS["xpertai"] = WORDS["langchain_js"]


@pytest.mark.parametrize("kind", FIVE)
@pytest.mark.parametrize("name", DIALECTS)
def test_each_decision_in_each_systems_words(name: str, kind: str) -> None:
    """Written exactly, or refused with the name of what is missing."""
    review = decide(asking(), kind)
    if kind in WORDS[name]:
        assert dialects.get(name).dump_decisions(review) == WORDS[name][kind]
    else:
        with pytest.raises(UnsupportedByDialect) as caught:
            dialects.get(name).dump_decisions(review)
        assert (caught.value.dialect, caught.value.feature) == (name, kind)


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects_that_accept_an_edit_to_another_tool(name: str) -> None:
    """Only a dialect that has a word for it can do it."""
    dialect, review = dialects.get(name), asking()
    [action] = review.actions
    end = FinalDecision("edit", None, "another", {"x": 2})
    assert dialect.can_rename is (name in ("langchain", "langchain_js", "xpertai"))
    assert (dialect.dump_decision(review, action, end) is not None) is dialect.can_rename


@pytest.mark.parametrize("name", DIALECTS)
def test_an_interrupt_is_distinguished_from_an_answer(name: str) -> None:
    wire = dialects.get(name).dump_request(asking())
    assert dialects.is_interrupt(wire)
    for answer in WORDS[name].values():
        assert not dialects.is_interrupt(answer)


@pytest.mark.parametrize("value", [None, 7, "go", [], {}, {"a": float("nan")}, {1: 2}, object()])
def test_anything_else_is_no_interrupt(value: object) -> None:
    assert not dialects.is_interrupt(value)


@pytest.mark.parametrize(
    "wire", [{"message": "Go on?"}, {"kind": "textInput"}, {"kind": "textInput", "message": "Why?"}]
)
def test_a_part_of_a_question_of_arcgis_is_refused_by_its_name(wire: Json) -> None:
    """It can't be answered: an answer names the interrupt and its agent."""
    assert not dialects.is_interrupt(wire)
    with pytest.raises(DialectError, match=r"a part of an ArcGIS UiInterrupt.*`agentId`"):
        dialects.detect(wire)
    with pytest.raises(DialectError, match="A UiInterrupt needs its `agentId`"):
        dialects.get("arcgis").load_request(wire, "t")


@pytest.mark.parametrize("name", DIALECTS)
def test_there_is_no_answer_before_the_decision(name: str) -> None:
    with pytest.raises(Refused) as caught:
        dialects.get(name).dump_decisions(asking())
    assert caught.value.code == "not_decided"


@pytest.mark.parametrize("name", DIALECTS)
def test_a_request_that_goes_out_comes_back(name: str) -> None:
    """With name, arguments and those decisions that the system knows."""
    dialect = dialects.get(name)
    asked = dialect.load_request(dialect.dump_request(asking()), "t")
    (call,), (ruling,) = asked.calls, asked.rulings
    assert (call.name, call.args, asked.dialect) == ("b", {"x": 1}, name)
    assert set(ruling.allowed_decisions) <= set(FIVE)
    assert "approve" in ruling.allowed_decisions


@pytest.mark.parametrize(
    ("name", "only"), [("langchain", "ignore"), ("langchain_js", "respond"), ("arcgis", "edit")]
)
def test_what_a_system_can_not_ask_is_refused(name: str, only: DecisionType) -> None:
    with pytest.raises(UnsupportedByDialect) as caught:
        dialects.get(name).dump_request(asking(only))
    assert (caught.value.dialect, caught.value.feature) == (name, only)


def test_a_rejection_by_the_deadline_says_so() -> None:
    """If the system writes no reason of its own."""
    review = asking("approve", "reject", expire={"after": "1s"})
    review = escalation.apply_due(review, NOW).review
    ((decision,),) = dialects.get("langchain").dump_decisions(review).values()
    assert decision["message"].startswith("Nobody decided on the tool call for `b` in time.")
    assert dialects.get("sagents").dump_decisions(review) == [{"type": "reject"}]


def test_a_cancelled_call_is_answered_as_a_rejection() -> None:
    """So every call gets an answer."""
    review = commands.cancel(asking(), None, "the user went on", NOW).review
    (decision,) = dialects.get("langchain_js").dump_decisions(review)["decisions"]
    assert decision["type"] == "reject"
    assert "was cancelled" in decision["message"]
    assert dialects.get("langchain_per_call").dump_decisions(review)["c1"]["type"] == "reject"


def test_an_answer_that_the_interrupt_does_not_take_is_refused() -> None:
    """Given a call that may only be approved, and a deadline that rejects."""
    review = escalation.apply_due(asking("approve", expire={"after": "1s"}), NOW).review
    with pytest.raises(UnsupportedByDialect, match="can't receive the decision reject on b"):
        dialects.get("langchain").dump_decisions(review)


# --------------------------------------------------------------------------------- LangChain


def batch(**more: Any) -> Json:
    request: Json = {"name": "b", "args": {"x": 1}, "description": "D", **more}
    config = {"action_name": "b", "allowed_decisions": ["approve", "reject"]}
    return {"action_requests": [request], "review_configs": [config]}


def test_with_the_turn_its_calls_keep_their_ids() -> None:
    """Those that are not asked about are allowed."""
    turn = [ToolCall("c1", "a", {}), ToolCall("c2", "b", {"x": 1}), ToolCall("c3", "b", {"x": 5})]
    asked = dialects.get("langchain").load_request(batch(), "t", turn)
    assert [call.id for call in asked.calls] == ["c1", "c2", "c3"]
    assert [r.verdict.kind for r in asked.rulings] == ["allow", "review", "allow"]
    with pytest.raises(DialectError, match="asks about b, which is not a call of this turn"):
        dialects.get("langchain").load_request(batch(), "t", turn[:1])


def test_without_the_turn_the_same_interrupt_gets_the_same_ids() -> None:
    load = dialects.get("langchain").load_request
    first, again = load(batch(), "t"), load(batch(), "t")
    assert first.calls == again.calls
    assert first.calls[0].id != load(batch(), "other thread").calls[0].id
    assert first.calls[0].id != load(batch(args={}), "t").calls[0].id


def test_a_description_does_not_repeat_the_card() -> None:
    """And kept for answers in LangChain's format."""
    text = "Please look\n\nTool: b\nArgs: {'x': 1}"
    review = built(dialects.get("langchain").load_request(batch(description=text), "t"))
    assert review.actions[0].request.description == "Please look"
    assert dialects.get("langchain").dump_request(review) == batch(description=text)


@pytest.mark.parametrize("key", ["args", "arguments"])
def test_the_key_arguments_of_an_older_docs_page_is_accepted(key: str) -> None:
    wire = batch()
    wire["action_requests"][0][key] = wire["action_requests"][0].pop("args")
    assert dialects.get("langchain").load_request(wire, "t").calls[0].args == {"x": 1}


def test_an_answer_may_say_which_call_it_is_for() -> None:
    review = asking()
    load = dialects.get("langchain").load_decisions
    assert load({"decisions": [{"type": "approve", "tool_call_id": "c1"}]}, review)
    with pytest.raises(DecisionError) as caught:
        load({"decisions": [{"type": "approve", "tool_call_id": "c2"}]}, review)
    assert (caught.value.index, caught.value.tool, caught.value.field) == (0, "b", "tool_call_id")


def test_an_answer_may_be_keyed_by_its_interrupts_id() -> None:
    wire = {"i1": {"decisions": [{"type": "approve"}]}}
    assert dialects.get("langchain").load_decisions(wire, asking())["1"].type == "approve"


def test_other_formats_of_an_answer_are_accepted() -> None:
    load = dialects.get("langchain").load_decisions
    for decision in (
        {"type": "edit", "editedAction": EDITED},
        {"type": "edit", "args": {"action": "b", "args": {"x": 2}}},
    ):
        assert load({"decisions": [decision]}, asking())["1"].args == EDIT.args


def test_an_edit_is_checked_before_anything_is_stored() -> None:
    """The error names the path to what is wrong."""
    review = asking(args_schema={"type": "object", "properties": {"x": {"type": "integer"}}})
    edit = {"type": "edit", "edited_action": {"name": "b", "args": {"x": "two"}}}
    with pytest.raises(DecisionError) as caught:
        dialects.get("langchain").load_decisions({"decisions": [edit]}, review)
    assert (caught.value.field, caught.value.code) == ("edited_action.args.x", "invalid_args")
    assert str(caught.value) == "edited_action.args.x: must be a whole number."


def test_an_edit_that_names_a_tool_that_is_not_there_says_where() -> None:
    edit = {"type": "edit", "edited_action": {"name": "c", "args": {}}}
    with pytest.raises(DecisionError) as caught:
        dialects.get("langchain").load_decisions({"decisions": [edit]}, asking())
    assert (caught.value.field, caught.value.code) == ("edited_action.name", "unknown_tool")


def test_some_calls_of_a_turn_may_be_answered_one_by_one() -> None:
    """LangChain's per-call mode: each has its own interrupt."""
    per_call = dialects.get("langchain_per_call")
    policy = per_call.load_policy({"interrupt_on": {"b": True}})
    assert policy.dialect == "langchain_per_call"
    calls = [ToolCall("c1", "b", {"x": 1}), ToolCall("c2", "b", {"x": 1})]
    review = built(
        JudgedCalls(calls, [policy.judge(c) for c in calls], dialect="langchain_per_call")
    )
    with pytest.raises(DecisionError, match="multiple pending interrupts"):
        per_call.load_decisions({"type": "approve"}, review)
    with pytest.raises(DecisionError, match="No interrupt of this review has the id 'c3'"):
        per_call.load_decisions({"c3": {"type": "approve"}}, review)

    first = per_call.load_decisions({"c2": {"type": "approve"}}, review)
    review = decisions.decide_all(review, first, ADA, NOW).review
    assert per_call.dump_decisions(review) == {"c2": {"type": "approve"}}
    rest = per_call.load_decisions({"type": "reject"}, review)
    assert rest.keys() == {"1"}
    assert decisions.decide_all(review, rest, ADA, NOW).review.status == "settled"


def approval(interrupt_id: str, call_id: str, name: str = "b") -> Json:
    value = {"type": "tool_approval", "tool_call_id": call_id, "name": name, "args": {}}
    return {"id": interrupt_id, "value": value}


@pytest.mark.parametrize(("other", "call"), [("i2", "A"), ("A", "c2")])
def test_an_id_means_one_interrupt_or_none(other: str, call: str) -> None:
    """Tool call ids are the model's own: one that equals another interrupt's id could decide that one."""
    per_call = dialects.get("langchain_per_call")
    with pytest.raises(DialectError, match="'A' is used for two interrupts"):
        per_call.load_request([approval("A", "c1", "read"), approval(other, call, "wipe")], "t")
    same = built(per_call.load_request([approval("c1", "c1")], "t"))
    assert per_call.load_decisions({"c1": {"type": "approve"}}, same).keys() == {"1"}


def test_interrupt_ids_win() -> None:
    """Also in a review that was stored before such ids were refused."""
    per_call = dialects.get("langchain_per_call")
    loaded = per_call.load_request(
        [approval("i1", "c1", "read"), approval("i2", "c2", "wipe")], "t"
    )
    calls = [ToolCall("x", "read", {}), ToolCall("A", "wipe", {})]
    rulings = [
        ruling._replace(interrupt_id=id)
        for ruling, id in zip(loaded.rulings, ("A", "B"), strict=True)
    ]
    review = built(JudgedCalls(calls, rulings, dialect="langchain_per_call"))
    assert per_call.load_decisions({"A": {"type": "approve"}}, review).keys() == {"1"}


@pytest.mark.parametrize("second", ["approve", "reject"])
def test_two_answers_to_one_interrupt_are_refused(second: str) -> None:
    per_call = dialects.get("langchain_per_call")
    review = built(per_call.load_request([approval("i1", "c1")], "t"))
    with pytest.raises(DecisionError, match="answered twice") as caught:
        per_call.load_decisions({"i1": {"type": "reject"}, "c1": {"type": second}}, review)
    assert (caught.value.index, caught.value.tool, caught.value.field) == (1, "b", "id")


def test_a_schema_with_definitions_stays_whole_on_its_way() -> None:
    """Given the schema that LangGraph publishes, then our schema keeps its references, and both give the same
    results."""
    per_call = dialects.get("langchain_per_call")
    address = {"type": "object", "properties": {"zip": {"type": "string"}}, "required": ["zip"]}
    schema = {
        "type": "object",
        "properties": {"to": {"$ref": "#/$defs/Address"}},
        "$defs": {"Address": address},
    }
    wire = per_call.dump_request(asking("approve", "edit", args_schema=schema))
    assert wire[0]["response_schema"]["$defs"]["Address"] == address
    review = built(per_call.load_request(wire, "t"))
    edit = {"type": "edit", "edited_action": {"name": "b", "args": {"to": {"zip": 7}}}}
    with pytest.raises(DecisionError) as caught:
        per_call.load_decisions({"c1": edit}, review)
    assert caught.value.field == "edited_action.args.to.zip"
    assert str(caught.value) == "edit.edited_action.args.to.zip: must be text."


def test_in_per_call_mode_the_tools_name_is_pinned() -> None:
    edit = {"type": "edit", "edited_action": {"name": "c", "args": {}}}
    with pytest.raises(DecisionError, match=r"edit\.edited_action\.name: Input should be 'b'"):
        dialects.get("langchain_per_call").load_decisions({"c1": edit}, asking())


def test_an_edit_that_changes_nothing_counts_as_the_peer_counts_it() -> None:
    """Also if only edits are allowed: it runs unchanged."""
    review = asking("edit")
    wire = {"decisions": [{"type": "edit", "edited_action": {"name": "b", "args": {"x": 1}}}]}
    proposals = dialects.get("langchain").load_decisions(wire, review)
    after = decisions.decide_all(review, proposals, ADA, NOW).review
    assert (after.actions[0].revision, after.status) == (1, "settled")
    assert dialects.get("langchain").dump_decisions(after) == wire


# ------------------------------------------------------------------------- configurations


@pytest.mark.parametrize(
    ("name", "config", "text"),
    [
        ("langchain", {}, "`interrupt_on` is missing."),
        ("langchain", {"interrupt_on": {"b*": True}}, "write the tool's full name"),
        ("langchain", {"interrupt_on": {}, "edit_notise": "x"}, "Did you mean `edit_notice`?"),
        ("langchain_js", {"interrupton": {}}, "Did you mean `interruptOn`?"),
        (
            "langchain_js",
            {"interruptOn": {"b": {"allowedDecisions": []}}},
            "nobody could decide",
        ),
        (
            "langchain_js",
            {"interruptOn": {"b": {"allowedDecisions": ["respond"]}}},
            "is not a decision",
        ),
        ("xpertai", {"interruptOn": {"b": {"description": "d"}}}, "`allowedDecisions` is missing"),
        (
            "sagents",
            {"interrupt_on": {"b": {"allowed_decisions": ["aprove"]}}},
            "is not a decision",
        ),
        ("arcgis", {"tools": {"t": {"outputkey": "k"}}}, "Did you mean `outputKey`?"),
    ],
)
def test_a_configuration_that_would_open_a_gate_is_refused(
    name: str, config: Json, text: str
) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        dialects.get(name).load_policy(config)
    assert text in str(caught.value)


def test_an_empty_description_counts_only_if_intended() -> None:
    """XpertAI's editor writes an empty one for tools without a description. It would hide the call."""
    call = ToolCall("c1", "b", {})
    rule = {"interruptOn": {"b": {"allowedDecisions": ["approve"], "description": ""}}}
    texts = {
        name: dialects.get(name).load_policy(rule).judge(call).text
        for name in ("langchain_js", "xpertai")
    }
    default = "Tool execution requires approval\n\nTool: b\nArgs: {}"
    assert texts == {"langchain_js": "", "xpertai": default}


def test_true_and_missing_mean_what_each_system_means() -> None:
    call = ToolCall("c1", "b", {})
    allowed = {
        name: dialects.get(name).load_policy(config).judge(call).allowed_decisions
        for name, config in {
            "langchain": {"interrupt_on": {"b": True}},
            "langchain_js": {"interruptOn": {"b": True}},
            "sagents": {"interrupt_on": {"b": {}}},
        }.items()
    }
    three = ("approve", "edit", "reject")
    assert allowed == {
        "langchain": (*three, "respond"),
        "langchain_js": three,
        "sagents": three,
    }
    free = dialects.get("sagents").load_policy({"interrupt_on": {"b": {"allowed_decisions": []}}})
    assert free.judge(call).verdict.kind == "allow"


async def test_callables_of_a_configuration_may_be_async() -> None:
    async def when(asked: Any) -> bool:
        return asked.tool_call["args"]["x"] > 1

    async def describe(call: Json, state: Any, runtime: Any) -> str:
        return f"{call['name']} for {state['who']}"

    rule = {"allowedDecisions": ["approve"], "when": when, "description": describe}
    policy = dialects.get("langchain_js").load_policy({"interruptOn": {"b": rule}})
    ruling = await policy.judge_async(ToolCall("c1", "b", {"x": 2}), {"who": "Ada"})
    assert ruling.description == "b for Ada"
    assert (await policy.judge_async(ToolCall("c1", "b", {"x": 1}))).verdict.kind == "allow"


# -------------------------------------------------------------------- Sagents, Agent Inbox, ArcGIS


def test_a_sub_agents_interrupt_carries_its_path() -> None:
    inner: Json = {"action_requests": [{"tool_call_id": "1", "tool_name": "b", "arguments": {}}]}
    for key, who in (("interrupt_data", "mailer"), ("inner", "planner")):
        inner = {"type": "subagent_hitl", "sub_agent_id": "s", "task_name": who, key: inner}
    asked = dialects.get("sagents").load_request(inner, "t")
    assert asked.path == ("planner", "mailer")
    assert dialects.detect(inner) == "sagents"


def test_sagents_has_one_list_of_decisions_a_tool() -> None:
    policy = Policy.from_mapping(
        {
            "default": "review",
            "interrupt_on": {"b": {"when": {"required": ["x"]}, "allowed_decisions": ["approve"]}},
        }
    )
    calls = [ToolCall("c1", "b", {}), ToolCall("c2", "b", {"x": 1})]
    review = built(JudgedCalls(calls, [policy.judge(call) for call in calls]))
    with pytest.raises(UnsupportedByDialect, match="one list of decisions for each tool"):
        dialects.get("sagents").dump_request(review)


def test_a_rejection_in_sagents_words_is_no_error() -> None:
    review = decide(asking(), "reject").model_copy(update={"dialect": "sagents"})
    (answer,) = answers(review)
    assert answer.content == "Tool call 'b' was rejected by a human reviewer. Reason: no"
    assert answer.status == "success"


def test_an_inbox_rejects_by_a_response() -> None:
    """Agent Inbox has no rejection: its response is the reason."""
    inbox = dialects.get("agent_inbox")
    review = asking("approve", "reject")
    assert inbox.dump_request(review)[0]["config"]["allow_respond"] is True
    proposals = inbox.load_decisions([{"type": "response", "args": "not today"}], review)
    assert (proposals["1"].type, proposals["1"].message) == ("reject", "not today")
    assert inbox.load_decisions([{"type": "ignore", "args": None}], review)["1"].type == "reject"
    with pytest.raises(DecisionError, match="can't change the arguments"):
        inbox.load_decisions(
            [{"type": "accept", "args": {"action": "b", "args": {"x": 7}}}], review
        )


def test_a_title_that_is_no_tool_name_comes_back_in_the_answer() -> None:
    wire = {
        "action_request": {"action": "Send the e-mail?", "args": {"x": 1}},
        "config": {f"allow_{word}": True for word in ("accept", "edit", "respond", "ignore")},
    }
    inbox = dialects.get("agent_inbox")
    review = built(inbox.load_request(wire, "t"))
    assert review.calls[0].name == "Send_the_e-mail_"
    assert inbox.dump_request(review) == [wire]
    (answer,) = inbox.dump_decisions(decide(review, "edit"))
    assert answer["args"] == {"action": "Send the e-mail?", "args": {"x": 2}}


def test_what_an_inbox_offers_when_everything_is_allowed() -> None:
    every = {f"allow_{word}": True for word in ("accept", "edit", "respond", "ignore")}
    request = {"action": "A", "args": {}}
    found = agent_inbox.page_offers({"action_request": request, "config": every})
    assert [r["type"] for r in found.responses] == ["edit", "response", "ignore", "accept"]
    assert (found.submit, found.accepts) == ("accept", True)


def question(kind: str, **more: Any) -> Json:
    return {"id": "i1", "agentId": "nav", "kind": kind, "message": "Which?", **more}


@pytest.mark.parametrize(
    ("wire", "good", "bad"),
    [
        (question("booleanChoice"), True, "yes"),
        (question("textInput"), "north", 7),
        (question("singleSelection", metadata={"options": ["a", "b"]}), "a", "c"),
        (question("multipleSelection", metadata={"options": ["a", "b"]}), ["a", "b"], ["c"]),
    ],
)
def test_arcgis_asks_in_four_ways(wire: Json, good: Any, bad: Any) -> None:
    """The question is kept unchanged. The answer is checked against its options, and sent unchanged."""
    arcgis = dialects.get("arcgis")
    review = built(arcgis.load_request(wire, "t"))
    again = arcgis.dump_request(review)
    assert {key: again[key] for key in ("id", "agentId", "kind", "message")} == {
        key: wire[key] for key in ("id", "agentId", "kind", "message")
    }
    if "metadata" in wire:
        assert again["metadata"]["options"] == wire["metadata"]["options"]
    with pytest.raises(DecisionError):
        arcgis.load_decisions({"id": "i1", "agentId": "nav", "payload": bad}, review)
    answer = {"id": "i1", "agentId": "nav", "payload": good}
    after = decisions.decide_all(review, arcgis.load_decisions(answer, review), ADA, NOW).review
    assert arcgis.dump_decisions(after) == answer


@pytest.mark.parametrize(
    "wire", [{"id": "i2", "agentId": "nav"}, {"id": "i1", "agentId": "other"}, {"id": ["i1"]}]
)
def test_arcgis_answers_another_interrupt_or_agent(wire: Json) -> None:
    review = built(dialects.get("arcgis").load_request(question("textInput"), "t"))
    with pytest.raises(DecisionError):
        dialects.get("arcgis").load_decisions({**wire, "payload": "north"}, review)


async def test_arcgis_asks_what_a_callable_makes_of_the_call() -> None:
    async def interrupt(asked: Json) -> Json:
        options = list(asked["args"])
        return {"kind": "singleSelection", "message": "Which?", "metadata": {"options": options}}

    config = {"tools": {"b": {"interrupt": interrupt, "outputKey": "chosen"}}}
    policy = dialects.get("arcgis").load_policy(config)
    call = ToolCall("c1", "b", {"north": 1, "south": 2})
    review = built(JudgedCalls([call], [await policy.judge_async(call)], ("nav",), "arcgis"))
    wire = dialects.get("arcgis").dump_request(review)
    assert (wire["kind"], wire["metadata"]["options"]) == ("singleSelection", ["north", "south"])
    answer = {"id": "c1", "agentId": "nav", "payload": "south"}
    proposals = dialects.get("arcgis").load_decisions(answer, review)
    after = decisions.decide_all(review, proposals, ADA, NOW).review
    assert after.arguments("1").parse() == {"chosen": "south", "north": 1, "south": 2}


def test_the_route_of_an_interrupt_is_the_bots_own() -> None:
    asked = dialects.get("langchain").load_request(batch(), "t")
    assert asked.rulings[0].route == Route()
