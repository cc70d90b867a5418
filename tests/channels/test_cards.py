"""What a card offers and which lines are below it, where no golden card shows it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from bot.card import build_card, choices_of, find_open_action, page_keys, thread_lines
from bot.card.arguments import argument_label
from bot.channels.slack.render import place_names, thread_message
from bot.channels.slack.render.card_message import (
    action_blocks,
    message,
)
from hitl_core.model import Place, Review, ReviewConfig
from hitl_core.review import escalation
from tests.channels.reading import check, incomplete_keys, texts, to_text
from tests.channels.scenes import (
    BOB,
    CARL,
    DEFAULT,
    EMAIL,
    IT,
    NOW,
    OPS,
    POSTED,
    THREE,
    apply_due,
    asking,
    decide,
    link_to,
    name_of,
    reroute,
    review_of,
    with_doubts,
)

TWO = {"reviewers": {"users": ["U0ALICE", "U0BOB", "U0CARL"], "quorum": 2}}


def lines_of(review: Review, place: Place = DEFAULT) -> list[str]:
    sent = [check(thread_message(line, name_of)) for line in thread_lines(review, place)]
    return [to_text(one["blocks"]).strip() for one in sent]


def button(review: Review, action_id: str, place: Place = DEFAULT) -> dict[str, Any] | None:
    sent = check(message(build_card(review, place, POSTED), name_of, link_to))
    found = [
        element
        for block in sent["blocks"]
        if block["type"] == "actions"
        for element in block["elements"]
        if element["action_id"] == action_id
    ]
    return found[0] if found else None


def test_the_thread_tells_edits_rejections_reminders_and_escalations_in_order() -> None:
    """Given a review to which all of it happened, then its thread has a line for each, the oldest first; each
    state's lines are the beginning of the next one's."""
    states = [review_of(*THREE, policy={**TWO, "remind": "5m"})]
    states.append(
        decide(states[-1], "1", "edit", args={**EMAIL, "to": "joe@example.com"}, after=60)
    )
    states.append(decide(states[-1], "2", "reject", BOB, message="Not on a Friday.", after=120))
    states.append(apply_due(states[-1], 300))
    states.append(escalation.escalate(states[-1], DEFAULT, CARL, NOW + 360, why="No idea.").review)
    states.append(decide(states[-1], "1", "approve", BOB, after=400))
    kinds = [[(line.at, line.kind) for line in thread_lines(state, DEFAULT)] for state in states]
    assert all(after[: len(before)] == before for before, after in pairwise(kinds))
    assert [len(one) for one in kinds] == [0, 1, 2, 3, 4, 4]
    still = "@U0BOB, @U0CARL, @U0ALICE or members of #team-ops"
    assert lines_of(states[4]) == [
        "✎ *send_email*  edited by @U0ALICE\n*to*  ~jo@example.com~ → joe@example.com",
        "✖ *run_sql*  rejected by @U0BOB: “Not on a Friday.”",
        f"⏰ *send_email and update_customer*  still wait for {still}",
        "↗ *send_email and update_customer*  escalated to *#team-ops* by @U0CARL: “No idea.”",
    ]
    assert thread_lines(states[4], OPS) == ()


def test_a_thread_of_a_later_place_begins_when_the_review_came_there() -> None:
    """Given an edit before and one after an escalation, then the new place's thread has the later one."""
    review = decide(
        review_of(THREE[0], policy=TWO), "1", "edit", args={**EMAIL, "to": "a@b.example"}
    )
    review = escalation.escalate(review, DEFAULT, BOB, NOW + 200).review
    review = decide(review, "1", "edit", CARL, args={**EMAIL, "to": "c@d.example"}, after=300)
    assert len(lines_of(review)) == 3
    assert [line for line in lines_of(review, OPS) if "c@d.example" in line] == lines_of(
        review, OPS
    )


def test_a_fallback_is_told_with_its_reason() -> None:
    review = reroute(review_of(THREE[1], policy={"fallback": IT}), "the channel is archived")
    assert lines_of(review) == [
        (
            "↗ *run_sql*  escalated to *#it*, "
            "because it can't be decided at its own place: “the channel is archived”"
        )
    ]


def test_a_reminder_that_comes_late_calls_nobody() -> None:
    """Given a reminder of what was decided meanwhile, then its line mentions nobody."""
    review = apply_due(review_of(THREE[1], policy={"remind": "5m", "escalate": []}), 300)
    review = decide(review, "1", "approve", after=301)
    assert lines_of(review) == ["⏰ *run_sql*  was due for a reminder, but is already decided"]


