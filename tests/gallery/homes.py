"""App Home and `/approvals`: what waits for a person."""

from __future__ import annotations

from tests.gallery.calls import BY_TWO, MAILING, QUERYING, REFUNDING, UPDATING, WITH_OPS
from tests.gallery.office import Office, scene
from tests.gallery.showing import Shown
from tests.support.slack import ALICE

TO_OTHERS = {"reviewers": {"users": ["U0BOB", "U0MARIA"]}}


async def _filled(office: Office) -> None:
    """Three decided, three that wait, one that others decide, and one that a second person must approve."""
    await office.press(await office.ask((MAILING,)), "approve")
    await office.press(await office.ask((QUERYING,)), "reject")
    await office.actor.submit(ALICE, {"message": "Not on a Friday."})
    await office.ask((REFUNDING,), WITH_OPS)
    await office.ask((MAILING, QUERYING, UPDATING))
    await office.ask((("update_customer", {"customerId": "cus_12", "status": "blocked"}),))
    await office.ask((MAILING,), TO_OTHERS, requester=ALICE)
    await office.press(await office.ask((REFUNDING,), BY_TWO), "approve")


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
    card = await office.ask((REFUNDING,), WITH_OPS)
    review_id = card["metadata"]["event_payload"]["review_id"]
    return await office.command(f"/approvals show {review_id}")


SCENES = (
    scene("home", "What waits for you, for others, and what you decided", _full),
    scene("home-empty", "Nothing waits", Office.home),
    scene("home-paged", "More than a page", _paged),
    scene("approvals", "/approvals, seen by who typed it", _command),
    scene("approvals-show", "/approvals show ID", _show),
)
