"""The text of Slack's cards, compared with stored files. `HITL_GOLDEN=write pytest …` writes the files again:
read the diff.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.card import Card, build_card, build_digest
from bot.channels.slack.render.card_message import message
from hitl_core.model import Place, Review, encode
from hitl_core.review import decisions
from hitl_core.review.edits.proposal import Proposal
from tests.channels.reading import check, to_text
from tests.channels.scenes import (
    ALICE,
    BOB,
    CARL,
    DEFAULT,
    EMAIL,
    IT,
    NOW,
    OPERATOR,
    OPS,
    POSTED,
    THREE,
    apply_due,
    asking,
    cancel,
    decide,
    done,
    escalate,
    expire_lease,
    link_to,
    name_of,
    reroute,
    resolve,
    review_of,
    start_calls,
    try_again,
    with_request,
)

GOLDEN = Path(__file__).parent / "golden"


def _decided() -> Review:
    review = review_of(*THREE, ("update_customer", {"customerId": "1", "status": "new"}))
    body = EMAIL["body"].replace("two to five days", "up to ten days")
    review = decide(review, "1", "edit", args={**EMAIL, "body": body, "cc": "a@example.com"})
    review = decide(review, "2", "reject", BOB, message="Do this in the admin tool.")
    review = decide(review, "3", "respond", message="Already a vip.")
    review = decide(review, "4", "ignore")
    return done(start_calls(review, "1"), {"1": "sent, message 7f21"})


def _expired() -> Review:
    policy = {"expire": {"after": "1h", "decision": "reject", "message": "Nobody was there."}}
    return apply_due(decide(review_of(*THREE[:2], policy=policy), "1", "approve"), 3600)


def _cancelled() -> Review:
    review = decide(decide(review_of(*THREE), "1", "approve"), "2", "reject", message="No.")
    return cancel(escalate(review), reason="The customer wrote again: the order stays.")


def _renamed(args: dict[str, str]) -> Review:
    """Somebody made another tool's call of it."""
    review = review_of(THREE[0], THREE[1], tools={"send_sms": None})
    edit = Proposal("edit", 1, args=encode(args), name="send_sms")
    return decisions.decide(review, "1", edit, ALICE, NOW + 60).review


def _edited_nothing() -> Review:
    """As another system's people may answer."""
    edit = Proposal("edit", 1, args=encode(EMAIL), verbatim=True)
    return decisions.decide(review_of(THREE[0]), "1", edit, ALICE, NOW + 60).review


def _doubt() -> Review:
    review = review_of(THREE[0], ("read_file", {"path": "/etc/hosts"}), THREE[1])
    review = decide(decide(review, "1", "approve"), "3", "reject")
    return expire_lease(start_calls(review, "1", "2"))


def _doubt_of_two() -> Review:
    """A call that two approved, and two others answered a question instead of running theirs."""
    two = {"users": ["U0ALICE", "U0BOB", "U0CARL"], "quorum": 2, "reject_quorum": 2}
    rule = {"reviewers": two, "allowed_decisions": ["approve", "reject", "respond", "ignore"]}
    review = review_of(THREE[0], policy={"interrupt_on": {"*": rule}})
    review = decide(decide(review, "1", "approve"), "1", "approve", BOB)
    review = expire_lease(start_calls(review, "1"))
    review = resolve(review, "1", "rerun", ALICE)
    return resolve(review, "1", "skip", CARL)


def _answered_by_one() -> Review:
    two = {"users": ["U0ALICE", "U0BOB", "U0CARL"], "quorum": 2, "reject_quorum": 2}
    rule = {"reviewers": two, "allowed_decisions": ["approve", "reject", "respond", "ignore"]}
    review = review_of(THREE[0], THREE[1], policy={"interrupt_on": {"*": rule}})
    review = decide(review, "1", "respond", message="Sent by hand.")
    review = decide(review, "2", "ignore", BOB)
    return cancel(review, CARL, "The wrong customer")


TWO_OF_OPS: dict[str, Any] = {
    "escalate": [
        {"after": "10m", "to": OPS, "reviewers": {"users": ["U0DANA"], "groups": ["S0OPS"]}}
    ],
    "reviewers": {
        "users": ["U0ALICE", "U0BOB"],
        "groups": ["S0FINANCE"],
        "quorum": 2,
        "reject_quorum": 2,
    },
}


def _voted() -> Review:
    """One of two has approved the first, the second was edited after an approval, the third rejected once."""
    review = review_of(*THREE, ("send_email", EMAIL), policy=TWO_OF_OPS)
    review = decide(review, "1", "approve")
    review = decide(review, "4", "approve")
    review = decide(review, "4", "edit", BOB, args={**EMAIL, "subject": "Your refund"})
    return decide(review, "2", "reject", CARL, message="Not on a Friday.")