def test_approve_all_names_every_revision_and_asks_where_the_policy_says() -> None:
    review = review_of(*THREE[:2], policy=TWO)
    review = decide(review, "1", "edit", args={**EMAIL, "to": "a@b.example"})
    found = button(review, "approve_all")
    assert found is not None
    assert (
        found["value"] == f"approve_all.{review.id}.1:2,2:1..{review.seal('1', '2', is_whole=True)}"
    )
    assert found["confirm"]["text"]["text"].startswith("#1 send_email (")


@pytest.mark.parametrize(
    "rule",
    [{"allowed_decisions": ["edit", "reject"]}, {"allowed_decisions": ["respond"]}],
    ids=["no approve", "question"],
)
def test_approve_all_is_not_offered_where_one_of_them_can_not_be_approved(rule: Any) -> None:
    review = review_of(*THREE[:2], policy={"interrupt_on": {"run_sql": rule}})
    assert button(review, "approve_all") is None


def test_what_is_decided_has_no_buttons_but_to_read_it() -> None:
    """Given one decided action of one, then all its arguments are one click away."""
    review = decide(review_of(THREE[0]), "1", "approve")
    see = button(review, "see")
    assert see is not None
    assert see["value"] == f"see.{review.id}.1.1"
    sent = message(build_card(review, DEFAULT), name_of)
    actions = [block for block in sent["blocks"] if block["type"] == "actions"]
    assert [len(block["elements"]) for block in actions] == [1]
    assert "buttons" not in str(
        action_blocks(review.id, find_open_action(review, "1"), place_names(name_of))
    )


def test_of_several_that_are_decided_a_modal_shows_one_after_the_other() -> None:
    """Given a review with a decided and an open action, then the button opens the decided one's page."""
    review = decide(review_of(*THREE), "2", "approve")
    blocks = message(build_card(review, DEFAULT), name_of)["blocks"]
    assert f"review.{review.id}....1" in str(blocks)
    assert page_keys(review, DEFAULT)[1] == "2"


def test_one_action_of_a_modal_reads_like_the_card() -> None:
    """Given an action that waits and one that is decided, then both can be drawn alone, with more room."""
    review = decide(review_of(("deploy", {"script": "echo\n" * 300}), THREE[0]), "2", "approve")
    here = build_card(review, DEFAULT)
    assert here.open_actions[0].excerpt.missing > find_open_action(review, "1").excerpt.missing == 0
    waiting, over = (
        action_blocks(review.id, find_open_action(review, key), place_names(name_of))
        for key in ("1", "2")
    )
    assert [block["type"] for block in waiting] == ["rich_text", "actions"]
    assert "✔ *send_email*" not in to_text(waiting)
    assert "*✔ send_email*  approved by @U0ALICE" in to_text(over)
    with pytest.raises(KeyError):
        find_open_action(review, "9")


def test_what_is_cut_or_only_listed_counts_as_unread() -> None:
    review = review_of(("deploy", {"script": "echo\n" * 900}), THREE[1])
    assert incomplete_keys(build_card(review, DEFAULT)) == {"1"}
    many = review_of(*[THREE[1]] * 11)
    assert incomplete_keys(build_card(many, DEFAULT)) == frozenset()  # each is whole in its row
    long = review_of(*[("deploy", {"script": "echo\n" * 900})] * 11)
    assert len(incomplete_keys(build_card(long, DEFAULT))) == 11
    few = review_of(*THREE)
    assert incomplete_keys(build_card(few, DEFAULT)) == frozenset()


@pytest.mark.parametrize(
    ("schema", "allowed", "labels"),
    [
        ({"enum": ["a", 1, None]}, ("respond",), ["a", "1", "null"]),
        ({"enum": list("abcdef")}, ("respond",), []),
        ({"enum": ["a", "a\u200b"]}, ("respond",), ["a", "a⟦U+200B⟧"]),
        ({"enum": [1, "1"]}, ("respond",), ["1", "1"]),
        ({"type": "boolean"}, ("respond",), ["Yes", "No"]),
        ({"type": "boolean"}, ("approve", "reject"), []),
        ({"enum": ["a"]}, ("approve", "reject"), ["a"]),
        ({"oneOf": [{"const": 1, "title": "One"}, {"const": 2}]}, ("respond",), ["One", "2"]),
        ({"anyOf": [{"const": 1}, {"type": "string"}]}, ("respond",), []),
        ({"type": "string"}, ("respond",), []),
        ({"enum": ["a"]}, ("edit",), []),
    ],
)
def test_a_question_of_a_few_choices_has_a_button_for_each(
    schema: Any, allowed: Any, labels: list[str]
) -> None:
    config = ReviewConfig(action_name="t", allowed_decisions=allowed, answer_schema=schema)
    assert [choice.label for choice in choices_of(config)] == labels


