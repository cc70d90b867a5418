"""Where a review is shown, and what happens while nobody decides."""

from __future__ import annotations

from typing import Literal

from hitl_core.model.value import Value

#: `channel:target`, say `slack:#team-ops` or `slack:C0123ABCD`; or DEFAULT_PLACE.
Place = str

#: Where the bot's own settings say (HITL_CHANNEL): the agent's process need not know.
DEFAULT_PLACE: Place = "default"


class Step(Value):
    """Show the review in one more place, `after` seconds from its submission."""

    after: float
    to: Place


class Expire(Value):
    """Settle by the policy, `after` seconds from submission. Never an approval: silence approves nothing."""

    after: float
    decision: Literal["reject", "respond", "ignore"] = "reject"
    message: str | None = None


class Route(Value):
    """Frozen into each call of a review when it is submitted."""

    notify: tuple[Place, ...] = (DEFAULT_PLACE,)
    escalate: tuple[Step, ...] = ()
    expire: Expire | None = None
