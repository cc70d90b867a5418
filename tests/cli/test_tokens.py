"""`hitl tokens`: a token is shown once, listed without its secret, and revoked permanently."""

from __future__ import annotations

import json

import pytest
import redis

from hitl_core.model.token import parse_id
from hitl_core.store.redis.keys import TOKENS_KEY
from tests.cli.desk import Desk


def test_a_token_can_be_piped_and_opens_its_agent(desk: Desk) -> None:
    """Only the token is on standard output; what is stored opens with it, and does not hold it."""
    ran = desk.run_piped("tokens", "create", "billing", "--note", "CI")
    text = ran.out.removesuffix("\n")
    id = parse_id(text)
    assert ran.code == 0
    assert id is not None
    assert ran.err.endswith(f"hitl tokens revoke {id}\n")
    assert text not in ran.err
    token = desk.do(lambda reviews: reviews.store.token(id))
    assert token is not None
    assert (token.agent, token.note, token.matches(text)) == ("billing", "CI", True)


def test_the_list_has_no_secret(desk: Desk) -> None:
    assert desk.hitl("tokens", "list")[:2] == (0, "")
    text = desk.hitl("tokens", "create", "billing", "--note", "\x1b[2K").out.strip()
    id = parse_id(text)

    [row] = desk.hitl("tokens", "list").out.splitlines()
    assert row.split("\t")[:2] == [id, "billing"]
    assert row.endswith(r"\x1b[2K")
    table = desk.on_terminal("tokens", "list").out.splitlines()
    assert table[0].split() == ["ID", "AGENT", "AGE", "NOTE"]
    assert table[1].split()[:2] == [id, "billing"]
    [found] = json.loads(desk.hitl("tokens", "list", "--json").out)
    assert set(found) == {"id", "agent", "created_at", "note"}


def test_a_revoked_token_is_gone(desk: Desk) -> None:
    id = str(parse_id(desk.hitl("tokens", "create", "billing").out.strip()))
    assert desk.hitl("tokens", "revoke", id) == (0, f"revoked {id}\n", "")
    assert desk.do(lambda reviews: reviews.store.tokens()) == []
    ran = desk.hitl("tokens", "revoke", id)
    assert (ran.code, ran.out) == (1, "")
    assert id in ran.err


def test_a_damaged_token_hides_no_other(desk: Desk) -> None:
    """It is named, and can be revoked as it is named, also if its id is no text."""
    id = parse_id(desk.hitl("tokens", "create", "billing").out.strip())
    with redis.Redis.from_url(desk.url) as client:
        client.hset(TOKENS_KEY, "bad\udcff".encode("utf-8", "surrogateescape"), b"{")

    listed = desk.hitl("tokens", "list")

    assert listed.code == 3
    assert listed.out.split("\t")[:2] == [id, "billing"]
    assert "hitl tokens revoke bad\ufffd" in listed.err.replace("'", "")
    assert desk.hitl("tokens", "revoke", "bad\ufffd").code == 0
    assert desk.hitl("tokens", "list").code == 0


def test_an_id_that_is_no_text_is_a_sentence(desk: Desk) -> None:
    with pytest.raises(SystemExit) as ended:
        desk.hitl("tokens", "revoke", "\udcff")
    assert ended.value.code == 2


def test_an_agent_has_a_name(desk: Desk) -> None:
    """Any text but none, and nothing that a line of the list could not hold."""
    for name in ("", " ", "a\nb", "a\tb", "\x1b[2K", "\x85"):
        ran = desk.hitl("tokens", "create", name)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), name
    with pytest.raises(SystemExit) as caught:
        desk.hitl("tokens", "create", "\udcff")
    assert caught.value.code == 2
    assert desk.do(lambda reviews: reviews.store.tokens()) == []
