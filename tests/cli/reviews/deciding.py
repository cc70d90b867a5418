"""A desk whose person may decide, and what was decided there."""

from __future__ import annotations

import os
import pwd
import socket
from typing import Any

from hitl_core.gate.submission.calls import judge_calls
from hitl_core.gate.submission.new_review import build_review
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import Decision, Review, Reviewer, ToolCall
from hitl_core.policy import Policy
from hitl_core.review.service import Reviews
from tests.cli.desk import Desk

LOGIN = pwd.getpwuid(os.getuid()).pw_name


ME = Reviewer(channel="cli", team=socket.gethostname(), id=LOGIN, name=f"{LOGIN} (command line)")


def decisions(desk: Desk, review_id: str) -> list[Decision | None]:
    return [action.decision for action in desk.review(review_id).actions]


def with_tools(desk: Desk, **rule: Any) -> Review:
    """A call of `a`, which an edit may turn into `b`."""
    policy = Policy.from_mapping({"default": "allow", "interrupt_on": {"a": rule or True}})

    async def submit(reviews: Reviews) -> Review:
        asked = await judge_calls(
            policy, [ToolCall("c1", "a", {"n": 1})], tools={"a": None, "b": None}
        )
        made = build_review(
            ReviewKey("billing", "t-1", "m1", None), asked, 1, await reviews.store.now()
        )
        return await reviews.submit(*made)

    return desk.do(submit)
