"""`hitl policy check --channels FILE`: whether the places, people and groups of a policy can be used."""

from __future__ import annotations

from typing import Literal, NamedTuple

from hitl_core.model import Place
from hitl_core.policy import Policy

from .channels.contract import ChannelError, NotFound
from .channels.registry import Channels, NotConfigured
from .policy_places import policy_places
from .text import one_line


class Finding(NamedTuple):
    """Whether a place, person or group can be used; `unknown` if the look-up failed."""

    name: Place
    usable: Literal["yes", "no", "unknown"]
    why: str = ""

    def __str__(self) -> str:
        word = {"yes": "ok", "no": "NOT USABLE", "unknown": "NOT KNOWN"}[self.usable]
        return one_line(f"{word}  {self.name}{': ' if self.why else ''}{self.why}")


async def check_policy(policy: Policy, channels: Channels) -> list[Finding]:
    """Checks each place once, those of the policy's default first. Changes nothing."""
    findings: list[Finding] = []
    for one in policy_places(policy):
        place = one.place
        try:
            await channels.of_place(place).check_place(place)
        except NotConfigured as error:
            findings.append(Finding(place, "no", f"{error} (in {one.where})"))
        except NotFound as error:
            findings.append(Finding(place, "no", str(error)))
        except ChannelError as error:
            findings.append(Finding(place, "unknown", str(error)))
        else:
            findings.append(Finding(place, "yes"))
    return findings
