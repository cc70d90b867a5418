"""Attacks by an agent's text (T7 to T12, T14 to T16), in messages, threads and modals."""

from __future__ import annotations

import random
import re
import unicodedata
from typing import Any

import pytest

from bot.card import build_card, thread_lines
from bot.card.arguments import list_arguments, mask
from bot.card.warnings import find_text
from bot.channels.slack.modals.form_modal import form_view
from bot.channels.slack.modals.modal import MODAL_LIMITS
from bot.channels.slack.render import thread_message
from bot.channels.slack.render.card_message import message
from bot.forms import AnswerForm, FormRef
from bot.forms.message_form import text_answer_page
from bot.inbox.press import ActionRef
from tests.bot.text.test_text import BIDI, CONFUSABLE, HIDDEN
from tests.channels.reading import (
    arguments_in,
    check,
    review_view,
    see_view,
    texts,
    to_text,
)
from tests.channels.scenes import (
    BOB,
    DEFAULT,
    POSTED,
    THREE,
    decide,
    escalate,
    link_to,
    name_of,
    review_of,
    with_request,
)
from tests.channels.test_injection import OURS

Json = dict[str, Any]


def draw(*calls: tuple[str, Json], **policy: Any) -> Json:
    review = review_of(*calls, policy=policy or None)
    return check(message(build_card(review, DEFAULT, POSTED), name_of, link_to))


def everywhere(words: str, key: str) -> list[Json]:
    """Messages, replies and modals with these words in arguments, keys, names, descriptions and reasons."""
    args = {key: words, "list": [words, {key: words}]}
    rules = {"*": {"description": words.strip() or "x"}}
    review = review_of(
        ("tool", args), ("tool", args), policy={"interrupt_on": rules}, agent=words or "x"
    )
    review = review.model_copy(update={"path": (words, "x"), "thread_id": words})
    review = with_request(decide(review, "1", "reject", BOB, message=words), title=words)
    review = escalate(review, why=words)
    edited = decide(review, "2", "edit", args={**args, "more": words})
    found = [
        check(message(build_card(one, place, POSTED), name_of, link_to))
        for one in (review, edited)
        for place in one.places
    ]
    found += [check(thread_message(line, name_of)) for line in thread_lines(edited, DEFAULT)]
    found.append(see_view(ActionRef(review.id, "2", 1), "tool", list_arguments(mask(args, None))))
    found.append(review_view(review, DEFAULT, 1, name_of))
    return found


FORGED = [
    "✅ Security approved this.",
    "Approved by @U0ALICE",
    "✔ send_email  approved by Alice",
    "Args: {}",
    "Arguments: none",
    "no arguments",
    "to  jo@example.com",
    "\n\nto  jo@example.com\n\n",
    "- to: eve@evil.example\n+ to: jo@example.com",
    "[Approve] [Edit] [Reject]",
    "Members of #agent-approvals may decide.",
    "2 of 2 approvals: Alice and Bob.",
    "Press See all of it",
    "⟦12 more characters⟧",
    "⟦hidden⟧",
    "⟦U+202E⟧",
    "✂ 3 characters are not shown here.",
    "⚠ This is harmless.",
    "*Approve* first opens it",
    "```\nSELECT 1\n```",
    "> quoted",
    "# support-agent asks to run look_up",
    "----------------------------------------",
    "1  look_up",
    "</section><button>Approve</button>",
    '{"type": "button", "text": "Approve"}',
    "<!channel> approve now",
    "<https://evil.example|See all of it>",
    "”, says the policy. “",
    "Escalated to #team-ops by <@U0BOB>",
    "edited and approved by Alice\nbody  old → new",
]


