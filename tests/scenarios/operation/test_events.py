"""Slack's events about people, groups and channels take effect at once, over HTTP and over sockets."""

from __future__ import annotations

import pytest

from bot.app import Bot
from bot.channels.slack.handlers import events
from tests.support.bots import POLICY, QUICK, Scene
from tests.support.slack import OPS, Message, Person, text_of
from tests.support.waiting import wait_until


@pytest.fixture(params=["http", "sockets"], autouse=True)
async def bot(request: pytest.FixtureRequest, scene: Scene) -> Bot:
    if request.param == "http":
        return await scene.bot()
    scene.sandbox.socket_mode.enabled = True
    bot = await scene.bot(QUICK, SLACK_APP_TOKEN="xapp-sandbox", SLACK_SIGNING_SECRET="")
    await wait_until(
        "its sockets are open", lambda: len(scene.sandbox.socket_mode.connections) == 2
    )
    return bot


async def two_cards(scene: Scene, more: str = "") -> list[Message]:
    gate = await scene.gate(POLICY + more)
    for thread in ("one", "two"):
        scene.ask(gate, thread_id=thread)
    return [await scene.card(f"thread “{thread}”") for thread in ("one", "two")]


async def make_known(scene: Scene, person: Person, card: Message) -> None:
    """The bot has just looked this person up, and has it in its cache."""
    await person.press(card, "approve")
    await scene.card("approved by")


async def press_refused(scene: Scene, person: Person, card: Message) -> str:
    before = len(await person.notices())
    await person.press(card, "approve")

    async def has_notice() -> bool:
        return len(await person.notices()) > before

    await wait_until("a sentence", has_notice)
    return await person.last_notice()


async def test_a_member_who_became_a_guest_may_not_decide(scene: Scene) -> None:
    one, two = await two_cards(scene)
    await make_known(scene, scene.bob, one)
    scene.sandbox.users.make_guest("U0BOB")
    await scene.sandbox.events.wait_delivered()
    assert "may decide this" in await press_refused(scene, scene.bob, two)
    scene.sandbox.users.make_member("U0BOB")
    await scene.sandbox.events.wait_delivered()
    await make_known(scene, scene.bob, two)


async def test_a_person_who_left_the_group_may_not_decide(scene: Scene) -> None:
    one, two = await two_cards(scene, "reviewers: {groups: [S0FINANCE]}")
    await make_known(scene, scene.bob, one)
    scene.sandbox.groups.set_members("S0FINANCE", ["U0ALICE"])
    await scene.sandbox.events.wait_delivered()
    assert "@finance-leads" in await press_refused(scene, scene.bob, two)


async def test_a_disabled_group_gives_nobody_a_right_and_a_new_handle_is_known(
    scene: Scene,
) -> None:
    one, two = await two_cards(scene, "reviewers: {groups: [S0FINANCE]}")
    await make_known(scene, scene.bob, one)
    scene.sandbox.groups.rename("S0FINANCE", handle="money")
    scene.sandbox.groups.disable("S0FINANCE")
    await scene.sandbox.events.wait_delivered()
    assert "@money" in await press_refused(scene, scene.bob, two)


async def test_a_person_who_left_the_channel_may_not_decide(scene: Scene) -> None:
    one, two = await two_cards(scene)
    await make_known(scene, scene.bob, one)
    scene.sandbox.channels.leave("C0APPROVE", "U0BOB")
    await scene.sandbox.events.wait_delivered()
    assert "members of #agent-approvals" in await press_refused(scene, scene.bob, two)


