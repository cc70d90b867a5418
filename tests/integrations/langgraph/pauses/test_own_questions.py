"""A running call asks a question: the people of that call decide, and its hidden values stay hidden."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.types import interrupt

from bot.card import build_card
from bot.channels.slack.render.card_message import message
from hitl_core.cli.reviews.call_details import say_call
from hitl_core.cli.reviews.review_json import review_to_json
from hitl_core.errors import ReviewConflict
from hitl_core.model import Review, Reviewer
from hitl_core.review import Decide
from hitl_core.review.edits.proposal import Proposal
from tests.integrations.agents import Lab, Script, answers, call, go
from tests.integrations.langgraph.pauses.test_nested import delegating
from tests.support.waiting import wait_until

MODES = pytest.mark.parametrize("mode", ["batched", "per_call"])
CANARY = "hunter2secret"
PEOPLE = ("U0ALICE01", "U0ALICE02", "U0ALICE03")
TWO_OF_THREE = {"users": list(PEOPLE), "quorum": 2, "exclude_requester": True}
ALL = {f"allow_{word}": True for word in ("accept", "edit", "respond", "ignore")}

Ask = Callable[[str, str], Any]


def inbox(action: str, args: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    return [{"action_request": {"action": action, "args": args}, "config": ALL, **more}]


def words(to: str, pin: str) -> Any:
    """The secret in every word that code can choose."""
    args = {"to": to, f"code {pin}": True, "deep": [{"pin": pin}]}
    return inbox(f"Pay {to} with {pin}?", args, description=f"pin {pin}")


def choice(to: str, pin: str) -> Any:
    metadata = {"toolName": f"ask {pin}", "args": {"pin": pin}, "options": [f"use {pin}", "no"]}
    ids = {"id": f"q-{pin}", "agentId": f"agent-{pin}"}
    return {**ids, "kind": "singleSelection", "message": f"pin {pin}?", "metadata": metadata}


def batch(to: str, pin: str) -> Any:
    action = {"name": "confirm", "args": {"pin": pin}, "description": f"pin {pin}"}
    config = {"action_name": "confirm", "allowed_decisions": ["approve", "edit", "reject"]}
    return {"action_requests": [action], "review_configs": [config]}


def user_question(to: str, pin: str) -> Any:
    return {
        "type": "ask_user_question",
        "question": f"Use {pin}?",
        "response_type": "single_select",
        "options": [{"label": f"yes, {pin}", "value": pin}, {"label": "no", "value": "no"}],
        "tool_call_id": f"id-{pin}",
    }


def confirm(to: str, pin: str) -> Any:
    return inbox("confirm", {"to": to})


def paying(ask: Ask) -> Any:
    @tool
    def pay(to: str, pin: str) -> str:
        """Pay, and ask before it."""
        return f"answer {json.dumps(interrupt(ask(to, pin)))}"

    return pay


TURN = [call("c1", "pay", to="bob", pin=CANARY)]


def driver_of(
    lab: Lab, tools: Sequence[Any], turn: Any = TURN, *, mode: Any = "batched", asks: Any = None
) -> Any:
    asking = HumanInTheLoopMiddleware(asks or {"pay": True}, interrupt_mode=mode)
    agent = create_agent(Script(turns=[turn]), tools, middleware=[asking], checkpointer=lab.saver)
    return lab.reviews.drive(agent, allow_in_memory=True)


async def approve(lab: Lab, review: Review, *people: str) -> Review:
    """Each of them approves what still waits."""
    for person in people:
        who = Reviewer(channel="slack", team="T1", id=person, name=person)
        for action in (await lab.review(review.id)).actions:
            if action.is_pending:
                proposal = Proposal("approve", action.revision)
                command = Decide(review.id, action.key, proposal, who, uuid4().hex)
                await lab.gate.reviews.apply(command)
    return await lab.review(review.id)


async def reach_question(lab: Lab, driver: Any, count: int = 1) -> list[Review]:
    """Approve everything until the tool asks."""
    run = await driver.run(go(), thread_id="t-1", requester="U0MARIA")
    await approve(lab, await lab.review(run.review_id), *PEOPLE[:2])
    await lab.done(run.review_id)
    stop = await wait_until("the question", lambda: next(iter(lab.stops), None))
    assert len(stop.review_ids) == count, stop
    return [await lab.review(each) for each in stop.review_ids]


async def all_texts(lab: Lab, review: Review, capsys: Any) -> str:
    """All that people read of it: cards, the command line and its JSON."""
    snapshot = await lab.gate.reviews.load(review.id)
    cards = [message(build_card(review, place), lambda _: "#x") for place in review.places]
    assert cards
    for each in review.calls:
        say_call(snapshot, each, rest=None)
    texts = review_to_json(snapshot, with_args=True)
    return capsys.readouterr().out + json.dumps([cards, texts], default=str)


def misnamed(to: str, pin: str) -> Any:
    return inbox("pay.question", {"question": pin})


@MODES
@pytest.mark.parametrize("ask", [words, choice, batch, user_question])
@pytest.mark.parametrize("sibling", [False, True])
async def test_a_question_shows_nothing_of_a_call_with_hidden_values(
    lab: Lab, mode: str, ask: Ask, sibling: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Given a call (or one beside it) whose rule hides a value, and its tool asks a question with that
    value in its name, texts, keys, values, ids or choices, then people read that the call asks, and
    nothing of these."""

    @tool
    def login(password: str) -> str:
        """Log in."""
        return "in"

    hiding = {"login": {"redact": ["/password"]}} if sibling else {"pay": {"redact": ["/pin"]}}
    lab.set_policy(default="review", interrupt_on=hiding)
    turn = [*TURN, call("c2", "login", password="hunter3")]
    driver = driver_of(
        lab, [paying(ask), login], turn, mode=mode, asks={"pay": True, "login": True}
    )
    async with lab.serving(driver):
        [question] = await reach_question(lab, driver)

        read = await all_texts(lab, question, capsys)
        assert CANARY not in read
        assert "pay.question" in read
        assert "asks a question while it runs" in read
        assert question.hides_values