def _quorum() -> Review:
    review = decide(decide(_voted(), "1", "approve", BOB), "4", "approve", CARL)
    review = decide(decide(review, "2", "reject", BOB, message="Ask me first."), "4", "approve")
    return decide(decide(review, "3", "approve"), "3", "approve", CARL)


def _edited_twice() -> Review:
    policy = {"reviewers": {"users": ["U0ALICE", "U0BOB", "U0CARL"], "quorum": 2}}
    review = review_of(THREE[0], policy=policy)
    review = decide(review, "1", "edit", args={**EMAIL, "to": "joe@example.com"})
    return decide(review, "1", "edit", BOB, args={"to": "joe@example.com", "body": "Hi"})


def _secret() -> Review:
    rule = {
        "redact": ["/token", "/card/number"],
        "args_schema": {"type": "object", "properties": {"token": {}, "pin": {"writeOnly": True}}},
    }
    args = {
        "amount": 80,
        "card": {"number": "4111", "owner": "Jo"},
        "pin": "1234",
        "token": "s3cret",
    }
    return review_of(("pay", args), policy={"interrupt_on": {"*": rule}})


def _careful() -> Review:
    rule = {"must_read": True, "confirm": True, "description": "Changes what customers see."}
    args = {"env": "production", "script": "echo step\n" * 400}
    calls = [("deploy", args), ("deploy", {"env": "staging"})]
    return review_of(*calls, policy={"interrupt_on": {"*": rule}})


def _titled_schema() -> Review:
    properties = {"qty": {"title": "Quantity"}, "sku": {"title": "sku"}}
    schema = {"type": "object", "properties": properties}
    return review_of(
        ("order", {"sku": "A-1", "qty": 3, "note": "now"}),
        policy={"interrupt_on": {"*": {"args_schema": schema}}},
    )


def _handed_on() -> Review:
    review = review_of(THREE[0], origin="slack:C0ASK/1799999990.000100")
    return review.model_copy(update={"path": ("front desk", "billing")})


def _forty(args: Any) -> Review:
    return review_of(*(("update_customer", {"customerId": f"cus_{n}", **args}) for n in range(40)))


def _second_attempt() -> Review:
    """One of two calls is another attempt; both have the text of one AI message as their reason."""
    rejected = decide(review_of(THREE[0]), "1", "reject", BOB, message="Say how long it takes.")
    body = EMAIL["body"].replace("two to five days", "up to ten days")
    calls = (("send_email", {**EMAIL, "body": body, "Approved by": "Bob"}), THREE[1])
    why = "The bank is slow, so I corrected the days.\n✔ approved by Bob Reyes"
    return try_again(rejected, review_of(*calls, reason=why))


