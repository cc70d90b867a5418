"""Forms and pages in Teams are shown in place of the message, so an update of the message waits for them."""

from __future__ import annotations

import pytest

from bot.inbox import open_views
from hitl_core import ToolCall
from teams_sandbox.workspace import Message
from teams_sandbox.workspace.acme import ALICE, BOB, CARL, DANA, OPS_GROUP
from tests.support.bots import Scene, email
from tests.support.teams.scene import ask, card, outcome
from tests.support.teams.users import TeamsUsers, text_of
from tests.support.waiting import wait_until

OTHER = ToolCall("c2", "tidy_up", {"room": "attic"})


async def open_form(users: TeamsUsers) -> Message:
    """Alice has the form of an answer to the first call open."""
    message = await card(users, "send_email", "tidy_up")
    await users.press(ALICE, "Answer instead of running it", message)
    return message


async def wait_postponed(scene: Scene, kind: str = "card") -> None:
    """Until the bot has put off an update of the card."""
    redis = await scene.redis()

    async def is_postponed() -> bool:
        keys = [key async for key in redis.scan_iter("hitl:{0}:queue:*")]
        jobs = [job for key in keys for job in await redis.zrange(key, 0, -1)]
        return any(job.startswith(f"later-{kind} ".encode()) for job in jobs)

    await wait_until("the update waits", is_postponed)


async def is_recorded(scene: Scene, person: str, count: int = 1) -> bool:
    """Whether this many open views of this person are stored."""
    redis = await scene.redis()
    stored = [await redis.get(key) or b"" async for key in redis.scan_iter("hitl:temporary:*")]
    return sum(person.encode() in one for one in stored) == count