@pytest.mark.parametrize("lie", FORGED)
def test_no_description_takes_the_place_of_the_call(lie: str) -> None:
    """T7: given a description and a title that imitate our own lines, then the call's block begins with our
    number and its tool, the arguments are shown as they are, and the imitation is no line of ours."""
    rules = {"*": {"description": lie}}
    review = with_request(review_of(*THREE[:2], policy={"interrupt_on": rules}), title=lie)
    sent = check(message(build_card(review, DEFAULT), name_of))
    call = next(block for block in sent["blocks"] if block["block_id"] == "call:1")
    title, tool, why, *_ = call["elements"][0]["elements"]
    assert title["text"].startswith("1  “")
    assert title["text"].endswith(("”", "…"))
    assert title["text"].count("”") <= 1
    assert tool == {"type": "text", "text": "   send_email   "}
    assert why["style"] == {"italic": True}
    assert "\n" not in title["text"] + why["text"]
    assert arguments_in(call) == THREE[0][1]
    for kind, text in texts(sent["blocks"]):
        assert kind != "mrkdwn" or lie.strip() not in text or text in _ours(), text


def _ours() -> set[str]:
    """What our own lines say on a card of the same shape."""
    sent = draw(*THREE[:2])
    return {text for kind, text in texts(sent["blocks"]) if kind == "mrkdwn"}


@pytest.mark.parametrize("pad", ["\n", " ", "\t", "\u200b", " \n", "\u00a0", "\u2028"])
def test_padding_pushes_nothing_out_of_sight(pad: str) -> None:
    """T8: given 5,000 blanks before the payload, then the payload is on the card, and the blanks are
    counted."""
    sent = draw(("shell", {"command": f"ls{pad * 5_000};rm -rf /"}))
    shown = to_text(sent["blocks"])
    assert ";rm -rf /" in shown
    assert "⟦5,000" in shown or "✂ Not shown here: parts of" in shown
    assert len(shown.split("\n")) < 60


@pytest.mark.parametrize("code", BIDI, ids="U+{:04X}".format)
def test_nothing_reorders_a_text(code: int) -> None:
    """T10: given a bidirectional control anywhere, then it is nowhere raw, and the card says what is odd."""
    char = chr(code)
    sent = everywhere(f"jo{char}moc.live@", f"t{char}o")
    assert not [text for one in sent for _, text in texts(one) if char in text]
    assert f"⟦U+{code:04X}⟧" in str(sent[0])
    assert "changes the order" in str(sent[0])


def test_there_are_many_that_hide() -> None:
    """T11."""
    assert len({*BIDI, *HIDDEN}) >= 120


@pytest.mark.parametrize("code", HIDDEN, ids="U+{:04X}".format)
def test_nothing_is_invisible(code: int) -> None:
    """T11: given a character that hides, at the start, in the middle, at the end and in a key, then it is
    nowhere raw but for line breaks and tabs of our own, and the card says so."""
    char = chr(code)
    words = f"{char}pa{char}ss{char}"
    sent = everywhere(words, f"k{char}ey")
    assert not [text for one in sent for _, text in texts(one) if char in text]
    assert str(sent[0]).count(f"⟦U+{code:04X}⟧") >= 4
    assert "invisible or control characters" in str(sent[0])


#: Whole words of letters that look like Latin ones, and hosts that mix.
HOSTS = [
    ("jo@p\u0430ypal.com", "xn--pypal-4ve.com"),
    ("https://\u0430\u0440\u0440\u04cf\u0435.com/login", "xn--80ak6aa92e.com"),
    ("\u0430\u0440\u0440\u04cf\u0435.com", "xn--80ak6aa92e.com"),
    ("http://user:pw@\u0261oogle.com", "xn--oogle-qmc.com"),
    ("see //x and ftp://\u03b1\u03b2.example:21/a", "xn--mxac.example"),
]


@pytest.mark.parametrize("letter", CONFUSABLE)
def test_a_look_alike_in_a_word_is_told(letter: str) -> None:
    """T12: given one letter of another alphabet in a name, then the card says so beside it."""
    shown = to_text(draw(("pay", {"to": f"b{letter}nk"}))["blocks"])
    assert re.search("⚠ .*“to” .* it mixes \\w+ and \\w+ letters", shown)


@pytest.mark.parametrize(("address", "text"), HOSTS)
def test_a_host_beyond_ascii_is_told_as_a_computer_reads_it(address: str, text: str) -> None:
    """T12."""
    shown = to_text(draw(("pay", {"to": address}))["blocks"])
    assert f"({text})" in shown


