"""`hitl policy check --channels`: can this bot use the channels, people and groups of a policy?"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from hitl_core.policy import Policy

from ..settings import Settings
from .serve import require_packages

if TYPE_CHECKING:
    from ..channels.policy_places import Finding


def check_policy(policy: Policy) -> int:
    """Prints which channels, people and groups of a policy the bot can use. Returns 0 if it can use all of
    them, else 1. Raises SettingsError if a setting or a package is missing.
    """
    settings = Settings.from_environment(os.environ, only_look_ups=True)
    require_packages(settings)
    findings = asyncio.run(_check_policy(policy, settings))
    for finding in findings:
        print(finding)
    return 0 if all(finding.usable == "yes" for finding in findings) else 1


async def _check_policy(policy: Policy, settings: Settings) -> list[Finding]:
    from ..channels.policy_places import check_policy
    from ..open_channels import open_channels_to_check

    async with open_channels_to_check(settings) as channels:
        return await check_policy(policy, channels)
