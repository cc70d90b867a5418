"""Every dialect keeps the contract; `ask_user` is Sagents' other interrupt."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.dialects.contract import TOOL, DialectContract, Json

ARGS = {"n": 1}
WORDS = ["approve", "edit", "reject", "respond"]


def _some(*words: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(words), min_size=1, max_size=len(words), unique=True)


class Decisions(DialectContract):
    """Of all those that answer with a decision and its type."""

    def word(self, answer: Any) -> Json:
        return answer["decisions"][0]

    def is_yes(self, interrupt: Any, word: Json) -> bool:
        return word["type"] in ("approve", "edit")

    def goes_on(self, interrupt: Any, word: Json) -> bool:
        return word["type"] not in ("reject", "ignore")


class TestLangChain(Decisions):
    dialect = "langchain"
    interrupts = _some(*WORDS).map(
        lambda allowed: {
            "action_requests": [{"name": TOOL, "args": ARGS}],
            "review_configs": [{"action_name": TOOL, "allowed_decisions": allowed}],
        }
    )

    def takes(self, interrupt: Any, word: Json) -> bool:
        allowed = interrupt["review_configs"][0]["allowed_decisions"]
        return word["type"] in allowed and ("message" in word or word["type"] != "respond")


class TestLangChainJs(Decisions):
    dialect = "langchain_js"
    interrupts = _some(*WORDS[:3]).map(
        lambda allowed: {
            "actionRequests": [{"name": TOOL, "args": ARGS}],
            "reviewConfigs": [{"actionName": TOOL, "allowedDecisions": allowed}],
        }
    )

    def takes(self, interrupt: Any, word: Json) -> bool:
        return word["type"] in interrupt["reviewConfigs"][0]["allowedDecisions"]


class TestXpertAI(TestLangChainJs):
    dialect = "xpertai"


class TestLangChainPerCall(Decisions):
    dialect = "langchain_per_call"
    interrupts = _some(*WORDS).map(
        lambda allowed: [
            {
                "id": "i1",
                "value": {
                    "type": "tool_approval",
                    "tool_call_id": "c1",
                    "name": TOOL,
                    "args": ARGS,
                },
                "response_schema": {"oneOf": [_branch(kind) for kind in allowed]},
            }
        ]
    )

    def word(self, answer: Any) -> Json:
        return answer["i1"]

    def takes(self, interrupt: Any, word: Json) -> bool:
        branches = interrupt[0]["response_schema"]["oneOf"]
        kinds = [branch["properties"]["type"]["const"] for branch in branches]
        return word["type"] in kinds and ("message" in word or word["type"] != "respond")


def _branch(kind: str) -> Json:
    return {"type": "object", "properties": {"type": {"const": kind}}}


class TestSagents(Decisions):
    dialect = "sagents"
    interrupts = _some(*WORDS).map(
        lambda allowed: {
            "action_requests": [{"tool_call_id": "c1", "tool_name": TOOL, "arguments": ARGS}],
            "review_configs": {TOOL: {"allowed_decisions": allowed}},
            "hitl_tool_call_ids": ["c1"],
        }
    )

    def word(self, answer: Any) -> Json:
        return answer[0]

    def takes(self, interrupt: Any, word: Json) -> bool:
        allowed = interrupt["review_configs"][TOOL]["allowed_decisions"]
        return word["type"] in WORDS[:3] and word["type"] in allowed


class TestAskUser(DialectContract):
    """An answer that selects an option is a yes; only a person gives one. An answer with free text is a
    result for the model."""

    dialect = "sagents"
    interrupts = st.fixed_dictionaries(
        {
            "type": st.just("ask_user_question"),
            "question": st.just("Which one?"),
            "response_type": st.sampled_from(["single_select", "multi_select", "freeform"]),
            "allow_other": st.booleans(),
            "allow_cancel": st.booleans(),
            "tool_call_id": st.just("q1"),
        }
    ).flatmap(lambda asked: _values(asked).map(lambda options: asked | {"options": options}))

    def word(self, answer: Any) -> Json:
        return answer

    def takes(self, interrupt: Any, word: Json) -> bool:
        if word["type"] == "cancel":
            return interrupt["allow_cancel"]
        if interrupt["response_type"] == "freeform":
            return bool(word["other_text"])
        others = {*word["selected"]} - _option_values(interrupt)
        single = interrupt["response_type"] == "single_select"
        fits = not others or (interrupt["allow_other"] and others == {"other"})
        return fits and (len(word["selected"]) == 1 if single else bool(word["selected"]))

    def is_yes(self, interrupt: Any, word: Json) -> bool:
        return bool({*word.get("selected", ())} & _option_values(interrupt))

    def means_yes(self, interrupt: Any, word: Json, by: str) -> bool:
        return by == "respond"

    def goes_on(self, interrupt: Any, word: Json) -> bool:
        return word["type"] != "cancel"


def _values(asked: Json) -> st.SearchStrategy[list[Json]]:
    if asked["response_type"] == "freeform":
        return st.just([])
    return st.sampled_from([("a", "yes"), ("other", "yes")]).map(
        lambda values: [{"label": value.upper(), "value": value} for value in values]
    )


def _option_values(interrupt: Any) -> set[str]:
    return {option["value"] for option in interrupt["options"]}


class TestAgentInbox(Decisions):
    dialect = "agent_inbox"
    flags = ("allow_accept", "allow_edit", "allow_respond", "allow_ignore")
    interrupts = _some(*flags).map(
        lambda allowed: [
            {
                "action_request": {"action": TOOL, "args": ARGS},
                "config": {flag: flag in allowed for flag in TestAgentInbox.flags},
            }
        ]
    )

    def word(self, answer: Any) -> Json:
        return answer[0]

    def takes(self, interrupt: Any, word: Json) -> bool:
        flag = {"response": "respond"}.get(word["type"], word["type"])
        return interrupt[0]["config"][f"allow_{flag}"]

    def is_yes(self, interrupt: Any, word: Json) -> bool:
        return word["type"] in ("accept", "edit")


class TestArcGIS(DialectContract):
    """It continues with every payload except `false`."""

    dialect = "arcgis"
    interrupts = st.fixed_dictionaries(
        {
            "id": st.just("i1"),
            "agentId": st.just("map"),
            "kind": st.sampled_from(
                ["booleanChoice", "multipleSelection", "singleSelection", "textInput"]
            ),
            "message": st.just("Which one?"),
            "metadata": st.sampled_from(
                [
                    {"options": ["a", "yes"]},
                    {"options": [{"value": "a", "label": "First"}, {"value": False}]},
                    {"toolName": TOOL, "args": {}, "layer": "roads", "options": [1, True]},
                ]
            ),
        }
    )

    def word(self, answer: Any) -> Json:
        assert (answer["id"], answer["agentId"]) == ("i1", "map")
        return answer

    def takes(self, interrupt: Any, word: Json) -> bool:
        payload = word["payload"]
        match interrupt["kind"]:
            case "booleanChoice":
                return isinstance(payload, bool)
            case "textInput":
                return isinstance(payload, str)
            case "singleSelection":
                return _is_option(interrupt, payload)
            case _:
                return isinstance(payload, list) and all(_is_option(interrupt, p) for p in payload)

    def is_yes(self, interrupt: Any, word: Json) -> bool:
        return interrupt["kind"] != "booleanChoice" or word["payload"] is not False

    def means_yes(self, interrupt: Any, word: Json, by: str) -> bool:
        return by == ("approve" if interrupt["kind"] == "booleanChoice" else "respond")


def _is_option(interrupt: Any, payload: Any) -> bool:
    """By type too: Python takes 1 for True."""
    options = interrupt["metadata"]["options"]
    values = [option["value"] if isinstance(option, dict) else option for option in options]
    return (type(payload), payload) in [(type(value), value) for value in values]
