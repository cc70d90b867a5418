"""Mentions of people, groups and places. An agent's text never becomes a mention. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from hitl_core.model import MessageRef, Place, Reviewer

from ....card import PeopleRefs, as_name
from ..places import NAME, PERSON_ID
from .block_kit import (
    Element,
    escape,
    group,
    make_inert,
    person,
    text_element,
)

#: A user id in an agent's text. Nearly all of Slack's ids have a digit; a name in capitals has none.
USER_ID = re.compile(r"[UW](?=[A-Z]*\d)[A-Z0-9]{2,20}")
#: An id in a policy. There a short one is meant as an id.
_POLICY_ID = re.compile(r"(?:slack:)?([UWS])([A-Z0-9]{1,20})")
MAX_LISTED = 8

#: Place → its name, for example `#team-ops`.
Names = Callable[[Place], str]
#: Message → its URL, None if it is not known.
Link = Callable[[MessageRef], str | None]


def no_link(_: MessageRef) -> str | None:
    return None


def link_text(label: str, ref: MessageRef | None, link: Link) -> str | None:
    url = ref and link(ref)
    return f"<{escape(url)}|{label}>" if url else None


def reviewer_element(reviewer: Reviewer) -> Element:
    return person(reviewer.id) if _is_slack_user(reviewer) else text_element(reviewer.label)


def reviewer_elements(reviewers: Iterable[Reviewer]) -> list[Element]:
    """With commas, and "and" before the last one."""
    elements: list[Element] = []
    known = tuple(reviewers)
    for at, one in enumerate(known):
        if at:
            elements.append(text_element(" and " if at == len(known) - 1 else ", "))
        elements.append(reviewer_element(one))
    return elements


def mention(reviewer: Reviewer | None) -> str:
    if reviewer is None:
        return "the policy"
    return f"<@{reviewer.id}>" if _is_slack_user(reviewer) else make_inert(reviewer.label)


def format_requester(id: str) -> str:
    """The id comes from the agent, so it becomes a mention only if it surely is a user id."""
    return f"<@{id}>" if USER_ID.fullmatch(id) else make_inert(as_name(id))


def mention_by_id(id: str) -> str:
    """The mention of a person or a group by an id from the policy. Other text is shown as it is."""
    match = _POLICY_ID.fullmatch(id)
    if match is None:
        return make_inert(id)
    return f"<!subteam^{match[1]}{match[2]}>" if match[1] == "S" else f"<@{match[1]}{match[2]}>"


def people_text(people: PeopleRefs, names: Names, *, either: str = "and") -> str:
    """Mentions of all people and groups; for the members of a place the place's name."""
    mentions = [mention_by_id(id) for id in (*people.users, *people.groups)]
    dms = [place for place in people.members_of if _POLICY_ID.fullmatch(place)]
    mentions += [mention_by_id(place) for place in dms]
    places = [make_inert(names(place)) for place in people.members_of if place not in dms]
    if places:
        mentions.append(f"members of {join_names(places, either)}")
    return join_names(dict.fromkeys(mentions), either)


def people_elements(people: PeopleRefs, names: Names) -> list[Element]:
    """The same as `people_text`, as rich_text elements."""
    places = [place for place in people.members_of if not _POLICY_ID.fullmatch(place)]
    dms = [place for place in people.members_of if place not in places]
    each = [_element_by_id(id) for id in (*people.users, *people.groups, *dms)[:MAX_LISTED]]
    if places:
        each.append(text_element(f"members of {join_names(map(names, places), 'or')}"))
    return [part for one in each for part in (text_element(" or "), one)][1:]


def _element_by_id(id: str) -> Element:
    match = _POLICY_ID.fullmatch(id)
    if match is None:
        return text_element(id)
    return group(match[1] + match[2]) if match[1] == "S" else person(match[1] + match[2])


def join_names(names: Iterable[str], last: str = "and") -> str:
    known = list(names)
    if len(known) > MAX_LISTED:
        known = [*known[: MAX_LISTED - 1], f"{len(known) - MAX_LISTED + 1} more"]
    return f" {last} ".join(part for part in (", ".join(known[:-1]), *known[-1:]) if part)


def _is_slack_user(reviewer: Reviewer) -> bool:
    """A login name on the command line may look like a Slack id, so the channel is checked as well."""
    return reviewer.channel == NAME and bool(PERSON_ID.fullmatch(reviewer.id))
