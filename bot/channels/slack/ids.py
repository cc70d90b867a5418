"""The ids that we put into Slack's modals and messages and read back."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from hitl_core.errors import Refused
from hitl_core.model import MessageRef, Place

from ... import refusals
from ...forms import FormKind, FormRef
from ...inbox import ActionRef

Body = dict[str, Any]

#: The callback ids of modals with a form.
FORM_KINDS: tuple[FormKind, ...] = get_args(FormKind)
_SlackId = Annotated[str, StringConstraints(pattern="^[A-Za-z0-9_.:-]{1,255}$")]
_SlackTs = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,16}\.[0-9]{1,16}$")]


class ReviewPage(NamedTuple):
    """A page of the Review modal, from 0, for the card at a place. `digest`: the id of the digest, if the
    pages are its reviews.
    """

    place: Place
    number: int
    digest: str = ""


@dataclass(frozen=True)
class ModalMeta:
    """What a modal is about. It is kept in the modal's private_metadata, except the kind of the form, which
    is the modal's callback id. `about`: the form, or the action that it shows. `review`: the page of the
    Review modal, which is this modal or the one below it.
    """

    about: FormRef | ActionRef
    review: ReviewPage | None = None

    @property
    def target(self) -> ActionRef:
        return self.about.target if isinstance(self.about, FormRef) else self.about


class _Metadata(BaseModel):
    """The JSON of private_metadata. JSON of another form, for example of another version, is refused."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    review: str
    action: str
    revision: Annotated[int, Field(ge=0)]
    seal: str = ""
    page: Annotated[int, Field(ge=0)] = 0
    draft: str = ""
    tool: str | None = None
    confirming: str | None = None
    card: tuple[_SlackId, _SlackTs] | None = None
    at: tuple[Place, Annotated[int, Field(ge=0)]] | None = None
    digest: str = ""


def private_metadata(meta: ModalMeta | None) -> str:
    if meta is None:
        return "{}"
    target, form = meta.target, meta.about if isinstance(meta.about, FormRef) else None
    fields = _Metadata(
        review=target.review_id,
        action=target.action,
        revision=target.revision,
        seal=target.seal or "",
        page=form.page if form else 0,
        draft=form.draft if form else "",
        tool=form and form.tool,
        confirming=form and form.confirming,
        card=(form.card.conversation, form.card.ts) if form and form.card else None,
        at=meta.review and meta.review[:2],
        digest=meta.review.digest if meta.review else "",
    )
    return fields.model_dump_json(exclude_defaults=True)


def parse_meta(view: Body) -> ModalMeta:
    """Raises Refused if it can't be read, for example because another version of the bot opened the modal."""
    try:
        return _parse_meta(view.get("callback_id"), view["private_metadata"])
    except ValueError as error:
        raise Refused("unknown_action", refusals.UNREADABLE_MODAL) from error


def _parse_meta(callback_id: object, text: str) -> ModalMeta:
    """Raises ValueError."""
    fields = _Metadata.model_validate_json(text)
    target = ActionRef(fields.review, fields.action, fields.revision, fields.seal)
    review = ReviewPage(*fields.at, fields.digest) if fields.at else None
    if callback_id not in FORM_KINDS:
        if callback_id == "review" and review is None:
            raise ValueError("the Review modal belongs to a place")
        return ModalMeta(target, review)
    if callback_id == "escalate" and fields.card is None:
        raise ValueError("an escalation belongs to a card")
    card = None
    if fields.card:
        card = MessageRef(channel="slack", conversation=fields.card[0], ts=fields.card[1])
    form = FormRef(
        callback_id, target, fields.page, fields.draft, fields.tool, fields.confirming, card
    )
    return ModalMeta(form, review)


def view_of(body: Body) -> Body:
    """The modal or the Home with the button; {} for a message."""
    return cast(Body, body.get("view") or {})


def message_of(body: Body) -> MessageRef | None:
    """The message with the button; None in a modal and in App Home."""
    container = body["container"]
    if container.get("type") != "message" or is_private(body):
        return None
    return MessageRef(
        channel="slack", conversation=container["channel_id"], ts=container["message_ts"]
    )


def is_private(body: Body) -> bool:
    """Whether the button is in a message that only this person sees."""
    return bool(body["container"].get("is_ephemeral"))


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