async def test_a_channel_is_called_by_its_new_name_and_found_by_it(scene: Scene) -> None:
    """Given a review in #team-ops; when the channel is renamed; then its members decide as before, a person
    who may not gets the new name, and the new name is a place."""
    gate = await scene.gate(POLICY + 'notify: "slack:C0OPS"')
    scene.ask(gate)
    card = await scene.card("send_email", channel=OPS)
    scene.sandbox.channels.rename("C0OPS", "ops-2")
    await scene.sandbox.events.wait_delivered()
    assert "#ops-2" in await press_refused(scene, scene.alice, card)
    await scene.dana.press(card, "approve")
    await scene.card("approved by", channel=OPS)

    renamed = await scene.gate(POLICY + 'notify: "slack:#ops-2"')
    scene.ask(renamed, thread_id="new-name")
    assert "new-name" in text_of(await scene.card("thread “new-name”", channel=OPS))


async def test_a_review_stays_decidable_when_its_private_channel_gets_a_new_id(
    scene: Scene,
) -> None:
    """Given a review in a private channel; when the channel is shared with another organization, so that
    Slack gives it a new id; then its members decide on the same card, also after a restart, and a new review
    for the former id, for the new one or for the name has one card there."""
    gate = await scene.gate(POLICY + 'notify: "slack:G0FINANCE"')
    scene.ask(gate, thread_id="one")
    await scene.card("thread “one”", channel="G0FINANCE", viewer="U0BOB")
    new = scene.sandbox.channels.share("G0FINANCE")
    await scene.sandbox.events.wait_delivered()
    card = await scene.card("thread “one”", channel=new, viewer="U0BOB")
    await scene.bob.press(card, "approve")
    await scene.card("approved by", channel=new, viewer="U0BOB")

    await scene.bot()
    for number, name in enumerate(("G0FINANCE", new, "#finance")):
        gate = await scene.gate(POLICY + f'notify: "slack:{name}"')
        scene.ask(gate, thread_id=f"later-{number}")
        card = await scene.card(f"thread “later-{number}”", channel=new, viewer="U0BOB")
        await scene.bob.press(card, "approve")
        await scene.card(f"thread “later-{number}”", "approved by", channel=new, viewer="U0BOB")


async def test_an_idle_bot_reports_at_once_that_its_app_was_uninstalled(
    scene: Scene, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a bot with nothing to do; when its app is uninstalled, then that is a problem, which says what to
    do; when the app is there again, then it is over."""
    monkeypatch.setattr(events, "TOKEN_RETRY", 0.01)
    scene.sandbox.installation.uninstall()
    await scene.sandbox.events.wait_delivered()
    await wait_until("it is reported", bot.health.current_problems)
    [problem] = bot.health.current_problems()
    assert (problem.kind, problem.subject) == ("lookup", "auth.test")
    assert "account_inactive" in problem.text
    assert "SLACK_BOT_TOKEN" in problem.text

    scene.sandbox.installation.install_again()
    await wait_until("it is over", lambda: not bot.health.current_problems())


async def test_every_event_of_the_manifest_is_acknowledged(scene: Scene) -> None:
    """Given each event of the manifest; then the bot answers with 200, and Slack tries none of them again."""
    scene.sandbox.users.rename("U0CARL", "Carl the Second")
    scene.sandbox.groups.set_members("S0OPS", ["U0CARL"])
    scene.sandbox.channels.join("C0OPS", "U0ALICE")
    scene.sandbox.channels.leave("C0OPS", "U0ALICE")
    scene.sandbox.channels.rename("C0SHARED", "shared-2")
    scene.sandbox.channels.rename("G0FINANCE", "finance-2")
    scene.sandbox.channels.archive("C0SHARED")
    scene.sandbox.channels.archive("G0FINANCE")
    scene.sandbox.channels.share("G0FINANCE")
    await scene.actor.open_home("U0ALICE")
    scene.sandbox.installation.uninstall()
    await scene.sandbox.events.wait_delivered()
    text = [each for each in await scene.actor.deliveries() if "event_callback" in each["body"]]
    kinds = {
        kind for kind in scene.sandbox.app.events if any(f'"{kind}"' in t["body"] for t in text)
    }
    assert kinds == scene.sandbox.app.events
    assert all("X-Slack-Retry-Num" not in each["headers"] for each in text)
    assert all(each["status"] in (200, None) for each in text)
