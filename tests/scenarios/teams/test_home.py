"""The personal chat with the bot in Teams: what waits for a person, and what happens when the app is
installed.
"""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from bot.channels.teams.handlers import home as home_handler
from bot.channels.teams.ids import mark_of
from hitl_core import ToolCall
from hitl_core.store import RedisStore
from teams_sandbox.workspace.acme import (
    ALICE,
    APPROVALS,
    AUDIT,
    BOB,
    CARL,
    EVERYONE_TEAM,
    GROUP_CHAT,
    NOAPP,
    OPS,
)
from teams_sandbox.workspace.objects import Message
from tests.scenarios.faults.test_unreadable_reviews import make_undrawable
from tests.support.bots import CANARY, Scene, email, sql
from tests.support.teams.scene import POLICY, ask, card, outcome
from tests.support.teams.users import TeamsUsers, actions, text_of
from tests.support.waiting import wait_until


async def test_approvals_lists_what_waits(scene: Scene, users: TeamsUsers) -> None:
    """Given a review; when Alice writes `approvals`, then her chat has it with its buttons; when she approves
    there, then it runs, and the list is empty again, also where Teams shows it the next time."""
    waiting = await ask(scene)
    await card(users, "send_email")
    chat = users.chat(ALICE)
    await users.write(ALICE, "Approvals")
    home = await users.message("1 review waits for you", "send_email", conversation=chat)
    seen = await users.press(ALICE, "Approve", home)
    assert "Nothing waits for you" in seen
    assert len((await outcome(waiting)).execute) == 1
    assert (await users.message("Nothing waits for you", conversation=chat)).id == home.id


