"""Settings that are missing, misspelt or wrong: one sentence that says what to do."""

from __future__ import annotations

import pytest

from bot.settings import Settings
from hitl_core.errors import SettingsError

GOOD = {
    "SLACK_BOT_TOKEN": "xoxb-1",
    "SLACK_SIGNING_SECRET": "s",
    "HITL_CHANNEL": "#agent-approvals",
}


def refusal(**changed: str) -> str:
    given = {name: value for name, value in {**GOOD, **changed}.items() if value}
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment(given)
    return str(caught.value)


def test_newcomer_9_a_missing_secret_mentions_socket_mode() -> None:
    """newcomer 9: given no signing secret; then the sentence has the other way to connect."""
    text = refusal(SLACK_SIGNING_SECRET="")
    assert text.startswith("SLACK_SIGNING_SECRET is not set.")
    assert "SLACK_APP_TOKEN" in text


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("HITL_CHANEL", "HITL_CHANNEL"),
        ("HITL_CHANNELS", "HITL_CHANNEL"),
        ("SLACK_BOT_TOKN", "SLACK_BOT_TOKEN"),
        ("SLACK_SIGNING_SECERT", "SLACK_SIGNING_SECRET"),
    ],
)
def test_newcomer_9_a_misspelt_setting_that_is_needed(typo: str, meant: str) -> None:
    """newcomer 9: given a needed setting under a misspelt name; then both names are told."""
    texts = refusal(**{meant: "", typo: GOOD[meant]})
    assert f"{meant} is not set" in texts
    assert f"{typo} is set: did you mean {meant}?" in texts


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("HITL_PORTS", "HITL_PORT"),
        ("HITL_LOGLEVEL", "HITL_LOG_LEVEL"),
        ("HITL_REDISURL", "HITL_REDIS_URL"),
        ("HITL_POLCY", "HITL_POLICY"),
        ("HITL_HOTS", "HITL_HOST"),
    ],
)
def test_newcomer_9_a_misspelt_setting_that_has_a_default(typo: str, meant: str) -> None:
    """newcomer 9: given one that would be ignored in silence; then the bot doesn't start without it."""
    assert f"{typo} is set: did you mean {meant}?" in refusal(**{typo: "x"})


@pytest.mark.parametrize(
    "other",
    ["HITL_TOKEN", "HITL_URL", "HITL_FAILPOINTS", "HITL_CLI_DECIDE", "HITL_DEMO_PORT", "HITL_DEMO_POLICY",
     "HITL_TEST_REDIS_SERVER", "SLACK_API_TOKEN", "SLACK_WEBHOOK_URL", "SLACK_CHANNEL"],
)  # fmt: skip
def test_variables_of_other_programs_are_no_typo(other: str) -> None:
    """Given variables of our other programs, and of foreign ones; then the bot reads only its own."""
    assert Settings.from_environment({**GOOD, other: "x"}).hitl_channel == "#agent-approvals"


def test_a_similar_name_is_no_typo_of_a_setting_that_is_set() -> None:
    """Given a setting, and a variable with a similar name; then the similar one is ignored."""
    Settings.from_environment({**GOOD, "HITL_CHANNELS": "x", "SLACK_BOT_TOKENS": "x"})
