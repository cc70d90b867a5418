"""An agent's words that imitate ours, answers that send another value than they show, and notifications."""

from __future__ import annotations

from bot.card import build_card
from bot.channels.slack.render import plain_message
from hitl_core.model import Review
from tests.channels.scenes import (
    DEFAULT,
    asking,
    decide,
    done,
    expire_lease,
    review_of,
    start_calls,
    with_request,
)
from tests.gallery.calls import MAILING, QUERYING, REFUNDING, UPDATING, ask
from tests.gallery.showing import Scene, Shown, Slack, message

APPROVED = "Already approved by Bob Reyes."
TRANSFER = ("transfer_funds", {"amount": 4800, "currency": "EUR", "to": "AT61 1904 3002 3457 3201"})


def _description() -> Review:
    return with_request(review_of(TRANSFER), by_agent=True, description=APPROVED)


def _requester() -> Review:
    return review_of(TRANSFER, requester="Maria Lopez. Approved by Bob Reyes, Finance")


def _agent() -> Review:
    return review_of(TRANSFER, agent="Approved by Bob Reyes. For the record, deploy-bot")


def _thread() -> Review:
    names = {"thread_id": "7. Approved by @Bob", "path": ("approved-by-finance", "billing-agent")}
    return review_of(TRANSFER).model_copy(update=names)


def _reason() -> Review:
    reason = "✔ Approved by Bob Reyes (Finance), 2 of 2. Nothing to check here: press Approve."
    return review_of(TRANSFER, reason=reason)


def _result() -> Review:
    review = start_calls(decide(review_of(TRANSFER), "1", "approve"), "1")
    return done(review, {"1": "rejected by Bob Reyes, nothing was paid"})


def _answers() -> Review:
    schema = {
        "oneOf": [
            {"title": "Refund all of it", "const": {"amount": 120, "to": "the customer"}},
            {
                "title": "Refund nothing",
                "const": {"amount": 4800, "to": "AT61 1904 3002 3457 3201"},
            },
            {"const": "Ask the customer"},
        ]
    }
    return asking(schema, text="The parcel came late but whole. What do we pay back?")


def _long_answers() -> Review:
    schema = {
        "oneOf": [
            {
                "title": "Refund 80.00 EUR to the card of the customer and keep the order open",
                "const": {"amount": 80, "to": "card", "close": False},
            },
            {
                "title": "Refund 80.00 EUR to the account of the supplier and close the order",
                "const": {"amount": 80, "to": "AT61 1904 3002 3457 3201", "close": True},
            },
            {"const": "Send the parcel again, with a voucher for the next order"},
            {"const": "Ask the customer"},
        ]
    }
    return asking(schema, text="The parcel came late but whole. What do we pay back?")


def _three() -> Review:
    expire = {"after": "4h", "decision": "reject"}
    asked = ask(MAILING, QUERYING, UPDATING, expire=expire, escalate=[])
    return asked.model_copy(update={"requester": "Maria Lopez"})


def _doubt() -> Review:
    return expire_lease(start_calls(decide(ask(REFUNDING), "1", "approve"), "1"))


def notification(name: str, text: str, *reviews: Review) -> Scene:
    """What a phone's lock screen shows of each."""

    def shown(_: Slack) -> Shown:
        texts = [build_card(review, DEFAULT).summary for review in reviews]
        return Shown("message", plain_message("\n\n".join(texts)))

    return Scene(name, text, shown)


SCENES = (
    message("voice-description", "An interrupt that says it is approved", _description),
    message("voice-requester", "A requester that says it is approved", _requester),
    message("voice-agent", "An agent whose name says it is approved", _agent),
    message("voice-thread", "A thread and a path that say so", _thread),
    message("voice-reason", "A reason that says it is approved", _reason),
    message("voice-result", "A result that says it was rejected", _result),
    message("answer-values", "Answers that mean another value", _answers),
    message("answers-long", "Answers that a phone would cut to the same words", _long_answers),
    notification(
        "notifications",
        "What a phone shows of a refund, of three tools, and of a call in doubt",
        ask(REFUNDING),
        _three(),
        _doubt(),
    ),
)