def test_a_choice_never_looks_like_a_button_of_ours() -> None:
    """Given a question whose answers are called like our buttons, then they are in quotes, with the number of
    the answer."""
    review = asking({"enum": ["Approve", "See all of it”"]})
    first, second = button(review, "answer:0"), button(review, "answer:1")
    assert first is not None
    assert second is not None
    assert first["text"]["text"] == "“Approve”"
    assert second["text"]["text"] == '“See all of it"”'
    assert second["value"] == f"answer.{review.id}.1.1.{review.seal('1', is_whole=True)}.1"


def test_hidden_values_are_nowhere() -> None:
    """Given values that the policy and the schema hide, then no card, change, fact or description has them,
    and nothing can imitate them."""
    rule = {
        "redact": ["/a~1b/0", "/all", "/absent/x", "/list/7"],
        "description": lambda _: "Uses hunter2 on Friday.",
        "args_schema": {
            "properties": {
                "pin": {"format": "password"},
                "in": {"properties": {"k": {"writeOnly": True}}},
            }
        },
    }
    args = {
        "a/b": ["hunter2", 1],
        "all": {"x": "s3cret"},
        "pin": "0815",
        "in": {"k": "k3y"},
        "list": [],
        "forged": "⟦hidden⟧",
    }
    review = review_of(("pay", args), policy={**TWO, "interrupt_on": {"*": rule}})
    review = decide(review, "1", "edit", args={**args, "all": {"x": "0ther"}})
    over = decide(decide(review, "1", "approve", BOB), "1", "approve", CARL)
    for one in (review, over):
        sent = check(message(build_card(one, DEFAULT), name_of))
        sent["thread"] = lines_of(one)
        sent["modal"] = action_blocks(one.id, find_open_action(one, "1"), place_names(name_of))
        for secret in ("hunter2", "s3cret", "0ther", "0815", "k3y"):
            assert secret not in str(sent)
    shown = to_text(check(message(build_card(review, DEFAULT), name_of))["blocks"])
    assert shown.count("⟦hidden⟧") >= 4
    assert "⟦U+27E6⟧hidden⟦U+27E7⟧" in shown


def test_a_label_is_what_the_form_says_and_the_key() -> None:
    schema = {
        "properties": {"to": {"title": "Recipient"}, "cc": {"title": "cc"}, "x": {"title": 7}}
    }
    text = [
        argument_label(key, schema["properties"].get(key))
        for key in ("to", "cc", "x", "other", " odd")
    ]
    assert text == ["Recipient (to)", "cc", "x", "other", '" odd"']


def test_mentions_are_only_of_ids_that_a_policy_or_slack_gave() -> None:
    """Given reviewers that are no ids of Slack's, then they are text."""
    policy = {"reviewers": {"users": ["<!channel>", "U0ALICE"], "groups": ["@here"]}}
    try:
        review = review_of(THREE[1], policy=policy)
    except Exception:  # a policy that refuses such names is as good
        return
    sent = message(build_card(review, DEFAULT), name_of)
    assert not [text for kind, text in texts(sent) if kind == "mrkdwn" and "<!channel>" in text]


def test_each_line_of_many_decided_calls_says_which() -> None:
    """Slack-clients 4: given twelve calls of one tool, of which one was rejected; its line has its number
    and its arguments, between quotes; the others share a line with their numbers and what differs; and hidden
    values stay hidden."""
    calls = [("pay", {"all": "same", "to": f"jo-{n} approved by Bob", "pin": n}) for n in range(12)]
    review = review_of(*calls, policy={"interrupt_on": {"*": {"redact": ["/pin"]}}})
    for action in review.actions:
        review = decide(review, action.key, "reject" if action.key == "7" else "approve")
    lines = to_text(message(build_card(review, DEFAULT), name_of)["blocks"])
    assert (
        "✖ 7  pay*  rejected by @U0ALICE\n“all: same · pin: ⟦hidden⟧ · to: jo-6 approved by Bob”"
        in lines
    )
    assert "✔ pay ×11*  approved by @U0ALICE\n#1 to #6, #8 to #12:  “all: same; " in lines  # noqa: RUF001
    assert 'to "jo-0 approved by Bob" to "jo-11 approved by Bob"”' in lines
    known = lines.replace("pin ⟦hidden⟧, perhaps different", "")
    assert "pin" not in known.replace("pin: ⟦hidden⟧", "")


def test_a_call_that_waits_and_is_in_doubt_has_no_block_id_twice() -> None:
    """Given a release that found that an agent has started a call that still waits; then its card asks about
    both, in a message that Slack takes."""
    after = with_doubts(review_of(("send_email", EMAIL)), "1")
    sent = check(message(build_card(after, DEFAULT, POSTED), name_of))
    ids = [block["block_id"] for block in sent["blocks"]]
    assert len(ids) == len(set(ids))
    assert {"do:1:1", "doubt:1"} <= set(ids)
