"""People, groups and places as Slack names them: by ids of our own, never by what an agent wrote. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from bot.card import People, as_name
from bot.channels.slack.places import NAME, PERSON_ID
from bot.channels.slack.rich import Element, escaped, group, inert, person, words
from hitl_core.model import MessageRef, Place, Reviewer

#: What an agent calls somebody. Nearly all of Slack's ids hold a digit; a name in capitals is not one.
USER_ID = re.compile(r"[UW](?=[A-Z]*\d)[A-Z0-9]{2,20}")
#: As a policy names them, where a short id is no accident.
_NAMED = re.compile(r"(?:slack:)?([UWS])([A-Z0-9]{1,20})")
MAX_LISTED = 8

#: What a place is called, `#team-ops`.
Names = Callable[[Place], str]
#: Where a message can be opened, None where that is not known.
Link = Callable[[MessageRef], str | None]


def no_link(_: MessageRef) -> str | None:
    return None


def linked(words: str, ref: MessageRef | None, link: Link) -> str | None:
    url = ref and link(ref)
    return f"<{escaped(url)}|{words}>" if url else None


def who(reviewer: Reviewer) -> Element:
    return person(reviewer.id) if _is_here(reviewer) else words(reviewer.label)


def whos(several: Iterable[Reviewer]) -> list[Element]:
    """With commas, and "and" before the last one."""
    drawn: list[Element] = []
    known = tuple(several)
    for at, one in enumerate(known):
        if at:
            drawn.append(words(" and " if at == len(known) - 1 else ", "))
        drawn.append(who(one))
    return drawn


def mention(reviewer: Reviewer | None) -> str:
    if reviewer is None:
        return "the policy"
    return f"<@{reviewer.id}>" if _is_here(reviewer) else inert(reviewer.label)


def requester(id: str) -> str:
    """The agent says who it is, so only what is surely a person's id becomes a mention."""
    return f"<@{id}>" if USER_ID.fullmatch(id) else inert(as_name(id))


def named(id: str) -> str:
    """A person or a group, by an id that a policy gave; what is none stands as it is."""
    found = _NAMED.fullmatch(id)
    if found is None:
        return inert(id)
    return f"<!subteam^{found[1]}{found[2]}>" if found[1] == "S" else f"<@{found[1]}{found[2]}>"


def everybody(people: People, names: Names, *, either: str = "and") -> str:
    """Each by name; the members of a place by the place's."""
    told = [named(id) for id in (*people.users, *people.groups)]
    dms = [place for place in people.members_of if _NAMED.fullmatch(place)]
    told += [named(place) for place in dms]
    rooms = [inert(names(place)) for place in people.members_of if place not in dms]
    if rooms:
        told.append(f"members of {listed(rooms, either)}")
    return listed(dict.fromkeys(told), either)


def crowd(people: People, names: Names) -> list[Element]:
    """The same as `everybody`, as elements of rich_text."""
    rooms = [place for place in people.members_of if not _NAMED.fullmatch(place)]
    dms = [place for place in people.members_of if place not in rooms]
    each = [_named(id) for id in (*people.users, *people.groups, *dms)[:MAX_LISTED]]
    if rooms:
        each.append(words(f"members of {listed(map(names, rooms), 'or')}"))
    return [part for one in each for part in (words(" or "), one)][1:]


def _named(id: str) -> Element:
    found = _NAMED.fullmatch(id)
    if found is None:
        return words(id)
    return group(found[1] + found[2]) if found[1] == "S" else person(found[1] + found[2])


def listed(told: Iterable[str], last: str = "and") -> str:
    known = list(told)
    if len(known) > MAX_LISTED:
        known = [*known[: MAX_LISTED - 1], f"{len(known) - MAX_LISTED + 1} more"]
    return f" {last} ".join(part for part in (", ".join(known[:-1]), *known[-1:]) if part)


def _is_here(reviewer: Reviewer) -> bool:
    """A command line's login may look like one of Slack's ids, and an id of Slack's like a name."""
    return reviewer.channel == NAME and bool(PERSON_ID.fullmatch(reviewer.id))