@pytest.mark.parametrize("ask", [words, misnamed])
async def test_the_tool_gets_its_own_question_back(lab: Lab, ask: Ask) -> None:
    """Given a question that is withheld from people, when they approve it, then the tool gets its answer
    about its own arguments and its own name."""
    lab.set_policy(default="review", interrupt_on={"pay": {"redact": ["/pin"]}})
    driver = driver_of(lab, [paying(ask)])
    async with lab.serving(driver):
        [question] = await reach_question(lab, driver)
        assert "edit" not in question.actions[0].config.allowed_decisions
        await approve(lab, question, PEOPLE[0])
        await lab.done(question.id)
    request = ask("bob", CANARY)[0]["action_request"]
    _, text = answers(lab.stops[-1])["c1"]
    assert json.loads(text.removeprefix("answer ")) == [{"type": "accept", "args": request}]


@MODES
@pytest.mark.parametrize("ask", [confirm, batch])
async def test_a_question_needs_the_people_of_its_call(lab: Lab, mode: str, ask: Ask) -> None:
    """Given a call that two of three people must approve, at their place, then its question needs the
    same, has the call's requester, and one approval doesn't let the tool go on."""
    rule = {"reviewers": TWO_OF_THREE, "notify": "slack:#finance", "confirm": True}
    expire = {"after": "2h", "decision": "ignore"}
    lab.set_policy(default="review", interrupt_on={"pay": {**rule, "expire": expire}})
    driver = driver_of(lab, [paying(ask)], mode=mode)
    async with lab.serving(driver):
        [question] = await reach_question(lab, driver)
        [action] = question.actions
        reviewers = action.route.reviewers
        assert (reviewers.users, reviewers.quorum) == (PEOPLE, 2)
        assert reviewers.exclude_requester
        assert action.route.notify == ("slack:#finance",)
        assert action.route.expire is not None
        assert action.config.confirm
        assert question.requester == "U0MARIA"
        assert "edit" not in action.config.allowed_decisions
        assert (await approve(lab, question, PEOPLE[0])).status == "pending"
        await approve(lab, question, PEOPLE[1])
        await lab.done(question.id)
    assert answers(lab.stops[-1])["c1"][0] == "success"


