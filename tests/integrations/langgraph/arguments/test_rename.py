"""An edit may choose another of the agent's tools, if the rules for that tool allow it."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from hitl_core.errors import Refused
from hitl_core.model import encode
from hitl_core.review import Decide
from hitl_core.review.edits.proposal import Proposal
from tests.integrations.agents import ALICE, Lab, answers, call, go

EMAIL = [call("c1", "send_email", to="a")]


async def rename(lab: Lab, review_id: str | None, name: str, **args: Any) -> None:
    assert review_id
    proposal = Proposal("edit", 1, args=encode(args), name=name)
    await lab.gate.reviews.apply(Decide(review_id, "1", proposal, ALICE, uuid4().hex))


async def test_an_edit_that_names_another_tool_runs_that_one(lab: Lab) -> None:
    """Given an e-mail, when a person edits it into a lookup, then the lookup runs, once, and the model is
    told by LangChain what ran in its place."""
    driver = lab.driver(EMAIL)
    async with lab.serving(driver):
        paused = await driver.run(go(), thread_id="t-1")
        await rename(lab, paused.review_id, "read", topic="x")
        await lab.done(paused.review_id)
    assert lab.effects == ["read x"]
    assert "Executed instead: read with arguments" in answers(lab.stops[0])["c1"][1]


@pytest.mark.parametrize(
    ("name", "args", "code"),
    [
        ("read", {"topic": 7}, "invalid_args"),  # by the tool's own schema
        ("run_sql", {"query": "DROP TABLE t"}, "unknown_tool"),  # LangChain takes no edit on it
        ("explode", {"fuse": "x"}, "denied"),  # by the policy
        ("nothing", {}, "unknown_tool"),
    ],
)
async def test_it_has_to_be_a_tool_that_may_be_edited(
    lab: Lab, name: str, args: dict[str, Any], code: str
) -> None:
    lab.set_policy(default="allow", interrupt_on={"explode": "deny"})
    paused = await lab.driver(EMAIL).run(go(), thread_id="t-1")
    with pytest.raises(Refused) as caught:
        await rename(lab, paused.review_id, name, **args)
    assert caught.value.code == code
    assert (await lab.review(paused.review_id)).status == "pending"


async def test_one_interrupt_a_call_pins_the_tool(lab: Lab) -> None:
    """LangChain refuses such an answer there, so it is not offered."""
    paused = await lab.driver(EMAIL, interrupt_mode="per_call").run(go(), thread_id="t-1")
    assert (await lab.review(paused.review_id)).tools == {}
    with pytest.raises(Refused):
        await rename(lab, paused.review_id, "read", topic="x")