async def test_a_message_that_teams_repeats_gets_one_answer(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given `approvals`; when Teams sends the same message again, then there is no second list, of which one
    would go out of date. The same words once more are another message."""
    chat, asks = users.chat(ALICE), {"type": "message", "text": "approvals"}
    message = users.activity(ALICE, chat, **asks)
    for activity in (message, message, users.activity(ALICE, chat, **asks)):
        assert await users.send(activity) == 200
    shown = [text_of(one.card) for one in users.conversation(chat).messages.values()]
    assert len([text for text in shown if "Nothing waits for you" in text]) == 2


async def test_a_home_is_updated_by_itself(scene: Scene, users: TeamsUsers) -> None:
    """Given a list that Alice opened when it was empty; when an agent asks, then the same message has it."""
    chat = users.chat(ALICE)
    await users.write(ALICE, "approvals")
    home = await users.message("Nothing waits for you", conversation=chat)
    await ask(scene)
    assert (await users.message("send_email", conversation=chat)).id == home.id


async def test_a_home_has_pages(scene: Scene, users: TeamsUsers) -> None:
    """Given more reviews than one page has; then its buttons lead to the others."""
    for _ in range(7):
        await ask(scene)
    await wait_until(
        "all are posted",
        lambda: len(
            [m for m in users.conversation(APPROVALS).messages.values() if m.card and not m.deleted]
        ) == 7,
    )  # fmt: skip
    chat = users.chat(ALICE)
    await users.write(ALICE, "approvals")
    home = await users.message("7 reviews wait for you", conversation=chat)
    forward = next(one for one in actions(home.card) if "▶" in one)
    assert "Page 2 of 2" in await users.press(ALICE, forward, home)
    back = next(one for one in actions(home.card_for(ALICE)) if "◀" in one)
    assert "Page 1 of 2" in await users.press(ALICE, back, home)


async def test_a_form_in_a_home(scene: Scene, users: TeamsUsers) -> None:
    """Given a list; when Alice rejects there with a reason, then the agent reads it, and she has the list
    again."""
    waiting = await ask(scene, sql())
    await card(users, "run_sql")
    chat = users.chat(ALICE)
    await users.write(ALICE, "approvals")
    home = await users.message("run_sql", conversation=chat)
    await users.press(ALICE, "Reject", home)
    assert "1 review waits for you" in await users.press(ALICE, "Cancel", home)
    await users.press(ALICE, "Reject", home)
    assert "Nothing waits for you" in await users.submit(ALICE, home, "No")
    assert not (await outcome(waiting)).execute


async def test_approvals_shows_one_review(scene: Scene, users: TeamsUsers) -> None:
    """Given the id of a review; when Alice asks for it, then she gets its card, which says when it escalates,
    without Escalate; when Carl does, who may not see it, then he gets a sentence, and nothing of it."""
    waiting = await ask(scene, escalate=[{"after": "1h", "to": f"teams:{OPS}"}])
    message = await card(users, "send_email")
    id = text_of(message.card).rsplit("\n", 1)[-1].split()[0]
    await users.write(ALICE, f"approvals show {id}")
    shown = await users.message(CANARY, conversation=users.chat(ALICE))
    assert not any(label.startswith("Escalate") for label in actions(shown.card))
    assert "scalates to" in text_of(shown.card)
    for wrong in (id, "0-zzzz", "x" * 500):
        await users.write(CARL, f"approvals show {wrong}")
    assert all(
        CANARY not in text_of(one.card)
        for one in users.conversation(users.chat(CARL)).messages.values()
    )
    await users.press(ALICE, "Approve", shown)
    assert len((await outcome(waiting)).execute) == 1


async def test_to_cancel_in_a_home_leads_to_the_same_page(scene: Scene, users: TeamsUsers) -> None:
    for _ in range(6):
        await ask(scene, sql())
    await wait_until("all are posted", lambda: len(users.conversation(APPROVALS).messages) == 6)
    await users.write(ALICE, "approvals")
    home = await users.message("6 reviews wait for you", conversation=users.chat(ALICE))
    await users.press(ALICE, next(one for one in actions(home.card) if "▶" in one), home)
    await users.press(ALICE, "Reject", home)
    assert "Page 2 of 2" in await users.press(ALICE, "Cancel", home)


async def test_in_a_channel_the_answer_is_private(scene: Scene, users: TeamsUsers) -> None:
    """Given a mention of the bot in a channel; then the answer is in the person's own chat."""
    await ask(scene)
    await card(users, "send_email")
    before = len(users.conversation(APPROVALS).messages)
    await users.write(BOB, "<at>Approvals</at> approvals\n", APPROVALS)
    await users.message("1 review waits for you", conversation=users.chat(BOB))
    assert len(users.conversation(APPROVALS).messages) == before


async def test_who_has_no_chat_with_the_bot_is_told_where_they_wrote(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given a person who has not added the app for themselves; when they write to it in a channel, then the
    answer there says so, below what they wrote, and has nothing of the list."""
    await users.install(ALICE, EVERYONE_TEAM)
    reviewers = {"users": [f"teams:{NOAPP}"]}
    await ask(scene, notify=[f"teams:{EVERYONE_TEAM}"], reviewers=reviewers)
    asked = await card(users, "send_email", conversation=EVERYONE_TEAM)
    await users.write(NOAPP, "approvals", EVERYONE_TEAM, root=asked.id)
    told = await users.message("Add the app for yourself", conversation=EVERYONE_TEAM)
    assert told.root == asked.id
    assert "waits for you" not in text_of(told.card)


async def test_what_people_write_to_each_other_gets_no_answer(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given an app that may read messages, as the search for its own posts needs: Teams sends it all of them.
    When people write without a mention of the bot, or mention somebody else, then nobody gets an answer,
    neither there nor in their own chat."""
    say, workspace = users.sandbox.messages.say, users.sandbox.workspace
    await users.install(ALICE, EVERYONE_TEAM)
    places = (APPROVALS, EVERYONE_TEAM, GROUP_CHAT)
    before = {place: len(users.conversation(place).messages) for place in places}
    in_chat = len(users.conversation(users.chat(BOB)).messages)
    for person, place in ((BOB, APPROVALS), (NOAPP, EVERYONE_TEAM), (ALICE, GROUP_CHAT)):
        for text in ("Lunch?", "approvals", f"<at>{workspace.app.name}</at> approvals"):
            await say(users.user(person), users.conversation(place), text)
    other = {"id": "28:other", "name": workspace.app.name}
    entities = [
        {"type": "mention", "text": "<at>x</at>", "mentioned": other},
        {"type": "mention"},
        1,
    ]
    to_other = users.activity(BOB, APPROVALS, type="message", text="help", entities=entities)
    assert await users.send(to_other) == 200
    for place in places:
        assert len(users.conversation(place).messages) == before[place] + 3
    assert len(users.conversation(users.chat(BOB)).messages) == in_chat


async def test_other_words_get_help(scene: Scene, users: TeamsUsers) -> None:
    """Given words that are no command; then the answer says what there is, and quotes nothing."""
    chat = users.chat(ALICE)
    for text in ("help", "", "hello canary", "approvals show", "approve everything", "<at>x</at>"):
        before = len(users.conversation(chat).messages)
        await users.write(ALICE, text)
        newest = [*users.conversation(chat).messages.values()][before]
        assert "approvals show ID" in text_of(newest.card)
        assert "canary" not in text_of(newest.card)


async def test_an_install_is_noted_and_welcomed(scene: Scene, users: TeamsUsers) -> None:
    """Given a person who adds the app; then the bot welcomes them in their chat, and a team is not
    disturbed; the conversations are in the store until the app is removed."""
    store = await RedisStore.open(scene.redis_url)
    scene.stack.push_async_callback(store.close)
    users.user(NOAPP).has_app = True
    await users.install(NOAPP)
    await users.message("approvals show ID", conversation=users.chat(NOAPP))
    assert not users.conversation(OPS).messages
    names = await store.channel_values("teams")
    assert f"conversation:{OPS}" in names
    assert f"conversation:{users.chat(NOAPP)}" in names

    removed = users.activity(CARL, OPS, type="installationUpdate", action="remove")
    assert await users.send(removed) == 200
    left = users.activity(NOAPP, users.chat(NOAPP), type="conversationUpdate")
    left["membersRemoved"] = [{"id": users.sandbox.app.mri}]
    assert await users.send(left) == 200
    names = await store.channel_values("teams")
    assert f"conversation:{OPS}" not in names
    assert f"conversation:{users.chat(NOAPP)}" not in names
    assert f"conversation:{APPROVALS}" in names

    upgrade = users.activity(ALICE, APPROVALS, type="installationUpdate", action="remove-upgrade")
    assert await users.send(upgrade) == 200
    somebody = users.activity(ALICE, APPROVALS, type="conversationUpdate")
    somebody["membersRemoved"] = [{"id": users.user(BOB).mri, "aadObjectId": BOB}]
    assert await users.send(somebody) == 200
    assert f"conversation:{APPROVALS}" in await store.channel_values("teams")


async def test_who_joins_a_team_may_decide_at_once(scene: Scene, users: TeamsUsers) -> None:
    """Given Carl, whose press was refused; when he joins the team, then his next press counts."""
    waiting = await ask(scene, email())
    message = await card(users, "send_email")
    assert (await users.press(CARL, "Approve", message)).startswith("Only ")
    team = users.conversation(APPROVALS).team
    assert team is not None
    team.members.append(CARL)
    joined = users.activity(ALICE, APPROVALS, type="conversationUpdate")
    joined["membersAdded"] = [{"id": users.user(CARL).mri, "aadObjectId": CARL}]
    await users.send(joined)
    await users.press(CARL, "Approve", message)
    assert len((await outcome(waiting)).execute) == 1
    assert AUDIT != APPROVALS


async def test_a_home_is_drawn_in_a_thread(
    scene: Scene, users: TeamsUsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a review, when Alice's Home is drawn, then not on the bot's event loop."""
    draw, drawn_in = home_handler.home_card, list[threading.Thread]()

    def record_thread(*args: Any) -> Any:
        drawn_in.append(threading.current_thread())
        return draw(*args)

    monkeypatch.setattr(home_handler, "home_card", record_thread)
    await ask(scene)
    await card(users, "send_email")
    await users.write(ALICE, "approvals")
    await users.message("1 review waits for you", conversation=users.chat(ALICE))
    assert drawn_in
    assert threading.main_thread() not in drawn_in


async def test_a_shown_card_is_no_duplicate(scene: Scene, users: TeamsUsers) -> None:
    """Given a review in Alice's own chat, when she asks for it, then the message that answers has no mark:
    nothing takes it for another card of the review, which would be deleted.
    """
    await ask(scene, notify=[f"teams:{ALICE}"])
    chat = users.chat(ALICE)
    first = await users.message("send_email", conversation=chat)
    assert mark_of(first.card or {})
    id = text_of(first.card).rsplit("\n", 1)[-1].split()[0]
    await users.write(ALICE, f"approvals show {id}")

    def find_shown() -> list[Message]:
        messages = users.conversation(chat).messages.values()
        return [m for m in messages if m.id != first.id and "send_email" in text_of(m.card)]

    await wait_until("it is shown", find_shown)
    [shown] = find_shown()
    assert mark_of(shown.card or {}) == ""


async def test_a_list_says_that_a_team_is_unknown(scene: Scene, users: TeamsUsers) -> None:
    """Given a bot that could not look up one team since its start; then the list says that it may lack
    reviews; when Teams answers again, then it says so no more."""
    sandbox = users.sandbox
    sandbox.faults.add("answer", "team", conversation=OPS, status=403, body="{}")
    second = await scene.bot(**sandbox.settings())
    sandbox.bot_url = second.endpoints["teams"]
    chat = users.chat(ALICE)
    await users.write(ALICE, "approvals")
    await users.message("Reviews of a team or chat may be missing here", conversation=chat)
    sandbox.faults.clear()
    third = await scene.bot(**sandbox.settings())
    sandbox.bot_url = third.endpoints["teams"]
    await users.write(ALICE, "approvals")
    home = await users.message("Nothing waits for you", conversation=chat, without="may be missing")
    assert home


async def test_a_chat_that_fails_takes_no_list(scene: Scene, users: TeamsUsers) -> None:
    """Given one chat for which Teams refuses to say who is in it; then people get their lists nevertheless,
    which say that they may lack something."""
    await ask(scene)
    await card(users, "send_email")
    users.sandbox.faults.add("answer", "member", conversation=GROUP_CHAT, status=403, body="{}")
    await users.write(ALICE, "approvals")
    words = ("At least 1 review waits for you", "Reviews of a team or chat may be missing here")
    assert await users.message(*words, conversation=users.chat(ALICE))


async def start_bot(
    scene: Scene, users: TeamsUsers, monkeypatch: pytest.MonkeyPatch
) -> list[home_handler.TeamsHome]:
    """A bot, with what updates the Homes in it."""
    homes, prepare = list[home_handler.TeamsHome](), home_handler.TeamsHome.__init__

    def note(home: home_handler.TeamsHome, *parts: Any) -> None:
        homes.append(home)
        prepare(home, *parts)

    monkeypatch.setattr(home_handler.TeamsHome, "__init__", note)
    bot = await scene.bot(**users.sandbox.settings())
    users.sandbox.bot_url = bot.endpoints["teams"]
    return homes


async def test_an_update_that_is_being_drawn_replaces_nothing_that_was_opened_meanwhile(
    scene: Scene, users: TeamsUsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a list that is out of date; when Alice opens a form while the update is drawn, then it stays."""
    homes, chat = await start_bot(scene, users, monkeypatch), users.chat(ALICE)
    await ask(scene)
    await card(users, "send_email")
    await users.write(ALICE, "approvals")
    message = await users.message("1 review waits for you", conversation=chat)
    await ask(scene, sql())
    await card(users, "run_sql")
    shown, draw, views = list[str](), home_handler.offload_home, homes[0]._homes.views

    async def is_covered() -> bool:
        return (await views.load(f"teams:{ALICE}")).is_covered

    async def press_and_draw(*given: Any) -> Any:
        monkeypatch.setattr(home_handler, "offload_home", draw)
        shown.append(await users.press(ALICE, "Edit", message))
        await wait_until("the form is recorded", is_covered)
        return await draw(*given)

    monkeypatch.setattr(home_handler, "offload_home", press_and_draw)
    await homes[0].publish(ALICE)
    assert [text_of(message.card_for(ALICE))] == shown


@pytest.mark.parametrize(
    ("length", "button", "leave"),
    [(10, "Edit", "Cancel"), (9_000, "Read all, then approve", "Close")],
)
async def test_no_update_replaces_what_was_opened_in_a_home(
    scene: Scene,
    users: TeamsUsers,
    monkeypatch: pytest.MonkeyPatch,
    length: int,
    button: str,
    leave: str,
) -> None:
    """Given a form or a page that Alice opened in her list; when another review arrives and her list is
    updated, then what she opened stays; when she leaves it, then the list is new, and updated again."""
    homes = await start_bot(scene, users, monkeypatch)
    chat, long = users.chat(ALICE), ToolCall("c1", "send_long", {"text": "x " * length})
    await ask(scene, long)
    await card(users, "send_long")
    await users.write(ALICE, "approvals")
    message = await users.message("1 review waits for you", conversation=chat)
    shown = await users.press(ALICE, button, message)
    await ask(scene)
    await card(users, "send_email")
    await homes[0].publish(ALICE)
    assert text_of(message.card_for(ALICE)) == shown
    assert "2 reviews wait for you" in await users.press(ALICE, leave, message)
    await ask(scene, sql())
    await card(users, "run_sql")
    await homes[0].publish(ALICE)
    assert "3 reviews wait for you" in text_of(message.card_for(ALICE))


async def test_a_review_that_can_not_be_drawn_hides_no_other(
    scene: Scene, users: TeamsUsers
) -> None:
    """Given a damaged review beside another one; then Alice's list shows the other one, and says that one
    can't be shown."""
    await make_undrawable(scene, await scene.gate(json.dumps(POLICY)))
    await ask(scene)
    await card(users, "send_email")
    await users.write(ALICE, "approvals")
    await users.message("1 review can't be shown", "send_email", conversation=users.chat(ALICE))
