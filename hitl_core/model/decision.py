"""What a person, or the policy at its deadline, decided on one action."""

from __future__ import annotations

import json
from typing import Any, Literal

from hitl_core.model.value import Value
from hitl_core.model.verdict import Verdict

DecisionType = Literal["approve", "edit", "reject", "respond", "ignore"]
#: What a person says of a call in doubt: it ran, run it again, or go on without knowing.
DoubtAnswer = Literal["ran", "rerun", "skip"]
DECISION_TYPES: tuple[DecisionType, ...] = ("approve", "edit", "reject", "respond", "ignore")


#: The channel of a person who decides in a terminal: the only one whose people no chat system knows.
CLI = "cli"
#: The channel of what the policy itself decided at the door.
POLICY = "policy"
#: Of a name in our own sentences, in characters.
MAX_NAME = 80


class Reviewer(Value):
    """A person who may decide. Identified by channel, team and id; the name is only shown."""

    channel: str
    team: str
    id: str
    name: str

    @property
    def key(self) -> str:
        """Who it is, whatever the name, and from whichever workspace of an organisation they pressed: one
        person has one key, and one vote.
        """
        return f"{self.channel}:{self.id}"

    @property
    def label(self) -> str:
        """For our own sentences. No person chose the names of a command line's system and of the policy."""
        return self.name if self.channel in (CLI, POLICY) else person_label(self.name, self.id)


def person_label(name: str, id: str) -> str:
    """A name in our own sentences: in quotes, and with the id. People choose their names: a bare one could be
    read as a word of the sentence, as several people, or as somebody else.
    """
    short_name = name.strip().replace("“", '"').replace("”", '"')
    if len(short_name) > MAX_NAME:
        short_name = f"{short_name[: MAX_NAME - 1]}…"
    return f"“{short_name}” ({id})" if short_name else id


class Vote(Value):
    """One person's say on one revision, or on one attempt of a call in doubt, where it takes several.

    `answer` is the JSON value of a person's own answer.
    """

    type: Literal["approve", "reject", "respond", "ignore"] | DoubtAnswer
    by: Reviewer
    at: float
    revision: int
    message: str | None = None
    answer: Any = None

    def agrees_with(self, other: Vote) -> bool:
        """Whether both say the same: two who write different answers don't agree."""
        return self._statement == other._statement

    @property
    def _statement(self) -> tuple[object, ...]:
        text = self.message if self.type == "respond" else None
        return self.type, text, json.dumps(self.answer, sort_keys=True)


class EditRecord(Value):
    """Who made a revision, when; `name` is the tool that it names in place of the one asked for; `under` the
    rule that it fell under, where that asks for more, or other people, than before.
    """

    by: Reviewer
    at: float
    revision: int
    digest: str
    name: str | None = None
    under: Verdict | None = None


class Decision(Value):
    """Final. `by` is None where the deadline decided, else who had the last word (`Action.votes` has all).

    `digest` is that of the arguments decided on (after an edit: the edited ones); `at` is in seconds since
    the epoch, by the store's clock. `name` is the tool that an edit chose in place of the one asked for;
    `answer` the JSON value that a person gave to a question with a schema, of which `message` is the text.
    """

    type: DecisionType
    by: Reviewer | None
    at: float
    revision: int
    digest: str
    message: str | None = None
    name: str | None = None
    answer: Any = None
