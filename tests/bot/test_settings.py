"""Settings that are missing, misspelt or wrong: one sentence says what to do."""

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


def test_a_missing_secret_mentions_socket_mode() -> None:
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
def test_a_misspelt_setting_that_is_needed(typo: str, meant: str) -> None:
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
def test_a_misspelt_setting_that_has_a_default(typo: str, meant: str) -> None:
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


GUID = "8f3c5e0a-1c1f-4d1e-9a53-0d6f0f2f7b11"
TEAMS = {
    "TEAMS_CLIENT_ID": GUID,
    "TEAMS_TENANT_ID": GUID.upper(),
    "TEAMS_CLIENT_SECRET": "s3cret",
    "HITL_CHANNEL": "teams:19:abc@thread.tacv2",
}
NO_SLACK = {"SLACK_BOT_TOKEN": "", "SLACK_SIGNING_SECRET": ""}


@pytest.mark.parametrize(
    ("given", "slack", "teams"),
    [
        (GOOD, "#agent-approvals", ""),
        ({**GOOD, "HITL_CHANNEL": "slack:C0123"}, "C0123", ""),
        (TEAMS, "", "19:abc@thread.tacv2"),
        ({**GOOD, **TEAMS}, "", "19:abc@thread.tacv2"),
        ({**TEAMS, **GOOD}, "#agent-approvals", ""),
    ],
)
def test_a_bot_has_slack_or_teams_or_both(given: dict[str, str], slack: str, teams: str) -> None:
    """Given settings of one chat system or of both; then the bot has these, and its own place in one."""
    settings = Settings.from_environment(given)
    assert settings.has_slack is ("SLACK_BOT_TOKEN" in given)
    assert settings.has_teams is ("TEAMS_CLIENT_ID" in given)
    assert (settings.default_in("slack"), settings.default_in("teams")) == (slack, teams)


def test_ids_of_teams_are_in_lower_case() -> None:
    """Azure shows them in either case, and tokens have them in lower case."""
    assert Settings.from_environment(TEAMS).teams_tenant_id == GUID


def test_a_managed_identity_needs_no_secret() -> None:
    given = {**TEAMS, "TEAMS_CLIENT_SECRET": "", "TEAMS_MANAGED_IDENTITY": "System"}
    assert Settings.from_environment(given).teams_managed_identity == "system"


@pytest.mark.parametrize(
    ("changed", "texts"),
    [
        (NO_SLACK, ["SLACK_BOT_TOKEN and SLACK_SIGNING_SECRET are not set", "For Teams in place"]),
        ({**NO_SLACK, **TEAMS, "TEAMS_TENANT_ID": ""}, ["TEAMS_TENANT_ID is not set."]),
        (
            {**NO_SLACK, **TEAMS, "TEAMS_CLIENT_SECRET": ""},
            ["TEAMS_MANAGED_IDENTITY instead", "See docs/teams.md"],
        ),
        (
            {**TEAMS, "TEAMS_CLIENT_ID": ""},
            ["TEAMS_CLIENT_ID is not set", "For a bot without Teams"],
        ),
        (
            {**TEAMS, "SLACK_SIGNING_SECRET": ""},
            ["SLACK_SIGNING_SECRET is not set", "For a bot without Slack remove SLACK_BOT_TOKEN."],
        ),
        ({**TEAMS, "TEAMS_CLIENT_ID": "approver"}, ["TEAMS_CLIENT_ID must be an ID like"]),
        ({**TEAMS, "TEAMS_TENANT_ID": "example.com"}, ["TEAMS_TENANT_ID must be an ID like"]),
        ({**TEAMS, "TEAMS_CLIENT_SECRET": GUID}, ["a secret's ID: take its value"]),
        (
            {**TEAMS, "TEAMS_MANAGED_IDENTITY": "system"},
            ["TEAMS_MANAGED_IDENTITY are set: remove one"],
        ),
        (
            {**TEAMS, "TEAMS_CLIENT_SECRET": "", "TEAMS_MANAGED_IDENTITY": "mine"},
            ["TEAMS_MANAGED_IDENTITY must be `system`, or the client ID"],
        ),
        ({**TEAMS, "TEAMS_CLOUD_URL": "localhost"}, ["TEAMS_CLOUD_URL must be a URL"]),
        ({**TEAMS, "TEAMS_CLOUD_URL": "https://login.example.com"}, ["takes Microsoft's place"]),
        (
            {"HITL_CHANNEL": "teams:Ops"},
            ["a place in Teams, which this bot does not have", "#agent"],
        ),
        (
            {**NO_SLACK, **TEAMS, "HITL_CHANNEL": "#ops"},
            ["a place in Slack, which this bot does not have", "teams:19:"],
        ),
        ({**TEAMS, "HITL_CHANNEL": f"teams:{GUID}"}, ["HITL_CHANNEL must be a channel"]),
        ({**TEAMS, "HITL_CHANNEL": f"teams:group:{GUID}"}, ["HITL_CHANNEL must be a channel"]),
        ({**TEAMS, "HITL_CHANNEL": "teams: "}, ["HITL_CHANNEL must be a channel"]),
        (
            {**NO_SLACK, **TEAMS, "TEAMS_CLIENT_ID": "", "TEAMS_CLINT_ID": GUID},
            ["TEAMS_CLINT_ID is set: did you mean TEAMS_CLIENT_ID?"],
        ),
    ],
)
def test_a_wrong_setting_of_teams_gets_a_sentence(
    changed: dict[str, str], texts: list[str]
) -> None:
    text = refusal(**changed)
    assert [one for one in texts if one not in text] == []
    assert "\n" not in text


