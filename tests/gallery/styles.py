"""How values are shown, what a decided card still shows, and what a screen reader says."""

from __future__ import annotations

from typing import Any

from hitl_core.model import Review
from tests.channels.scenes import BOB, decide, done, start_calls
from tests.gallery.calls import MAILING, QUERYING, REFUNDING, UPDATING, WITH_OPS, ask
from tests.gallery.showing import message, spoken

#: A value of each style that a policy knows.
STYLED: dict[str, Any] = {
    "title": "Spring sale",
    "teaser": "Our spring sale begins on Monday. Every lamp is half the price, as long as there are some.",
    "mail": "Dear Jo,\n\nyour lamp is on its way. It arrives on Friday.\n\nThe team",
    "notes": "# Spring sale\n\n* [Shop](https://shop.example/spring)\n* **half** the price",
    "query": "UPDATE products SET price = price / 2\n WHERE kind = 'lamp';",
    "patch": "-price: 80.00\n+price: 40.00",
    "budget": 1234567.5,
    "currency": "EUR",
    "page": "https://shop.example/spring?from=mail",
    "countries": ["AT", "DE", "CH"],
}
STYLES: dict[str, Any] = {
    "/teaser": "text",
    "/mail": "email",
    "/notes": "markdown-source",
    "/query": {"code": "sql"},
    "/patch": "diff",
    "/budget": {"money": {"currency": "/currency"}},
    "/page": "link",
}


def _styles() -> Review:
    rule = {"display": STYLES, "description": "Starts a campaign."}
    return ask(("start_campaign", STYLED), interrupt_on={"*": rule}, **WITH_OPS)


def _hidden_when_decided() -> Review:
    review = ask(MAILING, REFUNDING, hide_when_decided=True)
    review = decide(review, "1", "reject", BOB, message="Say how long it takes.")
    return done(start_calls(decide(review, "2", "approve"), "2"), {"2": "paid back"})


SCENES = (
    message("styles", "Prose, an e-mail, code, money and a link, as the policy says", _styles),
    message("hidden-when-decided", "A decided card that keeps no argument", _hidden_when_decided),
    spoken(
        "spoken",
        "What a screen reader says for the buttons of three tools",
        lambda: ask(MAILING, QUERYING, UPDATING, **WITH_OPS),
    ),
)
