"""`hitl tokens create|list|revoke`: access tokens for the HTTP API."""

from __future__ import annotations

import argparse
import shlex
import unicodedata
from typing import TYPE_CHECKING

from hitl_core.cli import phrases
from hitl_core.cli.command import add_command
from hitl_core.cli.session import add_redis, text_argument, with_reviews
from hitl_core.cli.table import Cell, Column, say_table
from hitl_core.cli.terminal import complain, note, say, say_json
from hitl_core.model import Token

if TYPE_CHECKING:
    from hitl_core.cli.command import Commands
    from hitl_core.review import Reviews

_CREATE = """\
examples:
  $ hitl tokens create billing --note "CI"
  $ hitl tokens create billing > /run/secrets/hitl-token

Only the token is printed on standard output. It is shown only once, because
only a hash of it is stored.

Exits with 0; 2 if the command or a setting is wrong, 3 if Redis can't be
reached.
"""
_LIST = """\
examples:
  $ hitl tokens list
  ID            AGENT    AGE  NOTE
  3f9c0d1e2b4a  billing  12d  CI
  $ hitl tokens list --json

In a pipe each line is id, agent, time of creation and note, separated by tabs.
With --json: one array of {"id", "agent", "created_at", "note"}. The text of a
token can't be shown again.

Exits with 0, also if there are none; 2 if the command or a setting is wrong, 3
if Redis can't be reached or a token can't be read.
"""
_REVOKE = """\
examples:
  $ hitl tokens revoke 3f9c0d1e2b4a

From then on every request with this token is refused.

Exits with 0; 1 if there is no such token, 2 if the command or a setting is
wrong, 3 if Redis can't be reached.
"""
_COLUMNS = (
    Column("ID"),
    Column("AGENT", can_cut=True),
    Column("AGE"),
    Column("NOTE", can_cut=True),
)


def add_to(commands: Commands) -> None:
    create = add_command(
        commands, "create", _create, help="create a token for an agent", epilog=_CREATE
    )
    create.add_argument(
        "agent", metavar="AGENT", type=text_argument, help="the agent whose reviews it can access"
    )
    create.add_argument(
        "--note", metavar="TEXT", type=text_argument, default="", help="what it is for"
    )
    add_redis(create)
    list_parser = add_command(commands, "list", _list, help="list all tokens", epilog=_LIST)
    list_parser.add_argument("--json", action="store_true", help="one JSON array, for programs")
    add_redis(list_parser)
    revoke = add_command(commands, "revoke", _revoke, help="revoke a token", epilog=_REVOKE)
    revoke.add_argument(
        "id", metavar="ID", type=text_argument, help="the token's id, from `hitl tokens list`"
    )
    add_redis(revoke)


def _create(args: argparse.Namespace) -> int:
    if not args.agent.strip():
        return complain("The agent's name is empty.")
    if any(unicodedata.category(char) == "Cc" for char in args.agent):
        return complain(
            "The agent's name must not contain control characters, such as a line break or a tab."
        )

    async def create(reviews: Reviews) -> tuple[Token, str]:
        token, token_text = Token.issue(args.agent, args.note, await reviews.store.now())
        await reviews.store.save_token(token)
        return token, token_text

    token, token_text = with_reviews(args, create)
    say(token_text)
    note(
        f"This token gives access to the reviews of {token.agent}. It is shown only now."
        f" To revoke it: hitl tokens revoke {token.id}"
    )
    return 0


def _list(args: argparse.Namespace) -> int:
    async def tokens(reviews: Reviews) -> tuple[list[Token], list[str], float]:
        store = reviews.store
        return await store.tokens(), await store.damaged_tokens(), await store.now()

    all_tokens, damaged, now = with_reviews(args, tokens)
    if args.json:
        say_json([token.model_dump(exclude={"secret_hash"}) for token in all_tokens])
    else:
        say_table(_COLUMNS, [_row(token, now) for token in all_tokens])
    for id in damaged:
        complain(
            f"The token {id} can't be read: it is damaged, or a newer version wrote it. To revoke it:"
            f" hitl tokens revoke {shlex.quote(id)}"
        )
    if not all_tokens and not damaged:
        note("There is no token. Create one: hitl tokens create AGENT")
    return 3 if damaged else 0


def _row(token: Token, now: float) -> list[Cell]:
    age_cell = Cell(phrases.age(now - token.created_at), phrases.timestamp(token.created_at))
    return [Cell(token.id), Cell(token.agent), age_cell, Cell(token.note)]


def _revoke(args: argparse.Namespace) -> int:
    if not with_reviews(args, lambda reviews: reviews.store.drop_token(args.id)):
        note(f"There is no token {args.id}. See: hitl tokens list")
        return 1
    say(f"revoked {args.id}")
    return 0
