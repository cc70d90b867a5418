"""Cards as people read them. `HITL_GOLDEN=write pytest …` writes them anew: read the diff."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.card import card
from bot.channels.slack.blocks import message
from hitl_core.model import Review, Target, encode
from hitl_core.review import transitions
from hitl_core.review.proposal import Proposal
from tests.channels.reading import check, read
from tests.channels.scenes import (
    ALICE,
    BOB,
    DEFAULT,
    EMAIL,
    NOW,
    OPERATOR,
    OPS,
    THREE,
    cancelled,
    decided,
    done,
    escalated,
    fired,
    lapsed,
    name_of,
    resolved,
    review_of,
    started,
)

GOLDEN = Path(__file__).parent / "golden"


def _decided() -> Review:
    review = review_of(*THREE, ("update_customer", {"customerId": "1", "status": "new"}))
    body = EMAIL["body"].replace("two to five days", "up to ten days")
    review = decided(review, "1", "edit", args={**EMAIL, "body": body, "cc": "a@example.com"})
    review = decided(review, "2", "reject", BOB, message="Do this in the admin tool.")
    review = decided(review, "3", "respond", message="Already a vip.")
    review = decided(review, "4", "ignore")
    return done(started(review, "1"), {"1": "sent, message 7f21"})


def _expired() -> Review:
    policy = {"expire": {"after": "1h", "decision": "reject", "message": "Nobody was there."}}
    return fired(decided(review_of(*THREE[:2], policy=policy), "1", "approve"), 3600)


def _cancelled() -> Review:
    review = decided(decided(review_of(*THREE), "1", "approve"), "2", "reject", message="No.")
    return cancelled(escalated(review), reason="The customer wrote again: the order stays.")


def _renamed(args: dict[str, str]) -> Review:
    """Somebody made another tool's call of it."""
    review = review_of(THREE[0], THREE[1])
    other = Target(verdict="review", allowed_decisions=("approve", "edit"), notify=(DEFAULT,))
    review = review.model_copy(update={"tools": {"send_sms": other}})
    edit = Proposal("edit", 1, args=encode(args), name="send_sms")
    return transitions.decide(review, "1", edit, ALICE, NOW + 60).review


def _edited_nothing() -> Review:
    """As another system's people may answer."""
    edit = Proposal("edit", 1, args=encode(EMAIL), verbatim=True)
    return transitions.decide(review_of(THREE[0]), "1", edit, ALICE, NOW + 60).review


def _doubt() -> Review:
    review = review_of(THREE[0], ("read_file", {"path": "/etc/hosts"}), THREE[1])
    review = decided(decided(review, "1", "approve"), "3", "reject")
    return lapsed(started(review, "1", "2"))


SCENES: dict[str, tuple[Callable[[], Review], str]] = {
    "edited-nothing": (_edited_nothing, DEFAULT),
    "renamed": (lambda: _renamed({**EMAIL, "to": "+43 1 42"}), DEFAULT),
    "renamed-only": (lambda: _renamed(EMAIL), DEFAULT),
    "renamed-doubt": (
        lambda: lapsed(started(decided(_renamed(EMAIL), "2", "approve"), "1")),
        DEFAULT,
    ),
    "cancelled": (_cancelled, DEFAULT),
    "decided-on-the-command-line": (
        lambda: escalated(decided(review_of(*THREE[:2]), "1", "approve", OPERATOR), OPERATOR),
        DEFAULT,
    ),
    "cancelled-by-a-person": (lambda: cancelled(review_of(THREE[1]), BOB), DEFAULT),
    "pending-three": (lambda: review_of(*THREE), DEFAULT),
    "pending-one": (lambda: review_of(THREE[2], requester=None), DEFAULT),
    "pending-no-route": (
        lambda: review_of(THREE[1], policy={"escalate": []}, requester="jo@x"),
        DEFAULT,
    ),
    "pending-deadline": (
        lambda: review_of(*THREE[:2], policy={"expire": {"after": "4h", "decision": "reject"}}),
        DEFAULT,
    ),
    "decided-mixed": (_decided, DEFAULT),
    "half-decided": (
        lambda: decided(review_of(*THREE), "2", "reject", BOB, message="No."),
        DEFAULT,
    ),
    "expired": (_expired, DEFAULT),
    "escalated-first-place": (
        lambda: escalated(decided(review_of(*THREE), "1", "approve")),
        DEFAULT,
    ),
    "escalated-second-place": (lambda: escalated(decided(review_of(*THREE), "1", "approve")), OPS),
    "escalated-by-time": (lambda: fired(review_of(THREE[1]), 600), OPS),
    "doubt": (_doubt, DEFAULT),
    "doubt-answered": (lambda: resolved(resolved(_doubt(), "1", "ran"), "2", "skip"), DEFAULT),
    "thirty-actions": (
        lambda: review_of(*(("update_customer", {"customerId": f"cus_{n}"}) for n in range(30))),
        DEFAULT,
    ),
    "two-hundred-arguments": (
        lambda: review_of(("wide", {f"argument_{n:03}": n for n in range(200)})),
        DEFAULT,
    ),
    "largest-arguments": (
        lambda: review_of(("deploy", {"script": "echo step\n" * 23_000})),
        DEFAULT,
    ),
    "no-arguments": (lambda: review_of(("reboot", {})), DEFAULT),
    "long-names": (
        lambda: review_of(("n" * 128, {"k" * 300: "v"}), agent="a" * 300, requester="r" * 300),
        DEFAULT,
    ),
    "odd-arguments": (
        lambda: review_of(
            (
                "transfer",
                {
                    "to": "jo\u202emoc.live@",
                    "iban": "DE 1",
                    "pa\u200bss": "x",
                    "count": "42",
                    "real": 42,
                    "pad": "ls" + "\n" * 5000 + ";rm -rf /",
                    "*b* <@U0ALICE>": "<!channel> `x` :tada:",
                },
            )
        ),
        DEFAULT,
    ),
}


@pytest.mark.parametrize("name", SCENES)
def test_promise_8_a_card_reads_as_it_should(name: str) -> None:
    """Given a review in some state, then its card is Slack's to take, and reads as it did before."""
    make, place = SCENES[name]
    drawn = check(message(card(make(), place), name_of))
    shown = f"{drawn['text']}\n\n{read(drawn['blocks'])}"
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("HITL_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")
