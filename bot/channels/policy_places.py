"""Checks the places, people and groups in a policy: does this bot have their channels, and can they be used?
(`hitl policy check --channels FILE`)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from hitl_core.errors import PolicyError
from hitl_core.model import DEFAULT_PLACE, ORIGIN, Place, Reviewers, person_key
from hitl_core.policy import Policy

from ..text import one_line
from .contract import ChannelError, NotFound
from .registry import Channels, NotConfigured


class PolicyPlace(NamedTuple):
    """A place, and where the policy names it: the rule (None: the default), its line, and the key."""

    place: Place
    rule: str | None
    line: int | None
    key: str

    @property
    def where(self) -> str:
        """`the rule send_email (line 4), notify`."""
        name = f"the rule “{self.rule}”" if self.rule else "the default"
        line = f" (line {self.line})" if self.line else ""
        return f"{name}{line}, “{self.key}”"


class Finding(NamedTuple):
    """Whether a place, person or group can be used; `unknown` if the look-up failed."""

    name: Place
    usable: Literal["yes", "no", "unknown"]
    why: str = ""

    def __str__(self) -> str:
        word = {"yes": "ok", "no": "NOT USABLE", "unknown": "NOT KNOWN"}[self.usable]
        return one_line(f"{word}  {_label(self.name)}{': ' if self.why else ''}{self.why}")


def policy_places(policy: Policy) -> list[PolicyPlace]:
    """The places in a policy, each once; those of the default come first. People and groups are included as
    places, because they get messages.
    """
    first = dict[Place, PolicyPlace]()
    for rule in (policy.default, *policy.rules):
        route, routes = rule.route, list[tuple[str, Iterable[Place]]]()
        routes.append(("notify", [place for place in route.notify if place != ORIGIN]))
        routes += _reviewer_places("reviewers", route.reviewers)
        for number, step in enumerate(route.escalate, start=1):
            routes.append((f"escalate[{number}].to", [step.to]))
            routes += _reviewer_places(f"escalate[{number}].reviewers", step.reviewers)
        routes.append(("fallback", [route.fallback] if route.fallback else []))
        for key, places in routes:
            for place in places:
                first.setdefault(place, PolicyPlace(place, rule.name, rule.line, key))
    return list(first.values())


def check_channels(policies: Iterable[tuple[str, Policy]], channels: Channels) -> None:
    """Raises PolicyError if a policy names places in channels that this bot doesn't have; the text names
    each. `policies` are those of HITL_POLICY, each with its agent, or "" for every agent.
    """
    problems = list[str]()
    for agent, policy in policies:
        file = f"HITL_POLICY, {agent}.yaml" if agent else "HITL_POLICY"
        for one in policy_places(policy):
            try:
                channels.of_place(one.place)
            except NotConfigured as error:
                problems.append(f"{file}: {one.where}: {one.place} can't be used: {error}.")
    if problems:
        raise PolicyError("\n".join(problems))


async def check_policy(policy: Policy, channels: Channels) -> list[Finding]:
    """Checks each place once; those of the policy's default come first. Changes nothing."""
    findings: list[Finding] = []
    first = dict[tuple[str, str], Place]()
    for one in policy_places(policy):
        place = one.place
        try:
            await channels.of_place(place).check_place(place)
            same = await _find_same(place, channels, first)
        except NotConfigured as error:
            findings.append(Finding(place, "no", f"{error} (in {one.where})"))
        except NotFound as error:
            findings.append(Finding(place, "no", str(error)))
        except ChannelError as error:
            findings.append(Finding(place, "unknown", str(error)))
        else:
            findings.append(Finding(place, "yes", same))
    return findings


async def _find_same(place: Place, channels: Channels, first: dict[tuple[str, str], Place]) -> str:
    """What to say if the policy has named this conversation in another way before; "" otherwise. `first`:
    what it has named so far. Raises ChannelError.
    """
    channel = channels.of_place(place)
    if channel.audience(place).kind != "conversation":
        return ""
    key = channel.name, await channel.conversation_id(place)
    if (known := first.setdefault(key, place)) == place:
        return ""
    return f"it is {_label(known)}: a review with both gets two cards there, so name it in one way"


def _label(place: Place) -> str:
    own = place == DEFAULT_PLACE  # a policy can't write `default`
    return "the bot's own channel (HITL_CHANNEL)" if own else place


def _reviewer_places(key: str, reviewers: Reviewers) -> Iterator[tuple[str, Iterable[Place]]]:
    yield f"{key}.users", [Place(person_key(id)) for id in reviewers.users]
    yield f"{key}.groups", [Place(person_key(id)) for id in reviewers.groups]