async def test_a_form_stays_open_while_somebody_else_decides(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given a form of Alice for one call; when Bob approves the other one, then she still sees her form; when
    she sends it, then it counts, and the message says both."""
    waiting = await ask(scene, email("c1"), OTHER)
    message = await open_form(users)
    await users.press(BOB, "Approve", message)
    await wait_postponed(scene)
    assert ALICE in message.cards
    await users.submit(ALICE, message, "It was sent by post.")
    done = await outcome(waiting)
    assert [call.name for call in done.execute] == ["tidy_up"]
    assert "by post" in done.answers[0].content
    await card(users, "approved by “Bob", "answered by “Alice")


async def test_the_message_is_updated_when_the_form_is_closed(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given an update that waits for a form, when Alice closes the form, then everybody sees the update."""
    await ask(scene, email("c1"), OTHER)
    message = await open_form(users)
    await users.press(BOB, "Approve", message)
    await wait_postponed(scene)
    assert "approved by" not in text_of(message.card)
    await users.press(ALICE, "Cancel", message)
    await card(users, "approved by “Bob")


async def test_an_update_waits_a_minute_at_most(
    scene: Scene, users: TeamsUsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a form that nobody sends or closes, then the message is updated nevertheless."""
    monkeypatch.setattr(open_views, "OPEN_FOR", 1.0)
    await ask(scene, email("c1"), OTHER)
    message = await open_form(users)
    await users.press(BOB, "Approve", message)
    await card(users, "approved by “Bob")


async def test_an_old_button_has_the_message_updated_at_once(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given an update that waits for a form; when Bob presses a button that is out of date, then the message
    is updated: he must see what is true."""
    await ask(scene, email("c1"), OTHER)
    message = await open_form(users)
    await users.press(BOB, "Approve", message)
    await wait_postponed(scene)
    del message.cards[BOB]  # as on another device
    assert "already approved" in await users.press(BOB, "Approve", message)
    await card(users, "approved by “Bob")


async def test_a_check_of_the_card_waits_too(scene: Scene, users: TeamsUsers) -> None:
    """Given a form of Alice, when the bot looks whether the message still shows the newest state, as it does
    after a request without an answer; then she still sees her form."""
    await ask(scene, email("c1"), OTHER)
    message = await open_form(users)
    await wait_until("her form is recorded", lambda: is_recorded(scene, ALICE))
    gate = await scene.gate()
    [waiting] = await gate.reviews.store.live_reviews(5)
    snapshot = await gate.reviews.load(waiting.id)
    [place] = snapshot.posts
    await gate.reviews.store.redraw(waiting.id, place)
    await wait_postponed(scene, "check")
    assert ALICE in message.cards


async def test_when_nothing_waits_the_message_is_updated_at_once(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given a form of Alice, when Bob decides the last call, then her form is of no use any more."""
    waiting = await ask(scene, email("c1"))
    message = await card(users, "send_email")
    await users.press(ALICE, "Edit", message)
    await users.press(BOB, "Approve", message)
    assert len((await outcome(waiting)).execute) == 1
    await wait_until("the form is gone", lambda: ALICE not in message.cards)


async def test_a_form_stays_open_while_somebody_else_opens_and_closes_one(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given forms of Alice and Bob on one message, when Bob closes his, then Alice still sees hers, and the
    update waits for her."""
    await ask(scene, email("c1"), OTHER, ToolCall("c3", "tidy_up", {"room": "cellar"}))
    message = await open_form(users)
    await users.press(BOB, "Approve", message)
    await wait_postponed(scene)
    await users.press(BOB, "Answer instead of running it", message)
    await wait_until("Bob's form is recorded", lambda: is_recorded(scene, BOB))
    await users.press(BOB, "Cancel", message)
    await wait_until("it is closed", lambda: is_recorded(scene, BOB, count=0))
    assert await is_recorded(scene, ALICE)
    assert "approved by" not in text_of(message.card)
    await users.press(ALICE, "Cancel", message)
    await card(users, "approved by “Bob")


async def test_a_closed_form_of_a_group_s_member_is_updated_at_once(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given a group whose members have a message each, and an update that waits for Carl's form, when he
    closes it, then his message is updated."""
    await ask(scene, email("c1"), OTHER, notify=[f"teams:group:{OPS_GROUP}"])
    carls, danas = [
        await card(users, "send_email", conversation=users.chat(one)) for one in (CARL, DANA)
    ]
    await users.press(CARL, "Edit", carls)
    await users.press(DANA, "Approve", danas)
    await wait_postponed(scene)
    assert "approved by" not in text_of(carls.card)
    await users.press(CARL, "Cancel", carls)
    await card(users, "approved by “Dana", conversation=users.chat(CARL))


async def test_an_update_waits_five_minutes_at_most_while_people_press(
    scene: Scene, users: TeamsUsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a form that a person opens again and again, each time before the update would come; then others
    see the update nevertheless."""
    monkeypatch.setattr(open_views, "OPEN_FOR", 20.0)
    monkeypatch.setattr(open_views, "MAX_WAIT", 1.0)
    await ask(scene, email("c1"), OTHER)
    message = await open_form(users)
    await wait_until("her form is recorded", lambda: is_recorded(scene, ALICE))
    await users.press(BOB, "Approve", message)
    await wait_postponed(scene)
    pressed = 0

    async def is_updated() -> bool:
        nonlocal pressed
        if "approved by “Bob" in text_of(message.card):
            return True
        del message.cards[ALICE]  # as on another device
        await users.press(ALICE, "Answer instead of running it", message)
        pressed += 1
        return False

    await wait_until("others see it", is_updated)
    assert pressed > 1


@pytest.mark.parametrize("stored", [b"1 a", b'{"people": 1}', b"[]", b'{"until": {"a": "b"}}'])
async def test_open_views_of_another_version_do_not_stop_an_update(
    scene: Scene, users: TeamsUsers, stored: bytes
) -> None:
    """Given something else where the open views are stored, then the message is updated."""
    await ask(scene, email("c1"), OTHER)
    message = await open_form(users)
    await wait_until("her form is recorded", lambda: is_recorded(scene, ALICE))
    redis = await scene.redis()
    [key] = [key async for key in redis.scan_iter("hitl:temporary:*")]
    await redis.set(key, stored, keepttl=True)
    await users.press(BOB, "Approve", message)
    await card(users, "approved by “Bob")
