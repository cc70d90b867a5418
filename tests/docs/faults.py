"""The faults that this product was built to survive: what dies or fails, and when; and which tests cover
each.

A test names its faults in its docstring: "Fault A1", "Faults A4 and A5". `python -m tests.docs.tables` writes
the table in docs/threats.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.docs.named_tests import find_tests, table_rows

FAULTS: dict[str, str] = {
    "A1": "An agent is killed while it submits",
    "A2": "An agent is killed while it waits; people decide meanwhile",
    "A3": "An agent is killed after the decision, before it claims the review",
    "A4": "An agent is killed after the claim, before or after `once`",
    "A5": "An agent is killed after the tool ran, before it reported that",
    "A6": "An agent is frozen for longer than its lease, and goes on",
    "A7": "Two processes of an agent run the same thread",
    "A8": "An agent's wait is cancelled, by a timeout of its framework",
    "B1": "A bot is killed before it stores a click",
    "B2": "A bot is killed after it stored a click, before the person sees that",
    "B3": "A bot is killed right after the person saw that the click counts",
    "B4": "A bot is frozen during a click",
    "B5": "The sockets to Slack are cut, or renewed by Slack",
    "B6": "Bots are replaced one after the other, also by another version",
    "W1": "A bot is killed before it posts a card",
    "W2": "A bot is killed after it posted a card, before it noted that",
    "W3": "A bot is killed after it noted the post, before it ended the job",
    "W4": "A card can never be shown",
    "K1": "A bot is killed after it found what is due, before it did it",
    "K2": "Two bots do what is due at the same moment",
    "K3": "No bot runs while much becomes due",
    "R1": "Redis is killed, and restarted with all that it acknowledged",
    "R2": "Redis is restarted without its latest writes",
    "R3": "Redis forgets its scripts",
    "R4": "Redis is full",
    "R5": "A replica takes over that lacks the latest writes",
    "R6": "The disk of Redis is full, or it can't write for another reason",
    "R7": "Redis answers nothing",
    "R8": "Slots move to another node of a Redis Cluster",
    "N1": "The network to Redis is slow",
    "N2": "The reply of Redis is lost, at each command once",
    "N3": "Connections to Redis are reset again and again",
    "S1": "Slack limits the calls",
    "S2": "Slack answers with errors (5xx)",
    "S3": "Slack does not answer",
    "S4": "Slack does what it was asked, and its answer is lost",
    "S5": "The channel does not exist, or the bot is not in it",
    "S6": "Slack refuses the bot's token while it runs",
    "C1": "The clocks of bots, agents and Redis differ",
}

_IN_TEXT = re.compile(r"\bFaults? ([A-Z]\d\b(?:(?:, | and | to )[A-Z]\d\b)*)")
_ONE = re.compile(r"([A-Z])(\d)(?: to \1(\d))?")


def faults_of(text: str) -> set[str]:
    """The faults that a docstring names: four in "Faults B1 to B3 and W1"."""
    return {
        f"{letter}{number}"
        for listed in _IN_TEXT.findall(text)
        for letter, first, last in _ONE.findall(listed)
        for number in range(int(first), int(last or first) + 1)
    }


def rows() -> Iterator[tuple[str, ...]]:
    return table_rows("fault", FAULTS, find_tests(faults_of), {})
