"""What leads a person to a card: the file with all arguments, and the links of their Home, are where they can
read them, and the file goes to nobody else.
"""

from __future__ import annotations

import json
from typing import Any

from hitl_core import ToolCall
from tests.support.bots import CANARY, Scene
from tests.support.slack import ALICE, APPROVALS, CARL, DANA, OPS, Person


async def ask_long(scene: Scene, *places: str) -> None:
    await scene.bot()
    gate = await scene.gate(json.dumps({"default": "review", "notify": places}))
    scene.ask(gate, ToolCall("c1", "mcp/note", {"text": f"{CANARY} " + "word " * 2000}))


async def get_file(scene: Scene, who: Person, channel: str) -> None:
    """Opens all arguments on the card in this channel, and asks for the file."""
    card = await scene.card("note", channel=channel, viewer=who.id)
    await who.press(card, "see")
    await scene.actor.click_view(who.id, "file")
    assert "The file is below the card" in await who.modal()
    await scene.actor.close(who.id)
    await scene.actor.close(who.id)


async def files(scene: Scene, channel: str, viewer: str) -> list[Any]:
    return [each for one in await scene.actor.messages(channel, viewer) for each in one["files"]]


async def test_each_member_of_a_group_gets_the_file_below_their_own_copy(scene: Scene) -> None:
    await ask_long(scene, "slack:S0OPS")
    chats = {id: scene.sandbox.workspace.direct_channel_id(id) for id in (CARL, DANA)}
    for who in (scene.carl, scene.dana):
        await scene.card("note", channel=chats[who.id], viewer=who.id)
    for who in (scene.carl, scene.dana):
        await get_file(scene, who, chats[who.id])
        [file] = await files(scene, chats[who.id], who.id)
        assert file["name"] == "mcp_note.txt"


async def test_the_file_comes_to_the_channel_of_which_the_person_is_a_member(scene: Scene) -> None:
    """Given a card in two channels; then Carl, who is a member of the second, gets the file there."""
    await ask_long(scene, "slack:#agent-approvals", "slack:#team-ops")
    await scene.card("note")
    await get_file(scene, scene.carl, OPS)
    assert len(await files(scene, OPS, CARL)) == 1
    assert await files(scene, APPROVALS, ALICE) == []


async def test_a_home_leads_to_the_channel_of_which_the_person_is_a_member(scene: Scene) -> None:
    await ask_long(scene, "slack:#agent-approvals", "slack:#team-ops")
    await scene.card("note")
    await scene.card("note", channel=OPS)
    await scene.all_shown()
    for who, there in ((scene.carl, OPS), (scene.alice, APPROVALS)):
        await scene.actor.open_home(who.id)
        home = await scene.actor.wait_for(
            lambda state: state["home"] if "open its card" in str(state["home"]) else None,
            user=who.id,
        )
        assert f"/archives/{there}/" in str(home)
