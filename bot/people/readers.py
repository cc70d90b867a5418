"""Which members of a group may get a copy of a card."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import NamedTuple

from hitl_core.model import split_id
from hitl_core.review import OpenItem

from ..channels.contract import ChannelError, LookupFailed
from .lookups import Lookups


class Readers(NamedTuple):
    """The members who may get a copy, and who may not. `unknown`: why some are in neither."""

    yes: set[str]
    no: set[str]
    unknown: LookupFailed | None


async def find_readers(
    lookups: Lookups, members: Collection[str], waiting: Sequence[OpenItem], name: str
) -> Readers:
    """Guests and people of other workspaces may get one only if the policy names them, bots and deactivated
    people never. All are asked at the same time, so that one without an answer delays nobody else. `name`: of
    the group, for people.
    """
    grants = [grant for item in waiting for grant in item.grants]
    users = {split_id(user) for grant in grants for user in grant.reviewers.users}

    async def ask(member: str) -> bool | ChannelError:
        is_named = (lookups.channel.name, member) in users
        try:
            return await (lookups.is_active if is_named else lookups.is_member)(member)
        except ChannelError as error:
            return error

    ids = sorted(members)
    answers = dict(zip(ids, await asyncio.gather(*map(ask, ids)), strict=True))
    errors = [str(one) for one in answers.values() if isinstance(one, ChannelError)]
    why = f"it is not known who in {name} may get a card: " + "".join(errors[:1])
    yes = {id for id, answer in answers.items() if answer is True}
    no = {id for id, answer in answers.items() if answer is False}
    return Readers(yes, no, LookupFailed(why) if errors else None)
