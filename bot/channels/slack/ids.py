"""What Slack carries for us, there and back: ids, never data."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, cast

from hitl_core.model import MessageRef, Place

from ...inbox.commands import ActionRef

Body = dict[str, Any]


@dataclass(frozen=True)
class ModalMeta:
    """What a modal is about. `page` is the one that it shows; `kept`: what was entered on its other pages is
    kept as a draft; `tool` what an edit was turned into; `under` and `turn` the place and the page of the
    Review modal that it lies on; `card` the message, where that matters. `confirming`: which edit the person
    was asked to confirm, as it takes something away.
    """

    target: ActionRef
    page: int = 0
    has_draft: bool = False
    tool: str | None = None
    review_place: Place | None = None
    review_page: int = 0
    card: MessageRef | None = None
    confirming_edit: str | None = None


def private_metadata(meta: ModalMeta | None) -> str:
    if meta is None:
        return "{}"
    target, card = meta.target, meta.card
    fields = {
        "review": target.review_id,
        "action": target.action,
        "revision": target.revision,
        "seal": target.seal,
        "page": meta.page or None,
        "kept": meta.has_draft or None,
        "tool": meta.tool,
        "under": meta.review_place,
        "turn": meta.review_page or None,
        "confirming": meta.confirming_edit,
        "card": [card.conversation, card.ts] if card else None,
    }
    return json.dumps({key: value for key, value in fields.items() if value is not None})


def parse_meta(view: Body) -> ModalMeta:
    fields = json.loads(view["private_metadata"])
    seal = str(fields.get("seal", ""))
    target = ActionRef(str(fields["review"]), str(fields["action"]), int(fields["revision"]), seal)
    card = fields.get("card")
    ref = MessageRef(channel="slack", conversation=card[0], ts=card[1]) if card else None
    return ModalMeta(
        target,
        page=int(fields.get("page", 0)),
        has_draft=bool(fields.get("kept")),
        tool=fields.get("tool"),
        review_place=fields.get("under"),
        review_page=int(fields.get("turn", 0)),
        card=ref,
        confirming_edit=fields.get("confirming"),
    )


def button_value(body: Body) -> str:
    """What the clicked button carries; "" for none, which names no review."""
    return str(body["actions"][0].get("value") or "")


def option_value(body: Body) -> str:
    """What the chosen option of a menu carries; "" for none."""
    option = cast(Body, body["actions"][0].get("selected_option") or {})
    return str(option.get("value", ""))


def review_id_of(body: Body) -> str:
    """Which review the clicked button is about: what its value names first, or behind the word for what it
    does under the dots.
    """
    action = body["actions"][0]
    option = action.get("selected_option")
    value = str(option["value"]).partition(".")[2] if option else str(action["value"])
    return value.partition(".")[0]


def parse_action_ref(value: str) -> ActionRef:
    """Review, action, revision and seal, with dots between them. What is missing names no review, or doesn't
    match, which the person is told as usual.
    """
    review_id, action, revision, seal, *_ = [*value.split("."), "", "", "", ""]
    return ActionRef(review_id, action, _parse_number(revision), seal)


def format_action_ref(target: ActionRef) -> str:
    """The value of a button that decides; what it adds stands behind a dot."""
    return f"{target.review_id}.{target.action}.{target.revision}.{target.seal}"


def parse_last_number(value: str) -> int:
    """What stands behind the last dot: a page, or which answer."""
    return _parse_number(value.rpartition(".")[2])


def parse_revisions(value: str) -> tuple[str, dict[str, int], str]:
    """The review, the revision of each action of a button that is about several, and the seal of all of them:
    `R.1:1,2:3.SEAL`.
    """
    review_id, several, seal, *_ = [*value.split("."), "", "", ""]
    pairs = (pair.partition(":") for pair in several.split(",") if pair)
    return review_id, {key: _parse_number(revision) for key, _, revision in pairs}, seal


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


def message_metadata(review_id: str, place: Place) -> dict[str, str]:
    """What a message of ours carries unseen. Everybody in the workspace can read it."""
    return {"review_id": review_id, "place": place}


def op_of_click(body: Body) -> str:
    """One click has one trigger: the same request sent again is the same operation."""
    return _hash_op(f"{body['trigger_id']}:{body['user']['id']}")


def op_of_submission(view: Body, user_id: str) -> str:
    """One state of a view, filled in one way, is submitted once by one person."""
    values = json.dumps(view["state"]["values"], sort_keys=True)
    return _hash_op(f"{view['id']}:{view['hash']}:{user_id}:{values}")


def _parse_number(text: str) -> int:
    """0 for what is no number, or none of ours."""
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _hash_op(text: str) -> str:
    return "slack:" + hashlib.sha256(text.encode()).hexdigest()[:24]
