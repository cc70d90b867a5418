"""What Slack carries for us, there and back: ids, never data."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from bot.inbox import Target
from hitl_core.model import Place

Body = dict[str, Any]


def private_metadata(target: Target | None) -> str:
    if target is None:
        return "{}"
    ids = {"review": target.review_id, "action": target.action, "revision": target.revision}
    return json.dumps(ids)


def target_of_view(view: Body) -> Target:
    ids = json.loads(view["private_metadata"])
    return Target(str(ids["review"]), str(ids["action"]), int(ids["revision"]))


def value(body: Body) -> str:
    """What the clicked button carries."""
    return str(body["actions"][0]["value"])


def target(value: str) -> Target:
    """A button of another version's names no review, which the person is told as usual."""
    review_id, _, rest = value.partition(".")
    action, _, revision = rest.partition(".")
    return Target(review_id, action, int(revision) if revision.isdecimal() else 0)


def mark(review_id: str, place: Place) -> dict[str, str]:
    """What a message of ours carries unseen. Everybody in the workspace can read it."""
    return {"review_id": review_id, "place": place}


def op_of_click(body: Body) -> str:
    """One click has one trigger: the same request sent again is the same operation."""
    return _hashed(f"{body['trigger_id']}:{body['user']['id']}")


def op_of_view(view: Body, user_id: str) -> str:
    """One state of a view, filled in one way, is submitted once by one person."""
    values = json.dumps(view["state"]["values"], sort_keys=True)
    return _hashed(f"{view['id']}:{view['hash']}:{user_id}:{values}")


def _hashed(text: str) -> str:
    return "slack:" + hashlib.sha256(text.encode()).hexdigest()[:24]
