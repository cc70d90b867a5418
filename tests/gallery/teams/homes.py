"""What waits for a person, in their own chat with the bot."""

from __future__ import annotations

from bot.card import build_card
from bot.channels.teams.render import CardBuilder, home_card
from bot.inbox import Home, HomeLine, HomeTask
from hitl_core.model import MessageRef, Review
from tests.channels.scenes import BOB, DEFAULT, NOW, decide
from tests.gallery.calls import BY_TWO, MAILING, QUERYING, REFUNDING, UPDATING, WITH_OPS, ask
from tests.gallery.teams.acme import KEY, POSTED, link_to, name_of, of_teams
from tests.gallery.teams.showing import Scene, Shown

REF: MessageRef = POSTED[DEFAULT]


def _task(review: Review) -> HomeTask:
    review = of_teams(review)
    keys = tuple(action.key for action in review.actions if action.is_pending)
    return HomeTask(review, build_card(review, DEFAULT, POSTED), keys, (), REF)


def _line(review: Review, ago: float) -> HomeLine:
    review = of_teams(review)
    keys = frozenset(action.key for action in review.actions)
    return HomeLine(build_card(review, DEFAULT, POSTED), NOW - ago, REF, keys)


def _shown(
    mine: tuple[HomeTask, ...] = (),
    others: tuple[HomeLine, ...] = (),
    decided: tuple[HomeLine, ...] = (),
    *,
    pages: int = 1,
    total: int | None = None,
) -> Shown:
    home = Home(mine, others, decided, 0, pages, len(mine) if total is None else total, more=False)
    return Shown(home_card(home, CardBuilder.of(name_of, KEY, link_to)), private=True)


def _full() -> Shown:
    blocked = ("update_customer", {"customerId": "cus_12", "status": "blocked"})
    half = decide(ask(REFUNDING, **BY_TWO), "1", "approve", BOB)
    mine = (ask(REFUNDING, **WITH_OPS), ask(MAILING, QUERYING, UPDATING), ask(blocked), half)
    rejected = decide(ask(QUERYING), "1", "reject", message="Not on a Friday.")
    return _shown(
        tuple(map(_task, mine)),
        (_line(ask(MAILING, reviewers={"users": ["U0BOB", "U0MARIA"]}), 60),),
        (_line(decide(ask(MAILING), "1", "approve"), 120), _line(rejected, 180)),
    )


def _paged() -> Shown:
    each = [
        ask(("update_customer", {"customerId": f"cus_{n}", "status": "vip"})) for n in range(10)
    ]
    return _shown(tuple(map(_task, each)), pages=2, total=12)


SCENES = (
    Scene("home", "What waits for you, for others, and what you decided", _full),
    Scene("home-empty", "Nothing waits", _shown),
    Scene("home-paged", "More than a page", _paged),
)
