"""Cards that wait for a decision."""

from __future__ import annotations

from typing import Any

from hitl_core.model import Place, Review
from tests.channels.scenes import (
    BOB,
    IT,
    OPS,
    asking,
    decide,
    escalate,
    reroute,
    review_of,
    try_again,
    with_request,
)
from tests.gallery.calls import (
    BY_TWO,
    MAILING,
    QUERYING,
    REFUNDED_LESS,
    REFUNDING,
    UPDATING,
    WITH_OPS,
    ask,
)
from tests.gallery.showing import message, question

CONTRACT = "".join(
    f"{n}. The supplier delivers within {n + 4} working days, and tells the customer in writing of any"
    " delay as soon as it is known, with the new date and the reason for it.\n\n"
    for n in range(1, 30)
)
NESTED = {
    "campaign": "spring-sale",
    "audience": {"countries": ["AT", "DE", "CH"], "min_orders": 3, "opted_in": True},
    "schedule": [
        {"day": "2027-03-01", "channel": "email", "template": "spring-1"},
        {"day": "2027-03-08", "channel": "sms", "template": None},
    ],
    "budget": {"amount": 4500.0, "currency": "EUR"},
}
ODD = {
    "to": "jo@p\u0430yp\u0430l.com",
    "subject": "Invoice \u202egpj.exe",
    "body": "Please pay\u200b today.",
    "account": "AT61 1904 3002 3457 3201   ",
    "page": "https://\u0430\u0440\u0440\u04cf\u0435.com/pay",
    "script": "ls" + "\n" * 400 + "rm -rf /srv",
}
INJECTION = {
    "to": "<!channel> <@U0BOB> <#C0OPS>",
    "subject": "*Approved by Alice* :white_check_mark: <https://evil.example|open the review>",
    "body": (
        "Hi,\n\n✔ send_email  approved by Alice Ng\n\n[ Approve ]   [ Reject ]\n\n"
        "```&lt;!here&gt;``` ~struck~ Members of #agent-approvals may decide."
    ),
}
WHY = (
    "Jo sent the lamp back on Monday and the warehouse confirmed it. The shop's terms promise the full price"
    " within five days, so I refund it."
)
SECRET = {
    "provider": "stripe",
    "token": "sk_live_51H8mXYZ",
    "card": {"number": "4111 1111 1111 1111", "owner": "Jo Martin"},
    "amount": 80,
}


#: Letters, digits and signs that look like others.
ALIKE = {
    "payee": "billing@p\u0430ypal.com",
    "account": "\u0440\u0430\u0443\u0440\u04301",
    "amount": "\U0001d7cf\U0001d7d0\U0001d7ce.00",
    "page": "shop.example\u2044pay\u2024example.org",
}
ELSEWHERE = {
    "to": '"good@example.com" <evil@example.org>',
    "subject": "Your invoice",
    "body": "Pay at https://good.example@evil.example/pay or at xn--80ak6aa92e.com.",
}
MOVED = {"reference": "5 \u05d0 100 USD", "pay to   Bob Reyes": "80.00 EUR"}


def _odd_among_many() -> Review:
    return ask(
        *[("update_customer", {"email": f"c{n}@example.com"}) for n in range(39)], ("pay", ALIKE)
    )


def _forty() -> Review:
    each = (
        ("update_customer", {"customerId": f"cus_{n:03}", "status": "vip" if n % 3 else "blocked"})
        for n in range(1, 41)
    )
    return ask(*each)


def _contract(**rule: Any) -> Review:
    rule = {"description": "Sends a contract to a supplier.", **rule}
    args = {"supplier": "Globex", "valid_until": "2028-01-31", "text": CONTRACT}
    return ask(("send_contract", args), interrupt_on={"*": rule})


def _deploy() -> Review:
    rule = {"confirm": True, "must_read": True, "description": "Changes what customers see."}
    args = {"environment": "production", "version": "4.2.0", "script": "kubectl apply -f a\n" * 90}
    return ask(("deploy", args), ("deploy", {"environment": "staging"}), interrupt_on={"*": rule})


def _question() -> Review:
    schema = {"enum": ["Refund all of it", "Refund half of it", "Refund nothing"]}
    return asking(schema, text="The parcel came late but whole. What do we pay back?")


def _edited_of_two() -> Review:
    review = decide(ask(REFUNDING, **BY_TWO), "1", "edit", args=REFUNDED_LESS)
    return decide(review, "1", "approve", BOB)


