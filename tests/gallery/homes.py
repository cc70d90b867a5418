"""App Home and `/approvals`: what waits for a person."""

from __future__ import annotations

from tests.channels.scenes import THREE
from tests.gallery.office import Calls, Office, scene
from tests.gallery.showing import Shown
from tests.gallery.waiting import REFUND, REFUND_RULE
from tests.support.slack import ALICE

POLICY = {"interrupt_on": {"refund_order": REFUND_RULE}}
TO_OTHERS = {"reviewers": {"users": ["U0BOB", "U0MARIA"]}}
REFUNDED: Calls = (("refund_order", REFUND),)


async def _filled(office: Office) -> None:
    """Two decided, three that wait, one that others decide."""
    await office.press(await office.ask(THREE[:1]), "approve")
    await office.press(await office.ask(THREE[1:2]), "reject")
    await office.hands.submit(ALICE, {"message": "Not on a Friday."})
    await office.ask(REFUNDED, POLICY)
    await office.ask(THREE)
    await office.ask((("update_customer", {"customerId": "cus_12", "status": "blocked"}),))
    await office.ask(THREE[:1], TO_OTHERS, requester=ALICE)


async def _full(office: Office) -> Shown:
    await _filled(office)
    return await office.home()


async def _paged(office: Office) -> Shown:
    for n in range(12):
        await office.ask((("update_customer", {"customerId": f"cus_{n}", "status": "vip"}),))
    return await office.home()


async def _command(office: Office) -> Shown:
    await _filled(office)
    return await office.command("/approvals")


async def _show(office: Office) -> Shown:
    card = await office.ask(REFUNDED, POLICY)
    review_id = card["metadata"]["event_payload"]["review_id"]
    return await office.command(f"/approvals show {review_id}")


SCENES = (
    scene("home", "What waits for you, for others, and what you decided", _full),
    scene("home-empty", "Nothing waits", Office.home),
    scene("home-paged", "More than a page", _paged),
    scene("approvals", "/approvals, seen by who typed it", _command),
    scene("approvals-show", "/approvals show ID", _show),
)
