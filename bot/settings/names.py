"""The names of settings: finds missing and misspelled ones, and writes the sentences about them."""

from __future__ import annotations

from collections.abc import Mapping, Set
from difflib import get_close_matches

from hitl_core.sentences import join_names

_PREFIXES = ("HITL_", "SLACK_", "TEAMS_")
#: The settings that say that a bot has Slack, and Teams.
_SLACK = ("slack_bot_token", "slack_signing_secret", "slack_app_token")
_TEAMS = ("teams_client_id", "teams_tenant_id", "teams_client_secret", "teams_managed_identity")
APP_TOKEN = "SLACK_APP_TOKEN"
#: A variable whose name is this similar to a setting's (difflib's ratio) is probably a typo.
SIMILARITY = 0.88


def required_settings(given: Set[str], *, only_look_ups: bool = False) -> set[str]:
    """The settings that must be set, given those that are. Without Slack and Teams: what Slack needs."""
    required = {"hitl_channel"}
    if given & set(_SLACK) or not given & set(_TEAMS):
        required.add("slack_bot_token")
        if "slack_app_token" not in given and not only_look_ups:
            required.add("slack_signing_secret")
    if given & set(_TEAMS):
        required |= {"teams_client_id", "teams_tenant_id"}
        if "teams_managed_identity" not in given:
            required.add("teams_client_secret")
    return required


def find_typos(environment: Mapping[str, str], known: set[str]) -> dict[str, str]:
    """Variables that look like a misspelled setting, each with the setting's name."""
    unset = [name for name in known if not environment.get(name, "").strip()]
    names = sorted(name for name in environment.keys() - known if name.startswith(_PREFIXES))
    near = ((name, get_close_matches(name, unset, 1, SIMILARITY)) for name in names)
    return {name: matches[0] for name, matches in near if matches}


def missing_text(missing: list[str], typos: Mapping[str, str], given: Set[str]) -> str:
    verb = "is" if len(missing) == 1 else "are"
    sentence = f"{join_names(missing)} {verb} not set."
    likely = {typo: name for typo, name in typos.items() if name in (*missing, APP_TOKEN)}
    if likely:
        return f"{sentence} {typo_question(likely)}"
    if "SLACK_SIGNING_SECRET" in missing:
        sentence += f" For Socket Mode set {APP_TOKEN} instead of SLACK_SIGNING_SECRET."
    if "TEAMS_CLIENT_SECRET" in missing:
        sentence += " With a managed identity set TEAMS_MANAGED_IDENTITY instead of the secret."
    slack, teams = given & set(_SLACK), given & set(_TEAMS)
    if not slack and not teams:
        names = join_names(["TEAMS_CLIENT_ID", "TEAMS_TENANT_ID", "TEAMS_CLIENT_SECRET"])
        return (
            f"{sentence} For Teams in place of Slack set {names}. See docs/quickstart.md, The bot."
        )
    for system, ours in (("Slack", slack), ("Teams", teams)):
        if slack and teams and any(name.startswith(system.upper()) for name in missing):
            sentence += (
                f" For a bot without {system} remove {join_names(map(str.upper, sorted(ours)))}."
            )
    page = "teams.md, Set it up" if teams and not slack else "quickstart.md, The bot"
    return f"{sentence} See docs/{page}."


def typo_question(typos: Mapping[str, str]) -> str:
    return " ".join(f"{name} is set: did you mean {meant}?" for name, meant in typos.items())