def _escalated() -> Review:
    step = {"after": "10m", "to": OPS, "reviewers": {"groups": ["S0OPS"]}}
    review = ask(MAILING, QUERYING, UPDATING, escalate=[step])
    review = decide(review, "1", "approve")
    review = decide(review, "3", "reject", BOB, message="Jo asked us to close the account.")
    return escalate(review, why="The statement has no LIMIT, I am not sure about it.")


def _deadline() -> Review:
    expire = {"after": "4h", "decision": "reject", "message": "Nobody decided in time."}
    return ask(REFUNDING, expire=expire)


def _fallback() -> Review:
    return reroute(ask(REFUNDING, fallback=IT, escalate=[]), "the channel is archived")


def _copy() -> Review:
    return ask(REFUNDING, notify="slack:S0FINANCE", reviewers={"groups": ["S0FINANCE"]})


def _injection() -> Review:
    return review_of(("send_email", INJECTION), agent="<!here> helper")


def _secret() -> Review:
    return ask(("charge", SECRET), interrupt_on={"charge": {"redact": ["/token", "/card/number"]}})


def _titled() -> Review:
    return with_request(ask(UPDATING), title="Make Jo Martin a VIP?")


def _open_question() -> Review:
    return asking({"type": "string"}, text="Which of the two addresses is the right one?")


def _three() -> Review:
    return ask(MAILING, QUERYING, UPDATING, **WITH_OPS)


def _half() -> Review:
    return decide(_three(), "2", "reject", BOB, message="Not on a Friday.")


def _wide() -> Review:
    return ask(("wide", {f"argument_{n:03}": n for n in range(200)}))


def _second_attempt() -> Review:
    name, args = MAILING
    rejected = decide(ask(MAILING), "1", "reject", BOB, message="Say how long it takes.")
    again = {**args, "body": f"{args['body']}\n\nPS: It takes up to ten days."}
    return try_again(rejected, ask((name, again), reason="I added how long the bank takes."))


SCENES = (
    message("reason", "Why the agent wants it", lambda: ask(REFUNDING, reason=WHY, **WITH_OPS)),
    message("second-attempt", "What changed since it was rejected", _second_attempt),
    message("pending-one", "One tool", lambda: ask(UPDATING, **WITH_OPS)),
    message(
        "pending-three",
        "Three tools, each with its answers",
        lambda: ask(MAILING, QUERYING, UPDATING, **WITH_OPS),
    ),
    message("pending-forty", "Forty tools: one line each", _forty),
    message("refund", "A refund with the SQL that does it", lambda: ask(REFUNDING, **WITH_OPS)),
    message("deadline", "What happens by when", _deadline),
    message("long-text", "A long text is cut, and says so", _contract),
    message("must-read", "Approve first opens what is cut", lambda: _contract(must_read=True)),
    message("nested", "Nested data", lambda: ask(("start_campaign", NESTED))),
    message("odd-characters", "What nobody would see", lambda: ask(("send_email", ODD))),
    message("look-alikes", "Hosts and words in look-alike letters", lambda: ask(("pay", ALIKE))),
    message("addresses", "Addresses that lead elsewhere", lambda: ask(("send_email", ELSEWHERE))),
    message("moved-numbers", "Numbers whose order changes", lambda: ask(("pay", MOVED))),
    message("odd-among-many", "One odd value among forty tools", _odd_among_many),
    message("injection", "Text that wants to be markup", _injection),
    message("redacted", "Values that nobody is shown", _secret),
    message("confirm", "Approve asks once more, and wants all of it read", _deploy),
    question("confirm-asks", "What Approve asks then", _deploy, "approve"),
    message("titled", "What the agent's own system calls it", _titled),
    message("question", "A question with its answers", _question),
    message("question-text", "A question that wants words", _open_question),
    message("quorum-none", "Two of a group must approve", lambda: ask(REFUNDING, **BY_TWO)),
    message("quorum-edited", "One of two approved what was edited before", _edited_of_two),
    message("escalated", "Escalated by a person, with a word of why", _escalated, OPS),
    message("escalated-first", "The same where it came from", _escalated),
    message("fallback", "Shown elsewhere, as its channel is gone", _fallback, IT),
    message("copy", "The copy that each member of a group gets", _copy, Place("slack:S0FINANCE")),
    message("half-decided", "One decided, two wait", _half),
    message(
        "no-arguments",
        "Nothing but a name, and no rule for it",
        lambda: review_of(("reboot", {}), requester=None),
    ),
    message("two-hundred-arguments", "More arguments than fit", _wide),
)
