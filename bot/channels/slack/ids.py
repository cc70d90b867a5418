"""What Slack carries for us, there and back: ids, never data."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, cast

from bot.click import Target
from hitl_core.model import MessageRef, Place

Body = dict[str, Any]


@dataclass(frozen=True)
class Meta:
    """What a modal is about. `page` is the one that it shows; `kept`: what was entered on its other pages is
    kept as a draft; `tool` what an edit was turned into; `under` and `turn` the place and the page of the
    Review modal that it lies on; `card` the message, where that matters.
    """

    target: Target
    page: int = 0
    kept: bool = False
    tool: str | None = None
    under: Place | None = None
    turn: int = 0
    card: MessageRef | None = None


def private_metadata(meta: Meta | None) -> str:
    if meta is None:
        return "{}"
    target, card = meta.target, meta.card
    told = {
        "review": target.review_id,
        "action": target.action,
        "revision": target.revision,
        "page": meta.page or None,
        "kept": meta.kept or None,
        "tool": meta.tool,
        "under": meta.under,
        "turn": meta.turn or None,
        "card": [card.conversation, card.ts] if card else None,
    }
    return json.dumps({key: value for key, value in told.items() if value is not None})


def meta_of(view: Body) -> Meta:
    told = json.loads(view["private_metadata"])
    target = Target(str(told["review"]), str(told["action"]), int(told["revision"]))
    card = told.get("card")
    ref = MessageRef(channel="slack", conversation=card[0], ts=card[1]) if card else None
    return Meta(
        target,
        page=int(told.get("page", 0)),
        kept=bool(told.get("kept")),
        tool=told.get("tool"),
        under=told.get("under"),
        turn=int(told.get("turn", 0)),
        card=ref,
    )


def value(body: Body) -> str:
    """What the clicked button carries; "" for none, which names no review."""
    return str(body["actions"][0].get("value") or "")


def chosen(body: Body) -> str:
    """What the chosen option of a menu carries; "" for none."""
    option = cast(Body, body["actions"][0].get("selected_option") or {})
    return str(option.get("value", ""))


def review_of(body: Body) -> str:
    """Which review the clicked button is about: what its value names first, or behind the word for what it
    does under the dots.
    """
    action = body["actions"][0]
    option = action.get("selected_option")
    value = str(option["value"]).partition(".")[2] if option else str(action["value"])
    return value.partition(".")[0]


def target(value: str) -> Target:
    """A button of another version's names no review, which the person is told as usual."""
    review_id, _, rest = value.partition(".")
    action, _, rest = rest.partition(".")
    revision, _, _ = rest.partition(".")
    return Target(review_id, action, _number(revision))


def last_number(value: str) -> int:
    """What stands behind the last dot: a page, or which answer."""
    return _number(value.rpartition(".")[2])


def revisions(value: str) -> tuple[str, dict[str, int]]:
    """The review and the revision of each action of a button that is about several: `R.1:1,2:3`."""
    review_id, _, rest = value.partition(".")
    pairs = (pair.partition(":") for pair in rest.split(",") if pair)
    return review_id, {key: _number(revision) for key, _, revision in pairs}


def view_of(body: Body) -> Body:
    """The modal or the Home that a button stands in; {} for a message."""
    return cast(Body, body.get("view") or {})


def message_of(body: Body) -> MessageRef | None:
    """The message that a button stands on; None in a modal and in App Home."""
    container = body["container"]
    if container.get("type") != "message" or container.get("is_ephemeral"):
        return None
    return MessageRef(
        channel="slack", conversation=container["channel_id"], ts=container["message_ts"]
    )


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


def _number(text: str) -> int:
    """0 for what is no number, or none of ours."""
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _hashed(text: str) -> str:
    return "slack:" + hashlib.sha256(text.encode()).hexdigest()[:24]