SCENES: dict[str, tuple[Callable[[], Review], Place]] = {
    "reason-long": (lambda: review_of(THREE[1], reason="The order was sent back. " * 30), DEFAULT),
    "second-attempt": (_second_attempt, DEFAULT),
    "edited-nothing": (_edited_nothing, DEFAULT),
    "renamed": (lambda: _renamed({**EMAIL, "to": "+43 1 42"}), DEFAULT),
    "renamed-only": (lambda: _renamed(EMAIL), DEFAULT),
    "renamed-doubt": (
        lambda: expire_lease(start_calls(decide(_renamed(EMAIL), "2", "approve"), "1")),
        DEFAULT,
    ),
    "cancelled": (_cancelled, DEFAULT),
    "decided-on-the-command-line": (
        lambda: escalate(decide(review_of(*THREE[:2]), "1", "approve", OPERATOR), OPERATOR),
        DEFAULT,
    ),
    "cancelled-by-a-person": (lambda: cancel(review_of(THREE[1]), BOB), DEFAULT),
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
        lambda: decide(review_of(*THREE), "2", "reject", BOB, message="No."),
        DEFAULT,
    ),
    "expired": (_expired, DEFAULT),
    "escalated-first-place": (
        lambda: escalate(decide(review_of(*THREE), "1", "approve")),
        DEFAULT,
    ),
    "escalated-second-place": (lambda: escalate(decide(review_of(*THREE), "1", "approve")), OPS),
    "escalated-by-time": (lambda: apply_due(review_of(THREE[1]), 600), OPS),
    "doubt": (_doubt, DEFAULT),
    "doubt-answered": (lambda: resolve(resolve(_doubt(), "1", "ran"), "2", "skip"), DEFAULT),
    "doubt-votes": (_doubt_of_two, DEFAULT),
    "votes-to-answer-skip-cancel": (_answered_by_one, DEFAULT),
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
    "votes": (_voted, DEFAULT),
    "votes-escalated": (lambda: escalate(_voted(), why="I am not sure about the second."), OPS),
    "votes-escalated-first-place": (lambda: escalate(_voted(), why="Not sure."), DEFAULT),
    "quorum-decided": (_quorum, DEFAULT),
    "edited-twice": (_edited_twice, DEFAULT),
    "redacted": (_secret, DEFAULT),
    "redacted-edited": (
        lambda: decide(
            _secret(),
            "1",
            "edit",
            args={"amount": 90, "token": "other", "pin": "1", "card": {"number": "4111"}},
        ),
        DEFAULT,
    ),
    "must-read-and-confirm": (_careful, DEFAULT),
    "schema-titles": (_titled_schema, DEFAULT),
    "handed-on-in-a-thread": (_handed_on, DEFAULT),
    "titled": (lambda: with_request(review_of(THREE[2]), title="Make Jo a vip?"), DEFAULT),
    "titled-two": (lambda: with_request(review_of(*THREE[1:]), title="Do it?"), DEFAULT),
    "question-of-choices": (lambda: asking({"enum": ["EUR", "Approve", None]}), DEFAULT),
    "question-yes-or-no": (lambda: asking({"type": "boolean"}), DEFAULT),
    "question-with-the-tool": (
        lambda: asking({"enum": ["DHL", "UPS"]}, "approve", "reject"),
        DEFAULT,
    ),
    "question-text": (lambda: asking({"type": "string"}), DEFAULT),
    "question-answered": (
        lambda: decide(asking({"type": "string"}), "1", "respond", message="The blue one."),
        DEFAULT,
    ),
    "forty-actions": (lambda: _forty({}), DEFAULT),
    "forty-large-actions": (lambda: _forty({"note": "&<x>\n" * 2_000}), DEFAULT),
    "six-large-actions": (
        lambda: review_of(*(("deploy", {"script": f"echo {n}\n" * 900}) for n in range(6))),
        DEFAULT,
    ),
    "ten-actions": (
        lambda: review_of(*(("update_customer", {"customerId": f"cus_{n}"}) for n in range(10))),
        DEFAULT,
    ),
    "fallback": (
        lambda: reroute(
            review_of(THREE[1], policy={"fallback": IT, "escalate": []}), "the channel is archived"
        ),
        IT,
    ),
    "clock-from-delivery": (
        lambda: review_of(
            THREE[1],
            policy={"clock": "delivered", "expire": {"after": "4h", "decision": "ignore"}},
        ),
        DEFAULT,
    ),
    "look-alikes": (
        lambda: review_of(
            (
                "transfer",
                {
                    "mail": "jo@p\u0430yp\u0430l.com",
                    "page": "https://\u0430\u0440\u0440\u04cf\u0435.com/pay",
                    "name": "r\u0430wan",
                },
            ),
            agent="supp\u043ert-agent",
        ),
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


def _backlog(waiting: int, total: int) -> Card:
    """The digest of a backlog, of which this many wait."""
    policy = {"expire": {"after": "4h", "decision": "reject"}}
    reviews = [review_of(*THREE[: 1 + n % 3], policy=policy) for n in range(min(waiting, 12))]
    return build_digest(f"d0-{'9' * 32}", DEFAULT, "support-agent", reviews, waiting, total)


#: Messages for many reviews.
DIGESTS: dict[str, Callable[[], Card]] = {
    "digest": lambda: _backlog(42, 42),
    "digest-half-decided": lambda: _backlog(7, 1042),
    "digest-of-one-left": lambda: _backlog(1, 42),
    "digest-done": lambda: _backlog(0, 42),
}


@pytest.mark.parametrize("name", DIGESTS)
def test_a_digest_reads_as_it_should(name: str) -> None:
    drawn = check(message(DIGESTS[name](), name_of, link_to))
    compare(GOLDEN / f"{name}.txt", f"{drawn['text']}\n\n{to_text(drawn['blocks'])}")


@pytest.mark.parametrize("name", SCENES)
def test_promise_8_a_card_reads_as_it_should(name: str) -> None:
    """Given a review in some state, then its card is Slack's to take, and reads as it did before."""
    make, place = SCENES[name]
    drawn = check(message(build_card(make(), place, POSTED), name_of, link_to))
    shown = f"{drawn['text']}\n\n{to_text(drawn['blocks'])}"
    compare(GOLDEN / f"{name}.txt", shown)


def compare(path: Path, shown: str) -> None:
    """With what is in the file; `HITL_GOLDEN=write` writes it."""
    if os.environ.get("HITL_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8")
