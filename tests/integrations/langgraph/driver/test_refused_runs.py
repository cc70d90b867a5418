"""A run that was refused, because nobody can be asked about its call, doesn't block its thread."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.errors import IntegrationError, InvalidToolCall
from tests.integrations.agents import Lab, answers, call, go


@pytest.mark.parametrize(
    "turn",
    [
        [call("c1", "send_email", to="x" * 300_000)],
        [call("c1", "send_email", to="a"), call("c1", "send_email", to="b")],
        [call("c1", "run_sql", query="x")],
    ],
)
async def test_new_input_replaces_a_call_about_which_nobody_can_be_asked(
    lab: Lab, turn: Any
) -> None:
    """Given a call that can't be reviewed, so its run was refused, then the next message is taken,
    and the model knows that nothing ran."""
    rule = {"allowed_decisions": ["respond"]}
    lab.set_policy(default="allow", interrupt_on={"run_sql": rule})
    driver = lab.driver(turn)
    with pytest.raises((InvalidToolCall, IntegrationError)):
        await driver.run(go(), thread_id="t-1")
    run = await driver.run(go("again"), thread_id="t-1")
    assert run.finished
    assert answers(run)["c1"][0] == "error"
    assert "was stopped before it ended" in answers(run)["c1"][1]
    assert (lab.effects, await lab.all_reviews("t-1")) == ([], [])
