"""A bot with forms, in a channel made for these tests, with three fields on a page."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from bot.channels.contract import Channel
from bot.channels.registry import Channels
from bot.forms import (
    Entries,
    FormKind,
    FormLimits,
    FormPage,
    FormRef,
    FormResult,
    FormService,
)
from bot.inbox import ActionRef, ArgumentsPage, Inbox
from bot.people import Directory
from hitl_core import Gate, Policy, ToolCall
from hitl_core.model import CLI, Review, Reviewer
from hitl_core.review import Reviews
from hitl_core.store import MemoryStore

Json = dict[str, Any]


LIMITS = FormLimits(page_fields=3, page_bytes=20_000)


#: The operator needs no look-up, so the channel is asked for nothing.
OPERATOR = Reviewer(channel=CLI, team="host", id="root", name="root")


CHANNEL = SimpleNamespace(
    name="memory",
    team="T0",
    person=None,
    group_members=None,
    conversation_members=None,
    conversation_size=None,
)


TEXT: Json = {"type": "string"}


SEVEN = {f"n{at}": at for at in range(7)}


RULES: Json = {
    "seven": {
        "must_read": False,
        "args_schema": {
            "properties": {name: {"type": "integer"} for name in SEVEN},
            "if": {"properties": {"n6": {"const": 66}}},
            "then": {"properties": {"n0": {"maximum": 5}}},
        },
    },
    "mail": {
        "must_read": False,
        "args_schema": {"properties": {"to": TEXT, "cc": TEXT}, "required": ["to"]},
        "allowed_decisions": ["approve", "edit", "reject", "respond"],
        "reject_reason": "required",
        "escalate": [{"after": "1h", "to": "slack:#team-ops"}],
    },
    "long": {"must_read": True},
    "letter": {
        "must_read": True,
        "args_schema": {
            "properties": {
                "way": {
                    "oneOf": [
                        {
                            "title": "Mail",
                            "properties": {
                                "kind": {"const": "mail"},
                                **dict.fromkeys(("to", "note", "body", "end"), TEXT),
                            },
                        },
                        {"title": "Post", "properties": {"kind": {"const": "post"}, "zip": TEXT}},
                    ]
                }
            },
            "required": ["way"],
        },
    },
    "rate": {
        "answer_schema": {"enum": [f"o{at}" for at in range(9)]},
        "allowed_decisions": ["respond"],
    },
    "perhaps": {
        "must_read": False,
        "allowed_decisions": ["respond"],
        "answer_schema": {"type": ["string", "null"]},
    },
    "tag": {
        "answer_schema": {
            "type": "object",
            "properties": {"tags": {"type": "array", "items": {"enum": ["x", "y"]}}},
            "required": ["tags"],
        },
        "allowed_decisions": ["respond"],
    },
    "contact": {
        "must_read": False,
        "args_schema": {
            "properties": {
                "way": {
                    "oneOf": [
                        {"title": "Mail", "properties": {"kind": {"const": "mail"}, "to": TEXT}},
                        {"title": "Post", "properties": {"kind": {"const": "post"}, "zip": TEXT}},
                    ]
                }
            },
            "required": ["way"],
        },
    },
}


class World:
    """An agent, a store, and a bot that may be started again."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.use(RULES)
        self.restart()

    def use(self, rules: Json) -> None:
        """Submit by these rules from now on."""
        policy = Policy.from_mapping({"default": "review", "interrupt_on": rules})
        self._gate = Gate(self.store, policy=policy, agent="agent")

    def restart(self) -> None:
        directory = Directory(Channels(cast(Channel, CHANNEL)))
        self.inbox = Inbox(Reviews(self.store), directory)
        self.form_service = FormService(self.inbox, LIMITS, str)

    async def ask(self, name: str, args: Json, **more: Any) -> None:
        self._id = await self._gate.submit([ToolCall("c1", name, args)], thread_id=name, **more)

    async def review(self) -> Review:
        return (await Reviews(self.store).load(self._id)).review

    async def target(self) -> ActionRef:
        """As if no card showed a call completely."""
        review = await self.review()
        seal = review.seal("1", is_whole=False)
        return ActionRef(review.id, "1", review.actions[0].revision, seal)

    async def read(self, target: ActionRef, page: int) -> ArgumentsPage[str]:
        pages = ["first", "last"]
        return await self.inbox.reader.arguments(target, page, OPERATOR, lambda _: pages)

    async def open(self, kind: FormKind) -> FormPage:
        return await self.form_service.open(FormRef(kind, await self.target()), OPERATOR)

    async def send(self, page: FormPage, op: str = "op-1", **typed: str | None) -> FormResult:
        return await self.form_service.submit(
            page.ref, "form-1", entries(page, **typed), OPERATOR, op
        )

    async def turn(self, page: FormPage, **typed: str | None) -> FormPage:
        result = await self.form_service.submit(
            page.ref, "form-1", entries(page, **typed), OPERATOR, "op-1"
        )
        assert isinstance(result, FormPage)
        return result


def entries(page: FormPage, **typed: str | None) -> Entries:
    """What the channel gives back: what the inputs showed, and what was typed, by label."""
    return Entries(
        {
            each.id: typed.get(each.field.label, each.field.initial)
            for each in page.fields
            if each.field.locked is None
        }
    )


def shown(page: FormPage) -> dict[str, str | None]:
    return {each.field.label: each.field.initial for each in page.fields}