@pytest.mark.parametrize("hides", [False, True])
async def test_a_call_whose_id_an_earlier_turn_used_is_asked_about_like_any_other(
    lab: Lab, hides: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Given a model that uses the id of a call again in a later turn, when that call asks a question, then
    its people answer it, and nothing of its hidden values is shown."""

    @tool
    def look_up(what: str) -> str:
        """Look something up."""
        return what

    rule: dict[str, Any] = {"reviewers": TWO_OF_THREE, **({"redact": ["/pin"]} if hides else {})}
    lab.set_policy(default="review", interrupt_on={"pay": rule, "look_up": False})
    agent = create_agent(
        Script(turns=[[call("c1", "look_up", what="x")], TURN]),
        [paying(words), look_up],
        middleware=[HumanInTheLoopMiddleware({"pay": True})],
        checkpointer=lab.saver,
    )
    driver = lab.reviews.drive(agent)
    async with lab.serving(driver):
        [question] = await reach_question(lab, driver)
        assert question.actions[0].route.reviewers.users == PEOPLE
        read = await all_texts(lab, question, capsys)
    assert question.requester == "U0MARIA"
    assert (CANARY in read) is not hides


async def test_a_rule_for_the_question_cant_choose_other_people(lab: Lab) -> None:
    """Given a rule by which one other person answers the question, then nobody is asked, and the tool
    gets a no."""
    rules = {"pay": {"reviewers": TWO_OF_THREE}, "confirm": {"reviewers": {"users": ["U0FRIEND"]}}}
    lab.set_policy(default="review", interrupt_on=rules)
    driver = driver_of(lab, [paying(confirm)])
    async with lab.serving(driver):
        [question] = await reach_question(lab, driver)
        [asked] = question.calls
        assert asked.verdict.kind == "deny"
        assert "`pay` asks a question" in asked.verdict.reason
        await lab.done(question.id)
    assert '"ignore"' in answers(lab.stops[-1])["c1"][1]


async def test_a_rule_for_the_question_adds_its_numbers(lab: Lab) -> None:
    """Given a rule for the question with the same people and a larger quorum, then the quorum counts."""
    three = {**TWO_OF_THREE, "quorum": 3}
    rules = {"pay": {"reviewers": TWO_OF_THREE}, "confirm": {"reviewers": three}}
    lab.set_policy(default="review", interrupt_on=rules)
    driver = driver_of(lab, [paying(confirm)])
    async with lab.serving(driver):
        [question] = await reach_question(lab, driver)
    [action] = question.actions
    assert action.route.reviewers.quorum == 3
    assert "edit" in action.config.allowed_decisions


async def test_a_question_about_the_call_itself_shows_what_its_card_showed(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    """Given a tool that asks about its own call, then people see the arguments that the call's card
    showed, and neither the hidden one nor the agent's text."""
    lab.set_policy(default="review", interrupt_on={"pay": {"redact": ["/pin"]}})
    own = inbox("pay", {"to": "bob", "pin": CANARY}, description=f"pin {CANARY}")
    driver = driver_of(lab, [paying(lambda to, pin: own)])
    async with lab.serving(driver):
        [question] = await reach_question(lab, driver)
        read = await all_texts(lab, question, capsys)
    assert question.calls[0].name == "pay"
    assert "bob" in read
    assert CANARY not in read


async def test_a_call_that_needs_nobody_hides_its_values_in_its_question(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    """Given a call that the policy allows, and a trusted schema that hides a value of it, then its
    question shows nothing of that."""
    lab.set_policy(default="allow", trust_tool_schemas=True)
    pay = paying(words)
    names: dict[str, Any] = {"to": {"type": "string"}, "pin": {"type": "string", "writeOnly": True}}
    pay.args_schema = {"type": "object", "properties": names}
    driver = driver_of(lab, [pay], asks={"other": True})
    run = await driver.run(go(), thread_id="t-1", requester="U0MARIA")
    question = await lab.review(run.review_id)
    assert CANARY not in await all_texts(lab, question, capsys)
    assert question.hides_values


@MODES
@pytest.mark.parametrize("outer", [False, True])
async def test_a_question_of_an_inner_agents_tool_is_asked_as_its_call(
    lab: Lab, mode: str, outer: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Given an agent in a reviewed tool, whose own tool asks: then its question has the people of the
    nearest reviewed call, and hides what either call hides."""
    rules: Any = {
        "delegate": {"redact": ["/task"], "reviewers": TWO_OF_THREE, "notify": "slack:#boss"},
        "pay": False if outer else {"reviewers": TWO_OF_THREE, "notify": "slack:#finance"},
    }
    lab.set_policy(default="review", interrupt_on=rules)
    said = AIMessage(content=f"I pay with {CANARY}.", tool_calls=[{**TURN[0], "type": "tool_call"}])
    asks = {"none": True} if outer else {"pay": True}
    pauses = HumanInTheLoopMiddleware(asks, interrupt_mode=mode)  # type: ignore[arg-type]
    inner = create_agent(Script(turns=[said]), [paying(words)], middleware=[pauses], name="payer")
    driver = driver_of(
        lab,
        [delegating(inner)],
        [call("o1", "delegate", task=f"pay with {CANARY}")],
        asks={"delegate": True},
    )
    async with lab.serving(driver):
        [review] = await reach_question(lab, driver)
        if not outer:
            assert review.calls[0].name == "pay"
            assert review.hides_values, "the agent's words may quote the outer call"
            assert "I pay with" not in await all_texts(lab, review, capsys)
            await approve(lab, review, *PEOPLE[:2])
            await lab.done(review.id)
            await wait_until("the question", lambda: len(lab.stops) == 2)
            review = await lab.review(lab.stops[-1].review_id)
        assert CANARY not in await all_texts(lab, review, capsys)
        [action] = review.actions
        assert action.request.name == "pay.question"
        assert action.route.reviewers.quorum == 2
        assert action.route.notify == ("slack:#boss" if outer else "slack:#finance",)


async def test_after_a_crash_the_question_is_the_same_review(lab: Lab) -> None:
    """Given a process that died after a tool asked, when another one continues the thread, then it finds
    the same review, and whom it excludes stays; with another requester it is refused."""
    lab.set_policy(default="review", interrupt_on={"pay": {"reviewers": TWO_OF_THREE}})
    driver = driver_of(lab, [paying(confirm)])
    async with lab.serving(driver):
        [question] = await reach_question(lab, driver)
    again = driver_of(Lab(lab.gate, lab.saver, lab.folder), [paying(confirm)])
    with pytest.raises(ReviewConflict, match="another requester"):
        await again.run(None, thread_id="t-1", requester="U0OTHER")
    run = await again.run(None, thread_id="t-1")
    assert run.review_ids == (question.id,)
    assert (await lab.review(question.id)).requester == "U0MARIA"


async def test_two_calls_with_other_people_that_ask_at_once_ask_nobody(lab: Lab) -> None:
    """Given two running calls that different people approved and that both ask, then it is not known
    whose question is whose, so both get a no."""

    @tool
    def deploy(to: str) -> str:
        """Deploy, and ask before it."""
        return f"answer {json.dumps(interrupt(confirm(to, '')))}"

    rules = {"pay": {"reviewers": TWO_OF_THREE}}
    lab.set_policy(default="review", interrupt_on=rules)
    turn = [*TURN, call("c2", "deploy", to="prod")]
    driver = driver_of(lab, [paying(confirm), deploy], turn, asks={"pay": True, "deploy": True})
    async with lab.serving(driver):
        await reach_question(lab, driver, 2)
        await wait_until("the end", lambda: lab.stops[-1].finished)
    assert {'"ignore"' in text for _, text in answers(lab.stops[-1]).values()} == {True}
