"""Which scenes show that each way to fool a reviewer fails, and that a card does what it must."""

from __future__ import annotations

from typing import NamedTuple


class Proof(NamedTuple):
    what: str
    scenes: tuple[str, ...]


#: What an agent, or who talks to it, may try; the scenes show what the card makes of it.
ATTACKS = (
    Proof(
        "An agent's description, title, reason or result says that it is approved",
        ("voice-description", "titled", "voice-reason", "voice-result", "injection"),
    ),
    Proof(
        "Keys of arguments look like lines of ours", ("attack-keys", "attack-keys-without-schema")
    ),
    Proof(
        "One of many alike calls does more",
        ("attack-one-of-forty", "attack-one-of-eight-asks", "odd-among-many"),
    ),
    Proof(
        "Approve all takes what nobody looked at",
        ("attack-drop-table", "attack-drop-table-asks", "attack-odd-four"),
    ),
    Proof(
        "What matters is in what the card cuts",
        ("attack-middle-of-text", "attack-bcc", "attack-recipient", "long-text"),
    ),
    Proof(
        "Characters and addresses read like others",
        ("look-alikes", "addresses", "attack-signs", "odd-characters"),
    ),
    Proof("Right-to-left letters move numbers", ("moved-numbers",)),
    Proof("An answer says one thing and sends another", ("answer-values",)),
    Proof(
        "Names of requester, agent or thread speak in our voice",
        ("voice-requester", "voice-agent", "voice-thread"),
    ),
)

CHANGES = (
    Proof(
        "Whose words these are: an agent's are quoted; and why it wants the call",
        ("reason", "voice-reason", "voice-description", "voice-requester"),
    ),
    Proof("What is cut is approved where all of it is read", ("must-read", "long-text", "nested")),
    Proof(
        "Approve all always asks and says what differs",
        ("attack-one-of-eight-asks", "attack-drop-table-asks"),
    ),
    Proof(
        "Keys that no schema declares are apart",
        ("attack-keys", "attack-keys-without-schema"),
    ),
    Proof(
        "Many alike calls are a table", ("pending-forty", "attack-one-of-forty", "odd-among-many")
    ),
    Proof("A decided card keeps the fact", ("decided", "rejected", "hidden-when-decided")),
    Proof(
        "Warnings in plain words, counted on top, no green Approve",
        ("odd-characters", "look-alikes", "attack-signs"),
    ),
    Proof("A notification has the key facts", ("notifications",)),
    Proof("In doubt: Run again asks", ("in-doubt", "run-again-asks", "doubt-answered")),
    Proof("An e-mail reads as an e-mail, code as code, money as money", ("styles", "refund")),
    Proof(
        "Modals begin with the fact",
        ("reject", "answer", "escalate", "review", "edit-errors-top", "see-page-two"),
    ),
    Proof("Long answers are read whole; rare buttons are in the menu", ("question", "pending-one")),
    Proof("A label contains what is seen, and the fact", ("spoken",)),
    Proof("A second attempt says so", ("second-attempt",)),
)
