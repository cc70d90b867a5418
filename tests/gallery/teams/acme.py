"""The people and places of the gallery in Teams. The reviews are the same as in Slack."""

from __future__ import annotations

import json
import re

from bot.channels.teams.ids import ButtonKey
from hitl_core.model import MessageRef, Place, Review, person_label
from teams_sandbox.workspace import TENANT, ids
from tests.channels.scenes import DEFAULT

KEY = ButtonKey(b"k" * 32)
_PEOPLE = {"ALICE": ids.ALICE, "BOB": ids.BOB, "CARL": ids.CARL, "MARIA": ids.MARIA}
_PLACES = {
    "#agent-approvals": ids.APPROVALS,
    "#team-ops": ids.OPS,
    "#leads": ids.AUDIT,
    "#it": ids.ESCALATIONS,
    "C0ASK/1799999990.000100": f"{ids.GROUP_CHAT}/1799999990000",
    "S0FINANCE": f"group:{ids.FINANCE_GROUP}",
    "S0OPS": f"group:{ids.OPS_GROUP}",
    **{f"U0{name}": guid for name, guid in _PEOPLE.items()},
}
_NAMES = {
    DEFAULT: "Agent approvals > General",
    Place.of("teams", ids.APPROVALS): "Agent approvals > General",
    Place.of("teams", ids.OPS): "Operations > General",
    Place.of("teams", ids.AUDIT): "Agent approvals > Audit",
    Place.of("teams", ids.ESCALATIONS): "Operations > Escalations",
    Place.of("teams", ids.GROUP_CHAT): "Release 7",
    Place.of("teams", f"group:{ids.FINANCE_GROUP}"): "Finance leads",
    Place.of("teams", f"group:{ids.OPS_GROUP}"): "Operations",
    Place.of("teams", ids.ALICE): person_label("Alice Ng", ids.ALICE),
    Place.of("teams", ids.BOB): person_label("Bob Reyes", ids.BOB),
    Place.of("teams", ids.CARL): person_label("Carl Weiss", ids.CARL),
    Place.of("teams", ids.MARIA): person_label("Maria Lopez", ids.MARIA),
}
#: Where the first card was posted.
POSTED = {DEFAULT: MessageRef(channel="teams", conversation=ids.APPROVALS, ts="1800000001000")}


def name_of(place: Place) -> str:
    return _NAMES.get(place) or _NAMES[place.conversation]


def link_to(ref: MessageRef) -> str:
    return f"https://teams.microsoft.com/l/message/{ref.conversation}/{ref.ts}"


def in_teams(place: Place) -> Place:
    """The place in Teams in which a scene of Slack's is shown."""
    return Place(_PLACE_TEXT.sub(_replace_place, place))


def of_teams(review: Review) -> Review:
    """The review with the people and places of Teams. Its arguments stay."""
    text = json.dumps(review.model_dump(mode="json"))
    text = _IDS.sub(_replace_id, _PLACE_TEXT.sub(_replace_place, text))
    return Review.model_validate_json(text).model_copy(update={"args": review.args})


_PLACE_TEXT = re.compile(r"slack:(#?[\w-]+(?:/[\d.]+)?)")
#: The id of a person or a group, alone in its string; the name of the channel; the team of a reviewer. A
#: reviewer's `id` is bare.
_IDS = re.compile(r'("id": )?"(?:(U0[A-Z]+|S0[A-Z]+)|(slack)|(T0ACME))"')


def _replace_place(found: re.Match[str]) -> str:
    return f"teams:{_PLACES[found[1]]}"


def _replace_id(found: re.Match[str]) -> str:
    is_id, id, channel, _ = found.groups()
    if is_id and id:
        return f'"id": "{_PLACES[id]}"'
    if id:
        return f'"teams:{_PLACES[id]}"' if id in _PLACES else found[0]
    return '"teams"' if channel else f'"{TENANT}"'
