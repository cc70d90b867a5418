"""The ids that we put into Slack's modals and messages, and read back; also what was pressed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any, cast

from hitl_core.model import MessageRef, Place

from ...forms import FormKind, FormRef
from ...inbox import ActionRef, Press

Body = dict[str, Any]


@dataclass(frozen=True)
class ModalMeta:
    """What a modal is about; kept in its private_metadata.

    `page` is the page that it shows. `has_draft`: the inputs of its other pages are stored as a draft. `tool`
    is the tool that the edit changes to. `review_place` and `review_page` are the place and the page of the
    Review modal below this one. `card` is the message, where it matters. `confirming_edit` is the digest of
    the edit that the person was asked to confirm, because it removes something.
    """

    target: ActionRef
    page: int = 0
    has_draft: bool = False
    tool: str | None = None
    review_place: Place | None = None
    review_page: int = 0
    card: MessageRef | None = None
    confirming_edit: str | None = None

    def form(self, kind: FormKind) -> FormRef:
        return FormRef(
            kind,
            self.target,
            self.page,
            self.has_draft,
            self.tool,
            self.confirming_edit,
            self.card,
        )

    def with_form(self, ref: FormRef) -> ModalMeta:
        """The same modal with this form in it."""
        return replace(
            self,
            target=ref.target,
            page=ref.page,
            has_draft=ref.has_draft,
            tool=ref.tool,
            confirming_edit=ref.confirming,
            card=ref.card,
        )


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
        review_place=Place(fields["under"]) if "under" in fields else None,
        review_page=int(fields.get("turn", 0)),
        card=ref,
        confirming_edit=fields.get("confirming"),
    )


def press_of(body: Body) -> Press:
    """The button, or the option of a menu, that was pressed. Raises Refused if it is none of ours."""
    action = body["actions"][0]
    return Press.parse(str((action.get("selected_option") or action).get("value") or ""))


def view_of(body: Body) -> Body:
    """The modal or the Home with the button; {} for a message."""
    return cast(Body, body.get("view") or {})


def message_of(body: Body) -> MessageRef | None:
    """The message with the button; None in a modal and in App Home."""
    container = body["container"]
    if container.get("type") != "message" or container.get("is_ephemeral"):
        return None
    return MessageRef(
        channel="slack", conversation=container["channel_id"], ts=container["message_ts"]
    )


def message_metadata(review_id: str, place: Place) -> dict[str, str]:
    """The invisible metadata of our messages. Everybody in the workspace can read it through the API."""
    return {"review_id": review_id, "place": place}


def op_of_click(body: Body) -> str:
    """The operation id of a click. A repeated request has the same trigger_id and is the same operation."""
    return _hash_op(f"{body['trigger_id']}:{body['user']['id']}")


def op_of_submission(view: Body, user_id: str) -> str:
    """The operation id of a submission: the same view, person and inputs are the same operation."""
    values = json.dumps(view["state"]["values"], sort_keys=True)
    return _hash_op(f"{view['id']}:{view['hash']}:{user_id}:{values}")


def _hash_op(text: str) -> str:
    return "slack:" + hashlib.sha256(text.encode()).hexdigest()[:24]