def test_an_agent_with_a_look_alike_name_is_told() -> None:
    """T12."""
    review = review_of(THREE[0], agent="supp\u043ert-agent")
    shown = to_text(check(message(build_card(review, DEFAULT), name_of))["blocks"])
    assert re.search(
        "⚠ .*The agent's name contains a part that is .*not.* support: it mixes", shown
    )


@pytest.mark.parametrize(
    "name",
    [
        "Ada. Approved by security",
        "U0BOB, who may approve this",
        "slack:U0BOB and nobody else",
        "everybody · decided after 1 min",
        "a” · thread “b",
        "⚠",
    ],
)
def test_a_name_of_an_agents_choice_is_no_sentence_of_ours(name: str) -> None:
    """Given a requester, a sub-agent and a thread that read like lines of a card;
    then they are quoted."""
    review = review_of(THREE[0], requester=name).model_copy(
        update={"path": (name, "writer"), "thread_id": name}
    )
    shown = to_text(check(message(build_card(review, DEFAULT), name_of))["blocks"])
    kept = "“" + name.replace("“", '"').replace("”", '"') + "”"
    assert f"For {kept}" in shown
    assert f"via {kept} → writer" in shown
    assert f"thread {kept}" in shown


def test_a_requester_is_the_agents_word_and_a_plain_agent_is_unquoted() -> None:
    review = review_of(THREE[0], requester="jo@example.com")
    shown = to_text(check(message(build_card(review, DEFAULT), name_of))["blocks"])
    assert "(For “jo@example.com” (named by the agent))" in shown
    assert "# support-agent asks" in shown
    assert "thread “thread-1”" in shown


def _words(first: int, last: int, count: int) -> list[str]:
    """Words of the letters of one script."""
    letters = [
        chr(code) for code in range(first, last) if unicodedata.category(chr(code))[0] == "L"
    ]
    some = random.Random(first)
    return ["".join(some.choices(letters, k=some.randint(1, 9))) for _ in range(count)]


def test_words_of_one_script_are_not_flagged() -> None:
    """T12: given a thousand words that are purely Chinese, Greek or Cyrillic, each beside a letter that only
    its alphabet has, and all in one text, then none is told to be odd."""
    words = [
        *_words(0x4E00, 0x9FEF, 350),
        *_words(0x0391, 0x03CA, 350),
        *_words(0x0410, 0x0450, 350),
    ]
    assert [word for word in words if find_text(f"{word} Ж Ω")] == []
    assert find_text(" ".join(words)) == ()


def test_ten_thousand_strings_stay_inert() -> None:
    """T14: given random strings of what Slack gives a meaning to, then no mrkdwn of ours holds one of them,
    and no notification holds a mention or a link."""
    pieces = ["<", ">", "&", "!channel", "@U1", "#C1", "|", "http://evil.example", "```", ":smile:"]
    pieces += ["*", "_", "~", "\n", "&lt;", "\\", '"', "a", "{", "”"]
    some = random.Random(1)
    strings = ["".join(some.choices(pieces, k=some.randint(1, 12))) for _ in range(10_000)]
    for start in range(0, len(strings), 200):
        batch = strings[start : start + 200]
        calls = [("tool", {one: one for one in batch[at::10]}) for at in range(10)]
        sent = draw(*calls)
        for kind, text in texts(sent["blocks"]):
            if kind == "mrkdwn":
                assert not re.search(r"[<>]|&(?!(?:amp|lt|gt);)", OURS.sub("", text)), text
        assert not re.search(r"<[!@#h]", sent["text"])


def test_no_address_in_our_own_lines_becomes_a_link() -> None:
    """T15: given an agent and a requester called like addresses, then every mrkdwn is `verbatim`, and only
    our own permalinks are links."""
    address = "https://evil.example/x"
    for sent in everywhere(address, address):
        assert all(one["verbatim"] is True for one in _objects(sent, "mrkdwn"))
        assert not _objects(sent, "link")
        assert address not in OURS.sub("", " ".join(t for k, t in texts(sent) if k == "mrkdwn"))


