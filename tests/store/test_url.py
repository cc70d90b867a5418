"""The URL of a Redis: every part of it is used, or it is refused with one sentence."""

from __future__ import annotations

import pytest

from hitl_core.errors import SettingsError
from hitl_core.store.redis.connection.url import parse_redis_url, read_redis_url


@pytest.mark.parametrize(
    "rest",
    ["/x", "/1/2", "/O", "/-1", "/1 ", "/٣", "/0#a", "/0/", "?db=x"],
)
@pytest.mark.parametrize(
    "start", ["redis://:hunter2@h:1", "rediss://:hunter2@h:1", "redis+sentinel://:hunter2@h:1/m"]
)
def test_no_other_database_is_taken_for_a_wrong_one(start: str, rest: str) -> None:
    """redis-py would take database 0 or 12, where nothing waits."""
    with pytest.raises(SettingsError, match="is not a redis:// URL") as caught:
        parse_redis_url(start + rest)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "redis://:hunter2@h:1/0?x=y",
        "redis://:hunter2@h:1/0?ssl_cert_reqs=required",
        "rediss://:hunter2@h:1/0?ssl_cert_reqs=maybe",
        "redis+cluster://:hunter2@h:1?x=y",
        "redis+sentinel://:hunter2@h:1/m?x=y",
        "unix:///run/redis.sock?password=hunter2&x=y",
    ],
)
def test_an_unknown_option_is_a_sentence(url: str) -> None:
    with pytest.raises(SettingsError, match="has an option that redis-py does not take") as caught:
        parse_redis_url(url)
    assert "hunter2" not in str(caught.value)
    assert url.partition(":")[0] in str(caught.value)


@pytest.mark.parametrize(
    ("url", "database"),
    [
        ("redis://h", None),
        ("redis://h/", None),
        ("redis://:a%23%2Fb@h:1/3", 3),
        ("redis://h?db=4", 4),
        ("rediss://h/5?ssl_ca_certs=/ca.pem&max_connections=3", 5),
        ("redis+sentinel://h/m/6?sentinel_password=x", 6),
        ("unix:///run/redis.sock?db=7", 7),
    ],
)
def test_the_database_of_a_url(url: str, database: int | None) -> None:
    assert parse_redis_url(url).options.get("db") == database


def test_the_url_of_the_environment_or_the_default_one() -> None:
    assert read_redis_url({"HITL_REDIS_URL": " redis://h:7/2 "}).text == "redis://h:7/2"
    assert read_redis_url({"HITL_REDIS_URL": " "}) == read_redis_url({})
    assert read_redis_url({}).text == "redis://localhost:6379/0"
    with pytest.raises(SettingsError, match=r"\. It is from HITL_REDIS_URL\.$"):
        read_redis_url({"HITL_REDIS_URL": "h:7"})
