"""The threats that this product was built against, by number, and which tests cover each of them.

A test names its threats in its docstring: T21. In the docstring of a file, T21 counts for all its tests.
`python -m tests.docs.tables` writes the table in docs/threats.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.docs.named_tests import find_tests, table_rows

THREATS: dict[str, str] = {
    "T1": "The agent changes the arguments while people decide",
    "T2": "Code between the gate and the tool changes the arguments",
    "T3": "An approval is used for another call, tool, thread or agent",
    "T4": "One approval runs a tool twice",
    "T5": "The tool itself is replaced after the approval",
    "T6": "The host or account that the tool acts on is replaced after the approval",
    "T7": "An agent's text hides what it asks for",
    "T8": "Padding pushes the dangerous part out of view",
    "T9": "A cut hides the dangerous part",
    "T10": "Characters that reorder a text",
    "T11": "Invisible characters",
    "T12": "Look-alike letters, in words and hosts",
    "T13": "Control sequences in a terminal or a log",
    "T14": "Mentions, links and formatting in an agent's text",
    "T15": "A preview fetches an attacker's address",
    "T16": "A look-alike card with buttons of its own",
    "T17": "Text in the arguments persuades a model that approves",
    "T18": "So many questions that people press Approve",
    "T19": "Secrets in arguments reach the chat, or a log",
    "T20": "A short secret is guessed from its hash",
    "T21": "A forged or missing signature of Slack, a doubled header",
    "T22": "A signed click is sent again",
    "T23": "A request with an old or future timestamp",
    "T24": "A wrong clock of the bot's machine makes every click invalid",
    "T25": "A person of another workspace in a shared channel decides",
    "T26": "A guest decides",
    "T27": "A bot, or a person whom no rule names, decides",
    "T28": "A person who was deactivated decides",
    "T29": "The requester approves with another account, or with a forged button",
    "T30": "One human has two votes",
    "T31": "One person counts on two levels",
    "T32": "A person takes the name of somebody who may decide",
    "T33": "A person loses the right to decide after their vote",
    "T34": "A forged or foreign token of Teams",
    "T35": "The checks of requests are switched off, or another server takes Slack's or Microsoft's place",
    "T36": "A click from another workspace",
    "T37": "Ids are guessed",
    "T38": "A link decides",
    "T39": "The bot is made to call an address of an attacker's choice",
    "T40": "Many clicks of one person",
    "T41": "Two people, or a person and a deadline, at the same moment",
    "T42": "A button of an older revision, or after the end",
    "T43": "Votes from before an edit count after it",
    "T44": "The answer of one call reaches another one",
    "T45": "A lost reply leads to a second write",
    "T46": "A policy is loosened while a review waits",
    "T47": "A person who writes to Redis forges an approval",
    "T48": "An approval in Redis is copied to another review",
    "T49": "An entry of the audit is changed, removed or moved",
    "T50": "Somebody says that they never approved",
    "T51": "The traffic to Redis is read, or another server takes its place",
    "T52": "Redis drops reviews because its memory is full",
    "T53": "A full Redis stops decisions",
    "T54": "Redis loses writes that it acknowledged",
    "T55": "A name from outside shapes a key in Redis",
    "T56": "A card that can't be shown holds up the others",
    "T57": "Slack limits, fails or is away",
    "T58": "A post whose answer is lost is posted twice",
    "T59": "Very many reviews are due at once",
    "T60": "Redis hangs",
    "T61": "Arguments that are too large, too deep or too many",
    "T62": "A pattern that takes very long",
    "T63": "A schema that takes very long",
    "T64": "A schema that refers to an address or a file",
    "T65": "A policy file that grows when it is read, or can be read in two ways",
    "T66": "JSON that can be read in two ways",
    "T67": "A wildcard that takes very long",
    "T68": "A tool's name that looks like another one",
    "T69": "The policy file is replaced or rolled back",
    "T70": "An emergency right is misused",
    "T71": "An error or a trace contains arguments",
    "T72": "Large, slow or compressed requests",
    "T73": "The clocks of the machines differ",
    "T74": "A burst of cards slows down clicks",
}

#: What no test holds, and why.
WITHOUT_TEST: dict[str, str] = {
    "T5": "not protected: the agent's process is trusted with its tools",
    "T18": "not protected, see [Security](security.md#what-is-not-protected)",
    "T20": "not protected, see [Security](security.md#what-is-stored-where-for-how-long)",
    "T47": "not protected: who writes to Redis is trusted",
    "T48": "not protected: who writes to Redis is trusted",
}

_IN_TEXT = re.compile(r"\bT(\d{1,2})(?: to T(\d{1,2}))?\b")


def threats_of(text: str) -> set[str]:
    """The threats that a docstring names: "T7 to T9" is three."""
    pairs = ((int(one), int(last or one)) for one, last in _IN_TEXT.findall(text))
    return {f"T{number}" for first, last in pairs for number in range(first, last + 1)}


def rows() -> Iterator[tuple[str, ...]]:
    return table_rows("threat", THREATS, find_tests(threats_of), WITHOUT_TEST)
