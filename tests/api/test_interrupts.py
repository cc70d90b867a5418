"""An agent submits the interrupt of its own framework, and gets the decisions in that framework's format."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import pytest

from bot.api.policies import Policies
from hitl_core.errors import DecisionError
from hitl_core.model import DecisionType, encode
from hitl_core.policy import Policy
from hitl_core.review import Decide, claims, escalation
from hitl_core.review.edits.proposal import Proposal
from hitl_core.review.service import Reviews
from hitl_core.store import RedisStore
from tests.api.client import Client, Reply, tool_call
from tests.api.conftest import Open
from tests.api.interrupts import ARGS, INTERRUPTS, RESUMES, batch
from tests.support.builders import approve_all, person, policy

ALL = ["approve", "edit", "reject"]
EACH = [(name, kind) for name, kinds in RESUMES.items() for kind in kinds]


async def post_interrupt(client: Client, interrupt: Any, turn: str = "m1", **more: Any) -> Reply:
    return await client.post(
        "/v1/reviews", {"thread_id": "t-1", "turn": turn, "interrupt": interrupt, **more}
    )


async def decide(reviews: Reviews, id: str, kind: DecisionType, key: str = "1") -> None:
    """With `n` made 2, or the message "no"."""
    message = "no" if kind in ("reject", "respond") else None
    said = edit(n=2) if kind == "edit" else Proposal(kind, 1, message)
    await reviews.apply(Decide(id, key, said, person(), f"{id}:{key}"))


def edit(**args: Any) -> Proposal:
    return Proposal("edit", 1, None, encode(args))


# ------------------------------------------------------------------------------------- every system


@pytest.mark.parametrize(("name", "kind"), EACH)
async def test_an_interrupt_comes_in_as_it_is_and_its_answer_goes_out(
    client: Client, reviews: Reviews, name: str, kind: Any
):
    """Given each system's interrupt, and each decision that it knows; then it is resumed with exactly what
    it takes, and the outcome says the same."""
    which = {"dialect": name} if name == "xpertai" else {}
    review = (await post_interrupt(client, INTERRUPTS[name], **which)).body
    assert (review["dialect"], review["status"], review["resume"]) == (name, "pending", None)
    [action] = review["actions"]
    skip = {"ignore"} if "reject" in RESUMES[name] else set[str]()  # told as a rejection
    assert set(action["allowed_decisions"]) == {*RESUMES[name], *skip}

    await decide(reviews, review["id"], kind)

    review = await client.read(review["id"])
    assert review["resume"] == RESUMES[name][kind]
    runs = [call["args"] for call in review["outcome"]["execute"]]
    assert runs == {"approve": [ARGS], "edit": [{"n": 2}]}.get(kind, [])


async def test_the_same_turn_again_is_the_same_review(client: Client, reviews: Reviews):
    """Given an interrupt that is sent again; then nothing is new; under another turn people are asked again,
    independent of their earlier answers."""
    first = await post_interrupt(client, INTERRUPTS["langchain_js"])
    await approve_all(reviews, first.body["id"])

    again = await post_interrupt(client, INTERRUPTS["langchain_js"])
    other = await post_interrupt(client, INTERRUPTS["langchain_js"], turn="m2")

    assert (first.status, again.status, other.status) == (201, 200, 201)
    assert again.body["id"] == first.body["id"]
    assert again.body["resume"] is not None
    assert other.body["resume"] is None


async def test_an_answered_interrupt_can_be_done_with(client: Client, reviews: Reviews):
    """Given a system that runs its tools itself; then `done` ends the review, and its answer
    stays readable."""
    id = (await post_interrupt(client, INTERRUPTS["langchain_js"])).body["id"]
    await approve_all(reviews, id)

    done = await client.done(id)

    assert done.body["status"] == "done"
    assert done.body["resume"] == RESUMES["langchain_js"]["approve"]
    assert (await client.get("/v1/reviews?status=settled")).body["reviews"] == []


async def test_the_turns_own_calls_keep_their_ids(client: Client, reviews: Reviews):
    """Given an interrupt that names no ids, and the calls of its turn; then the review has all of them, and
    asks about those that the interrupt asks about."""
    calls = [tool_call("c1", "look_up"), tool_call("c2", n=1), tool_call("c3", n=1)]
    asked = batch(("ask", {"n": 1}, ALL), ("ask", {"n": 1}, ALL))

    review = (await post_interrupt(client, asked, calls=calls)).body

    assert [action["tool_call_id"] for action in review["actions"]] == ["c2", "c3"]
    await decide(reviews, review["id"], "approve", "2")
    await decide(reviews, review["id"], "reject", "3")
    review = await client.read(review["id"])
    assert [call["id"] for call in review["outcome"]["execute"]] == ["c1", "c2"]
    assert [each["type"] for each in review["resume"]["decisions"]] == ["approve", "reject"]
    assert (await client.once(review["id"], "c2", args={"n": 1})).body["run"] is True


async def test_several_interrupts_are_a_review_each(client: Client, reviews: Reviews):
    """Given two sub-agents of Sagents that ask at once; then each has its review, in their order, and is
    answered by itself."""
    inner = [
        {
            "type": "subagent_hitl",
            "task_name": name,
            "interrupt_data": {
                "action_requests": [{"tool_call_id": name, "tool_name": "ask", "arguments": {}}],
                "review_configs": {"ask": {"allowed_decisions": ALL}},
            },
        }
        for name in ("first", "second")
    ]

    await post_interrupt(client, inner[0])  # sent before, by a client whose second try this is

    reply = await post_interrupt(client, {"type": "multiple_interrupts", "interrupts": inner})

    assert (reply.status, "Location" in reply.headers) == (201, False)
    one, two = reply.body["reviews"]
    assert [r["actions"][0]["tool_call_id"] for r in (one, two)] == ["first", "second"]
    assert (await reviews.load(one["id"])).review.path == ("first",)
    await decide(reviews, two["id"], "reject")
    assert (await client.read(two["id"]))["resume"] == [{"type": "reject"}]
    assert (await client.read(one["id"]))["status"] == "pending"


async def test_a_question_is_answered_with_a_value(client: Client, reviews: Reviews):
    """Given a choice of ArcGIS; then the decision has what was chosen."""
    question = {
        "id": "i1",
        "agentId": "map",
        "kind": "singleSelection",
        "message": "Which?",
        "metadata": {"options": ["roads", "rivers"]},
    }
    review = (await post_interrupt(client, question)).body
    said = Proposal("respond", 1, None, None, None, "rivers")
    await reviews.apply(Decide(review["id"], "1", said, person(), "op"))

    review = await client.read(review["id"])

    assert review["actions"][0]["decision"]["answer"] == "rivers"
    assert review["resume"] == {"id": "i1", "agentId": "map", "payload": "rivers"}


# ------------------------------------------------------------------------- what the policy adds to it

POLICY = Policies(
    policy(
        only_yes={"allowed_decisions": ["approve", "reject"]},
        only_answers={"allowed_decisions": ["respond"]},
        told={"description": "Costs money"},
    )
)


async def asks(client: Client, name: str, *allowed: str, args: Any = None, **more: Any) -> Reply:
    interrupt = batch((name, args or {"n": 1}, list(allowed or ALL)))
    return await post_interrupt(client, interrupt, **more)


async def test_the_policy_says_where_people_are_asked_and_until_when(
    client: Client, reviews: Reviews
):
    """Given a tool that the policy sends elsewhere, with a deadline; then its interrupt goes there, too, and
    at the deadline it is answered."""
    id = (await asks(client, "timed")).body["id"]
    review = (await reviews.load(id)).review
    assert review.places == ("slack:#first",)
    late = review.created_at + 31
    await reviews.change(id, "late", lambda review, _: escalation.apply_due(review, late))

    [decision] = (await client.read(id))["resume"]["decisions"]

    assert decision["type"] == "reject"
    assert "in time" in decision["message"]


async def test_a_call_that_the_agent_does_not_ask_about_has_the_policys_places(
    open_api: Open, reviews: Reviews
):
    """They are asked where it is in doubt later."""
    ops = Policy.from_mapping({"default": "allow", "notify": "slack:#ops", "interrupt_on": {}})
    client = await open_api(policies=Policies(ops))

    calls = [tool_call("c1", "look_up"), tool_call("c2", n=1)]
    id = (await post_interrupt(client, OK, calls=calls)).body["id"]

    review = (await reviews.load(id)).review
    assert [review.places_of(call) for call in review.calls] == [("slack:#ops",)] * 2


async def test_while_a_call_is_in_doubt_there_is_nothing_to_resume_with(
    client: Client, reviews: Reviews
):
    """Given an agent that died after `once`; then its system is resumed when a person has said what became
    of the call."""
    id = (await post_interrupt(client, INTERRUPTS["sagents"])).body["id"]
    await approve_all(reviews, id)
    await client.once(id)
    await reviews.change(id, "lapse", lambda review, now: claims.expire_lease(review, now + 100))
    assert (await client.read(id))["resume"] is None

    await reviews.change(
        id, "ran", lambda review, now: claims.resolve(review, "1", "ran", person(), now)
    )

    # Sagents' word for no takes no text. An approval would run it again.
    assert (await client.read(id))["resume"] == RESUMES["sagents"]["reject"]


async def test_a_rule_takes_decisions_away_and_gives_none(open_api: Open):
    client = await open_api(policies=POLICY)

    reply = await asks(client, "only_yes", "approve", "edit", "reject")

    assert reply.body["actions"][0]["allowed_decisions"] == ["approve", "reject"]


async def test_a_rules_own_description_is_shown(open_api: Open):
    client = await open_api(policies=POLICY)

    reply = await asks(client, "told")

    assert reply.body["actions"][0]["description"] == "Costs money"


async def test_a_call_that_needs_nobody_is_asked_about_where_the_agent_asks(client: Client):
    reply = await asks(client, "look_up")

    assert reply.body["status"] == "pending"


async def test_the_policys_schema_and_the_interrupts_both_count(client: Client, reviews: Reviews):
    """Given a tool whose rule has a schema, and an interrupt that has another; then an edit must meet
    both."""
    interrupt = batch(("strict", {"n": 1}, ALL))
    interrupt["reviewConfigs"][0]["argsSchema"] = {"properties": {"n": {"minimum": 5}}}
    id = (await post_interrupt(client, interrupt)).body["id"]
    for n in (4, 11):
        with pytest.raises(DecisionError, match="/n: "):
            await reviews.apply(Decide(id, "1", edit(n=n), person(), f"op{n}"))

    await reviews.apply(Decide(id, "1", edit(n=6), person(), "op"))

    assert (await client.read(id))["resume"]["decisions"][0]["editedAction"]["args"] == {"n": 6}


async def test_promise_1_what_the_policy_denies_is_rejected_and_nobody_is_asked(client: Client):
    """Given an interrupt about a call that the policy denies, beside one that people decide; then it is
    decided already, by the policy, and alone it is answered at once."""
    alone = (await asks(client, "drop_table")).body
    assert alone["status"] == "settled"
    [decision] = alone["resume"]["decisions"]
    assert decision["type"] == "reject"
    assert "The policy doesn't allow `drop_table`" in decision["message"]
    assert alone["outcome"]["execute"] == []
    assert alone["actions"][0]["decision"]["by"]["channel"] == "policy"

    interrupt = batch(("drop_table", {}, ALL), ("ask", {}, ALL))
    beside = (await post_interrupt(client, interrupt, turn="m2")).body
    assert beside["status"] == "pending"
    assert [bool(each["decision"]) for each in beside["actions"]] == [True, False]


async def test_what_is_denied_is_skipped_where_that_is_the_only_no(client: Client):
    """Agent Inbox has no word for a rejection."""
    interrupt = [
        {
            "action_request": {"action": "drop_table", "args": {}},
            "config": {"allow_accept": True, "allow_ignore": True},
        }
    ]

    assert (await post_interrupt(client, interrupt)).body["resume"] == [
        {"type": "ignore", "args": None}
    ]


async def test_a_context_tightens(client: Client):
    """Given a run that allows itself less than its policy; then that counts, in calls and in interrupts."""
    context = {"interrupt_on": {"ask": {"allowed_decisions": ["reject"]}, "look_up": "deny"}}

    calls = await client.submit(tool_call(), tool_call("c2", "look_up"), context=context)
    interrupt = await asks(client, "ask", context=context)

    for reply in (calls, interrupt):
        assert reply.body["actions"][0]["allowed_decisions"] == ["reject"]
    assert len(calls.body["actions"]) == 1
    loose = await client.submit(tool_call(), turn="m2", context={"interrupt_on": {"ask": False}})
    assert loose.body["status"] == "pending"


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


async def test_the_agents_own_schemas_are_enforced(client: Client, reviews: Reviews):
    """Given a tool for which the policy has no schema; then an edit must meet the agent's, in calls and in
    interrupts, and may name another of its tools."""
    tools = {"ask": SCHEMA, "look_up": None}
    calls = (await client.submit(tool_call(n=1), tools=tools)).body["id"]
    interrupt = (await asks(client, "ask", tools=tools)).body["id"]
    for id in (calls, interrupt):
        with pytest.raises(DecisionError, match="/n: "):
            await reviews.apply(Decide(id, "1", edit(n="x"), person(), "wrong"))
        renamed = edit(n=5)._replace(name="look_up")
        await reviews.apply(Decide(id, "1", renamed, person(), "right"))

        review = await client.read(id)

        assert review["actions"][0]["decision"]["name"] == "look_up"
        assert review["outcome"]["execute"][0]["name"] == "look_up"
    edited = {"name": "look_up", "args": {"n": 5}}
    assert review["resume"] == {"decisions": [{"type": "edit", "editedAction": edited}]}


@pytest.mark.parametrize("name", ["langchain_per_call", "sagents", "agent_inbox"])
async def test_no_edit_renames_where_that_can_not_be_said(
    client: Client, reviews: Reviews, name: str
):
    id = (await post_interrupt(client, INTERRUPTS[name], tools={"look_up": None})).body["id"]

    assert (await reviews.load(id)).review.tools == {}


async def test_a_withdrawn_interrupt_is_answered_where_its_system_has_a_word(client: Client):
    """Given two cancelled reviews; then LangChain is told of it, and Agent Inbox, which has no
    word, nothing."""
    for name in ("langchain_js", "agent_inbox"):
        id = (await post_interrupt(client, INTERRUPTS[name], turn=name)).body["id"]
        cancelled = await client.post(f"/v1/reviews/{id}/cancel", {"reason": "The user went on"})
        assert cancelled.body["outcome"]["jump_to_model"] is True
        if name == "langchain_js":
            [decision] = cancelled.body["resume"]["decisions"]
            assert "The user went on" in decision["message"]
        else:
            assert cancelled.body["resume"] is None


NOBODY = {"after": "1h", "decision": "respond", "message": "Nobody was there"}
LATE = {"after": "1h"}
ACCEPT = [{"action_request": {"action": "pay", "args": {}}, "config": {"allow_accept": True}}]


def question(kind: str, *options: Any) -> dict[str, Any]:
    asked = {"id": "i1", "agentId": "map", "kind": kind, "message": "Which?"}
    return {**asked, "metadata": {"options": [*options]}} if options else asked


def only(**rule: Any) -> Policies:
    return Policies(Policy.from_mapping({"default": "review", **rule}))


@pytest.mark.parametrize(
    ("interrupt", "rule"),
    [
        (question("booleanChoice"), {"expire": NOBODY}),
        (question("singleSelection", "a", "b"), {"expire": NOBODY}),
        (question("singleSelection", "a", "b"), {"expire": {**NOBODY, "message": "b"}}),
        (question("multipleSelection", "a"), {"expire": LATE}),
        (question("textInput"), {"expire": NOBODY}),
        (question("textInput"), {"expire": LATE}),
        (question("textInput"), {"default": "deny"}),
        (ACCEPT, {"expire": NOBODY}),
        (ACCEPT, {"expire": {**NOBODY, "decision": "ignore"}}),
        (ACCEPT, {"expire": LATE}),
        (ACCEPT, {"default": "deny"}),
        (ACCEPT, {"interrupt_on": {"pay": {"allowed_decisions": ["approve", "reject"]}}}),
        (batch(("pay", {}, ["approve"])), {"interrupt_on": {"pay": True}}),
    ],
)
async def test_dialects_2_a_policy_that_an_interrupt_has_no_word_for_is_refused(
    open_api: Open, store: RedisStore, interrupt: Any, rule: Any
):
    """Given a deadline, a denial or a rejection that this interrupt can't be told; then the HTTP API says so,
    and what to change, and nobody is asked."""
    client = await open_api(policies=only(**rule))

    reply = await post_interrupt(client, interrupt)

    assert (reply.status, reply.code) == (422, "invalid")
    assert reply.body["detail"].startswith("/interrupt: The policy")
    assert await store.live_ids() == []


async def test_dialects_2_what_can_be_said_at_the_deadline_is_said(
    open_api: Open, reviews: Reviews
):
    """Given a yes or no of ArcGIS, one that Agent Inbox lets people ignore, and a deadline that rejects; then
    each gets a no."""
    client = await open_api(policies=only(expire=LATE))
    ignorable = [{**ACCEPT[0], "config": {"allow_accept": True, "allow_ignore": True}}]
    reason = []
    for turn, interrupt in enumerate([question("booleanChoice"), ignorable]):
        id = (await post_interrupt(client, interrupt, turn=str(turn))).body["id"]
        await reviews.change(
            id, "late", lambda review, now: escalation.apply_due(review, now + 3700)
        )
        reason.append((await client.read(id))["resume"])

    assert reason == [
        {"id": "i1", "agentId": "map", "payload": False},
        [{"type": "ignore", "args": None}],
    ]


async def test_dialects_2_a_rule_that_only_tightens_leaves_the_interrupts_words(
    open_api: Open, reviews: Reviews
):
    """Given a rule that lets people only approve, and a deadline that rejects; then the deadline says what
    the interrupt takes, though no person may."""
    rule = {"allowed_decisions": ["approve"], "expire": LATE}
    client = await open_api(policies=only(interrupt_on={"pay": rule}))
    id = (await asks(client, "pay")).body["id"]
    await reviews.change(id, "late", lambda review, now: escalation.apply_due(review, now + 3700))

    [decision] = (await client.read(id))["resume"]["decisions"]

    assert decision["type"] == "reject"


async def test_dialects_2_no_answer_means_no_payload(client: Client):
    """Given a question of ArcGIS that is withdrawn; then there is nothing to resume it with: it would
    continue with any text."""
    id = (await post_interrupt(client, question("textInput"))).body["id"]

    cancelled = await client.post(f"/v1/reviews/{id}/cancel")

    assert cancelled.body["resume"] is None


# ---------------------------------------------------------------------------------------- what is wrong

OK = INTERRUPTS["langchain_js"]
BIG = {"n": 2**53}
TWO = [INTERRUPTS["sagents"]] * 2
BAD_SCHEMA = {**OK, "reviewConfigs": [{**OK["reviewConfigs"][0], "argsSchema": {"type": 7}}]}
BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "no turn": ({"turn": None}, "/turn", "must be text"),
    "nothing": ({"interrupt": None}, "/interrupt", "not an interrupt"),
    "nobody's": ({"interrupt": {"question": "Really?"}}, "/interrupt", "not an interrupt"),
    "an answer": ({"interrupt": {"decisions": []}}, "/interrupt", "must be a list"),
    "of another system": ({"dialect": "sagents"}, "/interrupt", "not an interrupt of Sagents"),
    "an unknown system": ({"dialect": "slack"}, "/dialect", "langchain_js"),
    "undecidable": ({"interrupt": batch(("ask", {}, []))}, "/interrupt", "nobody could decide"),
    "unsayable": ({"interrupt": batch(("ask", {}, ["respond"]))}, "/interrupt", "can't receive"),
    "a bad name": ({"interrupt": batch(("a b", {}, ALL))}, "/interrupt", "tool name 'a b'"),
    "no arguments": ({"interrupt": batch(("ask", None, ALL))}, "/interrupt", "JSON object"),
    "beyond JavaScript": ({"interrupt": batch(("ask", BIG, ALL))}, "/interrupt", "2^53"),
    "half a text": ({"interrupt": batch(("ask", {"a": "\ud800"}, ALL))}, "/interrupt", "half"),
    "too many": (
        {"interrupt": batch(*[("ask", {}, ALL)] * 101)},
        "/interrupt",
        "at most 100 tool calls",
    ),
    "the same twice": (
        {"interrupt": {"type": "multiple_interrupts", "interrupts": TWO}},
        "/interrupt",
        "its own `turn`",
    ),
    "more than there may be": (
        {"interrupt": {"type": "multiple_interrupts", "interrupts": TWO * 51}},
        "/interrupt",
        "more than 100 interrupts",
    ),
    "several, with calls": (
        {
            "interrupt": {"type": "multiple_interrupts", "interrupts": TWO},
            "calls": [tool_call(n=1)],
        },
        "/calls",
        "can only be sent with one interrupt",
    ),
    "another turn's": (
        {"calls": [tool_call(name="look_up")]},
        "/interrupt",
        "not a call of this turn",
    ),
    "a bad call": ({"calls": [tool_call(a="\ud800")]}, "/calls/0/args", "surrogate"),
    "unasked, but denied": (
        {"calls": [tool_call(n=1), tool_call("c2", "drop_table")]},
        "/interrupt",
        "`drop_table`, but the policy stops that call: The rule `drop_table` denies it.",
    ),
    "unasked, but to be asked": (
        {"calls": [tool_call(n=1), tool_call("c2", "strict")]},
        "/interrupt",
        "`strict`, but the policy stops that call: it requires a person",
    ),
    "denied, and no word for it": (
        {"interrupt": batch(("drop_table", {}, ["approve"]))},
        "/interrupt",
        "accepts no rejection",
    ),
    "decided by none": (
        {"interrupt": batch(("only_answers", {}, ALL))},
        "/interrupt",
        "the interrupt allows only approve, edit, reject, and the policy only respond",
    ),
    "a deadline that can't be told": (
        {"interrupt": batch(("timed", {}, ["approve"]))},
        "/interrupt",
        "deadline would reject `timed`",
    ),
    "a bad schema": ({"interrupt": BAD_SCHEMA}, "/interrupt", "This schema can't be used"),
    "a tool's schema": (
        {"tools": {"ask": {"type": 7}}},
        "/tools",
        "The schema of the tool ask can't be used",
    ),
    "a tool's name": ({"tools": {"a b": None}}, "/tools/a b", "pattern"),
    "tools without end": ({"tools": {"ask": {"a": "x" * 300_000}}}, "/tools", "262,144"),
    "a context with a slip": ({"context": {"interupt_on": {}}}, "/context", "interupt_on"),
    "a context of text": ({"context": "x"}, "/context", "must be an object"),
    "a context of half a text": ({"context": {"a": "\ud800"}}, "/context", "surrogate"),
    "an unknown key": ({"colour": 1}, "/colour", "key is not allowed"),
}


@pytest.mark.parametrize(("wrong", "pointer", "words"), BAD.values(), ids=list(BAD))
async def test_promise_10_what_is_wrong_with_an_interrupt_is_named(
    open_api: Open, store: RedisStore, wrong: dict[str, Any], pointer: str, words: str
):
    """And nothing is stored."""
    client = await open_api(policies=POLICY)
    good = {"thread_id": "t-1", "turn": "m1", "interrupt": OK}

    reply = await client.post("/v1/reviews", {**good, **wrong})

    assert (reply.status, reply.code) == (422, "invalid")
    assert reply.body["detail"].startswith(f"{pointer}: ")
    assert words in reply.body["detail"]
    assert await store.live_ids() == []


async def test_people_are_offered_only_what_the_system_can_be_told(client: Client):
    """Given an interrupt that allows an answer in the tool's place, which LangChain for JavaScript has no
    word for; then nobody is offered it."""
    reply = await asks(client, "ask", "approve", "respond", "ignore", "reject")

    assert reply.body["actions"][0]["allowed_decisions"] == ["approve", "ignore", "reject"]


@pytest.mark.parametrize("where", ["interrupt", "context", "tools"])
async def test_endless_nesting_is_refused(client: Client, where: str):
    deep = '{"interrupt_on":' * 300 + "1" + "}" * 300
    good = '"thread_id":"t","turn":"m1"' + ("" if where == "interrupt" else ',"interrupt":{}')
    value = f'{{"ask":{deep}}}' if where == "tools" else deep
    body = f'{{{good},"{where}":{value}}}'.encode()

    reply = await client.send("POST", "/v1/reviews", body, Content_Type="application/json")

    assert (reply.status, reply.code) == (422, "invalid")


#: Values that nobody expects, in place of the right one.
JUNK = [None, True, -1, 2**53, 1e308, "", "\u202e", "constructor", "drop_table", "timed", "only_yes",
        [], [None], ["approve"], ["respond"], {}, {"$ref": "#"}, {"type": "object"}]  # fmt: skip


def places(value: Any, parent: Any = None, key: Any = None) -> Iterator[tuple[Any, Any]]:
    """All places in it: a dict or a list, and a key of it."""
    if parent is not None:
        yield parent, key
    each = enumerate(value) if isinstance(value, list) else getattr(value, "items", list)()
    for inner, item in list(each):
        yield from places(item, value, inner)


@pytest.mark.parametrize("seed", range(4))
async def test_promise_10_any_interrupt_is_a_review_or_one_sentence(open_api: Open, seed: int):
    """Given interrupts with parts replaced, gone or doubled; then each is taken or refused, and what is taken
    can be withdrawn and read to its end."""
    client, chance = await open_api(policies=POLICY), random.Random(seed)
    for turn in range(150):
        interrupt = copy.deepcopy(INTERRUPTS[chance.choice(list(INTERRUPTS))])
        for _ in range(chance.randint(1, 3)):
            if not (found := list(places(interrupt))):
                break
            parent, key = chance.choice(found)
            match chance.randint(0, 4):
                case 0:
                    del parent[key]
                case 1 if isinstance(parent, list):
                    parent.append(copy.deepcopy(parent[key]))
                case _:
                    parent[key] = copy.deepcopy(chance.choice(JUNK))

        reply = await post_interrupt(client, interrupt, turn=f"m{turn}")

        assert reply.status in (201, 422), interrupt
        if reply.status == 201:
            ended = await client.post(f"/v1/reviews/{reply.body['id']}/cancel")
            assert ended.status == 200, interrupt


async def test_dialects_m4_a_question_cancelled_after_its_answer_has_no_resume(
    client: Client, reviews: Reviews
):
    """Given a person who chose, and an agent that cancels then; then nothing carries the choice."""
    asked = {
        "id": "i1",
        "agentId": "map",
        "kind": "singleSelection",
        "message": "Which one?",
        "metadata": {"options": ["Delete all", "Keep"]},
    }
    id = (await post_interrupt(client, asked)).body["id"]
    await reviews.apply(Decide(id, "1", Proposal("respond", 1, answer="Delete all"), person(), "d"))

    cancelled = (await client.post(f"/v1/reviews/{id}/cancel", {})).body

    assert cancelled["resume"] is None
    [answer] = cancelled["outcome"]["answers"]
    assert (answer["status"], "was cancelled" in answer["content"]) == ("error", True)


async def test_dialects_l1_an_approval_that_takes_only_a_response_is_refused(client: Client):
    """Sagents' approvals know none: nobody is asked what could not be told."""
    asked = copy.deepcopy(INTERRUPTS["sagents"])
    asked["review_configs"]["ask"]["allowed_decisions"] = ["respond"]
    refused = await post_interrupt(client, asked)
    assert (refused.status, "can't receive respond" in refused.body["detail"]) == (422, True)

    asked["review_configs"]["ask"]["allowed_decisions"] = ["approve", "reject", "respond"]
    [action] = (await post_interrupt(client, asked)).body["actions"]
    assert action["allowed_decisions"] == ["approve", "reject", "ignore"]