def test_look_ups_need_no_signing_secret() -> None:
    """Given the settings of `hitl policy check` on a laptop, which gets no clicks."""
    given = {**GOOD, "SLACK_SIGNING_SECRET": ""}
    assert Settings.from_environment(given, only_look_ups=True).slack_bot_token


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"SLACK_SIGNING_SECRET": ""}, "SLACK_SIGNING_SECRET is not set"),
        ({"SLACK_API_URL": "http://slack.example.com/api/"}, "only a sandbox on this machine"),
        ({"SLACK_API_URL": "http://127.0.0.1.example.com/api/"}, "only a sandbox on this machine"),
        ({"SLACK_API_URL": "http://10.0.0.1/api/"}, "only a sandbox on this machine"),
        ({**TEAMS, "TEAMS_CLIENT_SECRET": ""}, "TEAMS_CLIENT_SECRET is not set"),
        ({**TEAMS, "TEAMS_CLOUD_URL": "http://10.0.0.1:3978"}, "takes Microsoft's place"),
        ({**TEAMS, "TEAMS_CLOUD_URL": "https://localhost.example.com"}, "takes Microsoft's place"),
    ],
)
def test_no_setting_switches_a_check_off(changed: dict[str, str], text: str) -> None:
    """T35: given no secret, or another server in Slack's or Microsoft's place that is not on this machine;
    then the bot doesn't start, and says why."""
    assert text in refusal(**changed)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.8.8", "[::1]"])
def test_a_sandbox_on_this_machine_is_fine(host: str) -> None:
    """T35."""
    given = {**GOOD, **TEAMS, "SLACK_API_URL": f"http://{host}:1/api/"}
    cloud = f"http://{host}:3978"
    assert Settings.from_environment({**given, "TEAMS_CLOUD_URL": cloud}).teams_cloud_url == cloud


@pytest.mark.parametrize(
    ("url", "plaintext"),
    [
        ("redis://redis.example.com:6379/0", True),
        ("redis://:secret@10.0.0.1", True),
        ("rediss://redis.example.com:6379/0", False),
        ("redis://localhost:6379/0", False),
        ("redis://127.0.0.1", False),
        ("unix:///run/redis.sock", False),
    ],
)
def test_an_unencrypted_way_to_redis_is_noticed(url: str, plaintext: bool) -> None:
    """T51: The bot warns at its start: it does not refuse, because a network between containers is
    one's own."""
    assert (
        Settings.from_environment({**GOOD, "HITL_REDIS_URL": url}).has_plaintext_redis is plaintext
    )


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "a month", "10000"])
def test_a_retention_is_a_number_of_days(text: str) -> None:
    with pytest.raises(SettingsError, match=r"HITL_RETENTION_DAYS is .* from 1 to 9999"):
        Settings.from_environment({**GOOD, "HITL_RETENTION_DAYS": text})


def test_the_retention_is_thirty_days_at_first() -> None:
    assert Settings.from_environment(GOOD).hitl_retention_days == 30
    assert Settings.from_environment({**GOOD, "HITL_RETENTION_DAYS": "7"}).hitl_retention_days == 7
