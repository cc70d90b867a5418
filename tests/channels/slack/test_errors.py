"""Slack's error answers, and what the bot does: wait, give up, or look again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from slack_sdk.web.async_client import AsyncWebClient

from bot.card import build_card
from bot.channels import look_up_api
from bot.channels.contract import (
    LookupFailed,
    MessageGone,
    NotFound,
    RateLimited,
    Undeliverable,
    Unreachable,
)
from bot.channels.slack.channel import SlackChannel
from bot.channels.slack.connection import open_session
from bot.channels.slack.transport.slack_errors import error_translation
from bot.health import Health
from hitl_core.model import MessageRef, Place
from tests.support.builders import call, policy, review_of

REF = MessageRef(channel="slack", conversation="C1", ts="1.2")
PLACE = Place("slack:C0APPROVE")
CARD = build_card(review_of([call("it", x=1)], by=policy(it=True))[0], PLACE)


@pytest.fixture
async def answering() -> AsyncIterator[Callable[[web.Response], SlackChannel]]:
    """Makes a channel whose Slack gives this answer to everything."""
    answers: list[web.Response] = []

    async def answer(request: web.Request) -> web.Response:
        one = answers[0]  # which can be sent once
        return web.Response(status=one.status, body=one.body, headers=one.headers)

    app = web.Application()
    app.router.add_post("/api/{method}", answer)
    app.router.add_get("/api/{method}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/api/"

    def make(response: web.Response) -> SlackChannel:
        answers[:] = [response]
        return SlackChannel(AsyncWebClient("xoxb", base_url=url, retry_handlers=[]), "#c", Health())

    yield make
    await runner.cleanup()


def error_response(error: str, status: int = 200, **headers: str) -> web.Response:
    return web.json_response({"ok": False, "error": error}, status=status, headers=headers)


@pytest.mark.parametrize(
    ("response", "meaning"),
    [
        (error_response("message_not_found"), None),
        (error_response("ratelimited", 429, **{"Retry-After": "7"}), RateLimited),
        (web.Response(status=429, text="slow down", headers={"Retry-After": "7"}), RateLimited),
        (error_response("internal_error"), Unreachable),
        (error_response("invalid_auth"), Unreachable),
        (error_response("channel_not_found"), Undeliverable),
        (error_response("channel_not_found", 500), Unreachable),
        (web.Response(status=500, text="oops"), Unreachable),
        (web.Response(status=503, text="<html>", content_type="text/html"), Unreachable),
        (web.Response(status=502, text="{", content_type="application/json"), Unreachable),
        (web.Response(status=200, text="hello"), Unreachable),
        (web.Response(status=200, text="{", content_type="application/json"), Unreachable),
        (web.json_response({"ok": "true"}), Unreachable),  # L5
        (web.json_response({"ok": 1}), Unreachable),
        (web.json_response([1]), Unreachable),
        (web.json_response(text='{"ok": true, "a": ' + "[" * 100_000), Unreachable),  # L3
        (web.json_response(text='{"ok": true, "a": ' + "9" * 6000 + "}"), Unreachable),
        (web.Response(body=b'{"ok": "\xff"}', content_type="application/json"), Unreachable),
    ],
    ids=lambda one: one.__name__ if isinstance(one, type) else None,
)
async def test_every_answer_of_slack_means_something(
    answering: Callable[[web.Response], SlackChannel], response: web.Response, meaning: Any
) -> None:
    """Given any answer, JSON or not, then the bot knows whether to try again; a message that is gone is
    deleted enough."""
    channel = answering(response)
    if meaning is None:
        await channel.delete(PLACE, REF)
        return
    with pytest.raises(meaning) as caught:
        await channel.delete(PLACE, REF)
    assert not isinstance(caught.value, MessageGone)
    if isinstance(caught.value, RateLimited):
        assert caught.value.seconds == 7


@pytest.mark.parametrize(
    "response",
    [
        error_response("ratelimited", 429),
        error_response("ratelimited", 429, **{"Retry-After": "soon"}),
        error_response("ratelimited", 429, **{"Retry-After": "nan"}),
        error_response("rate_limited"),
        error_response("message_limit_exceeded"),
    ],
)
async def test_a_limit_without_a_time_is_a_limit(
    answering: Callable[[web.Response], SlackChannel], response: web.Response
) -> None:
    """docs.slack.dev/reference/methods/chat.postMessage has three errors for it."""
    with pytest.raises(RateLimited) as caught:
        await answering(response).delete(PLACE, REF)
    assert caught.value.seconds is None


@pytest.mark.parametrize(
    "error", ["team_added_to_org", "external_channel_migrating", "update_failed"]
)
async def test_a_refusal_that_is_true_for_a_while_is_no_refusal_of_the_card(
    answering: Callable[[web.Response], SlackChannel], error: str
) -> None:
    """Given a workspace that is moved to an organization; then the card waits. It was posted as text without
    buttons, because the second request succeeded."""
    with pytest.raises(Unreachable):
        await answering(error_response(error)).update(PLACE, REF, CARD)


@pytest.mark.parametrize(
    "error",
    [
        "restricted_action_non_threadable_channel",
        "restricted_action_thread_locked",
        "restricted_action_thread_only_channel",
    ],
)
async def test_a_place_that_takes_no_such_message_is_no_place_for_a_card(
    answering: Callable[[web.Response], SlackChannel], error: str
) -> None:
    """docs.slack.dev/reference/methods/chat.postMessage; so the card goes to its fallback."""
    with pytest.raises(NotFound):
        await answering(error_response(error)).post(PLACE, CARD)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_followed_nowhere(status: int) -> None:
    """Given a gateway that sends each request to its login page; then that page gets neither the token nor
    the card, and nothing of what it answers counts."""
    visited = list[str]()

    async def log_in(request: web.Request) -> web.Response:
        visited.append(await request.text())
        return web.json_response({"ok": True, "channel": "C1", "ts": "1.2"})

    async with _served(log_in) as page:

        async def send_away(_: web.Request) -> web.Response:
            return web.Response(status=status, headers={"Location": page})

        async with _served(send_away) as url, open_session() as session:
            client = AsyncWebClient("xoxb", base_url=url, retry_handlers=[], session=session)
            with pytest.raises(Unreachable):
                await SlackChannel(client, "#c", Health()).post(PLACE, CARD)
    assert visited == []


@asynccontextmanager
async def _served(answer: Callable[[web.Request], Awaitable[web.Response]]) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/api/"
    await runner.cleanup()


async def test_an_upload_that_is_refused_is_an_error_of_slack() -> None:
    """Given a Slack that refuses the bytes of a file; then the person reads that it could not be posted. The
    SDK has an error of its own for that."""

    async def answer(request: web.Request) -> web.Response:
        if request.path.endswith("files.getUploadURLExternal"):
            url = str(request.url.with_path("/upload").with_query(None))
            return web.json_response({"ok": True, "file_id": "F1", "upload_url": url})
        if request.path.endswith("conversations.replies"):
            return web.json_response({"ok": True, "messages": [{"ts": REF.ts}]})
        return web.Response(status=500, text="oops")

    async with _served(answer) as url:
        client = AsyncWebClient("xoxb", base_url=url, retry_handlers=[])
        with pytest.raises(Unreachable):
            await SlackChannel(client, "#c", Health()).upload(PLACE, REF, "arguments.json", "{}")


@pytest.mark.parametrize("error", ["is_archived", "is_inactive"])
async def test_an_archived_channel_has_two_names_for_it(
    answering: Callable[[web.Response], SlackChannel], error: str
) -> None:
    """docs.slack.dev/reference/methods/chat.update calls it `is_inactive`."""
    with pytest.raises(NotFound, match="the channel is archived"):
        await answering(error_response(error)).delete(PLACE, REF)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (TimeoutError(), "Slack's chat.update: it took too long"),
        (ConnectionResetError(), "Slack's chat.update: ConnectionResetError"),
        (OSError("no route"), "Slack's chat.update: no route"),
    ],
)
async def test_an_error_without_words_is_told_in_words(error: Exception, text: str) -> None:
    with pytest.raises(Unreachable) as caught:
        async with error_translation("chat.update"):
            raise error
    assert str(caught.value) == text


async def test_a_search_in_a_list_that_never_ends_is_given_up_and_told(
    answering: Callable[[web.Response], SlackChannel], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a Slack that always names one more page; when a card is looked for, then it is not known whether
    it is there, which is neither a list without it nor a wait without an end."""
    monkeypatch.setattr(look_up_api, "MAX_PAGES", 5)
    more = {"ok": True, "messages": [], "response_metadata": {"next_cursor": "more"}}
    channel = answering(web.json_response(more))
    with pytest.raises(LookupFailed, match="history failed for C0APPROVE: more than 5 pages"):
        await channel.find_messages(Place("slack:C0APPROVE"), "R1", 0.0)


async def test_a_search_in_an_answer_without_messages_finds_out_nothing(
    answering: Callable[[web.Response], SlackChannel],
) -> None:
    """Given a yes without a list; then it is refused for a list without the card, which would be posted
    twice."""
    channel = answering(web.json_response({"ok": True}))
    with pytest.raises(LookupFailed, match="can't be read"):
        await channel.find_messages(Place("slack:C0APPROVE"), "R1", 0.0)


async def test_a_search_where_nothing_can_be_read_says_whether_the_place_is_gone(
    answering: Callable[[web.Response], SlackChannel],
) -> None:
    channel = answering(error_response("not_in_channel"))
    with pytest.raises(NotFound):
        await channel.find_messages(Place("slack:C0APPROVE"), "R1", 0.0)
    channel = answering(error_response("some_new_error"))
    with pytest.raises(LookupFailed):
        await channel.find_messages(Place("slack:C0APPROVE"), "R1", 0.0)