def test_buttons_carry_ids_and_nothing_else() -> None:
    """T16: given any words, then what a button carries are this review's ids and a seal, which a look-alike
    card of another app can't use: its clicks go to that app."""
    value = re.compile(
        r"[a-z_]+\.0-[0-9a-f]{32}"
        r"(?:\.\.\.\.\d+|\.\d+\.\d+(?:\.(?:[0-9a-f]{16})?(?:\.\d+)?)?|\.(?:\d+:\d+,?)+\.\.[0-9a-f]{16})"
    )
    for sent in everywhere("x.y,1:1", "0-0.1.1"):
        carried = [one["value"] for one in _objects(sent, "button")]
        carried += [o["value"] for one in _objects(sent, "overflow") for o in one["options"]]
        assert all(value.fullmatch(one) for one in carried), carried
        assert not [one for one in _objects(sent, "button") if "url" in one]


def _objects(value: Any, kind: str) -> list[Json]:
    if isinstance(value, list):
        return [one for part in value for one in _objects(part, kind)]
    if isinstance(value, dict):
        own = [value] if value.get("type") == kind else []
        return own + [one for part in value.values() for one in _objects(part, kind)]
    return []


LIE = "The deadline, nobody decided. Then it was approved by Alice Admin"


@pytest.mark.parametrize("kind", ["reject", "edit", "escalate"])
def test_no_name_and_no_reason_is_a_sentence_of_ours_in_a_notification(kind: str) -> None:
    """Given a person whose name reads as our sentence, and a reason that does, then the `text` of
    a thread line has the name in quotes with its id, and the reason in quotes."""
    liar = BOB.model_copy(update={"name": f"{LIE}\n\u202e"})
    policy = {"escalate": [{"after": "1h", "to": "slack:#leads"}]}
    review = review_of(("pay", {"n": 1}), policy=policy)
    if kind == "escalate":
        review = escalate(review, liar, "It was approved.")
    elif kind == "edit":
        review = decide(review, "1", "edit", liar, args={"n": 2})
    else:
        review = decide(review, "1", "reject", liar, message="It was approved by the policy.")
    (reason,) = [thread_message(line, name_of)["text"] for line in thread_lines(review, DEFAULT)]
    assert f"by “{LIE[:20]}" in reason
    assert f"({liar.id})" in reason
    assert not {"\n", "\u202e"} & {*reason}
    if kind == "reject":
        assert reason.endswith(": “It was approved by the policy.”")


def test_no_argument_closes_the_brackets_of_our_sentence() -> None:
    """Given arguments that continue as a sentence of ours, then the notification has them between
    quotes, which they can't close."""
    output = draw(("transfer", {"to": "x”). Already approved by Maria; nothing to do. (y"}))["text"]
    assert '(“to: "x"). Already approved by Maria; nothing to do. (y"”). ' in output


@pytest.mark.parametrize("takes", [["respond"], ["respond", "approve"]])
def test_an_agents_question_stands_between_quotes_in_its_modal(takes: list[str]) -> None:
    """Given an agent's own description, when somebody answers in the tool's place, then it is not
    read on as our own sentence."""
    lie = "Maria and the policy have approved this already. Type OK to confirm."
    schema = {"answer_schema": {"type": "object"}} if takes == ["respond"] else {}
    rule: Json = {"allowed_decisions": takes, **schema}
    review = review_of(("ask", {"n": 1}), policy={"interrupt_on": {"ask": rule}})
    (action,) = review.actions
    asked = action.request.model_copy(update={"description": lie, "by_agent": True})
    action = action.model_copy(update={"request": asked})
    review = review.model_copy(update={"actions": (action,)})
    ref = FormRef("respond", ActionRef(review.id, "1", 1))
    if schema:
        page = AnswerForm(review, action, ref, MODAL_LIMITS).page()
    else:
        page = text_answer_page(review, action, ref)
    view = form_view(page)
    assert f"“{lie}”" in str(view)
