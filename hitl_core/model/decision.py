"""The policy's verdict on a call, people's votes and edits, and the decision."""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import SerializerFunctionWrapHandler, model_serializer

from hitl_core.model.place import is_guid, normalize_id, split_id
from hitl_core.model.value import Value
from hitl_core.sentences import quote

DecisionType = Literal["approve", "edit", "reject", "respond", "ignore"]
#: A person's answer about a call in doubt: it ran; run it again; go on without it.
DoubtAnswer = Literal["ran", "rerun", "skip"]
DECISION_TYPES: tuple[DecisionType, ...] = ("approve", "edit", "reject", "respond", "ignore")


#: `Reviewer.channel` of a person who decides in a terminal. No chat system knows these people.
CLI = "cli"
#: `Reviewer.channel` of the policy itself, for a decision that it made at submission.
POLICY = "policy"
#: The longest name in our own sentences, in characters.
MAX_NAME = 80


class Verdict(Value):
    """The policy's answer about one call.

    - `rule`: the name of the rule in the policy; None if the policy's default decided;
    - `retry`: the model may call the tool again, with other arguments;
    - `by_agent`: the agent wrote the reason;
    - `computed`: the reason may quote the arguments, because Python code of the policy wrote it, or because
      it names the keys that a tool doesn't accept.

    Without both marks, the reason is our own sentence, or from the policy's file.
    """

    kind: Literal["allow", "review", "deny"]
    rule: str | None
    reason: str
    retry: bool = False
    by_agent: bool = False
    computed: bool = False

    @property
    def rule_label(self) -> str:
        """The rule as people read it within a sentence."""
        return f"the rule `{self.rule}`" if self.rule else "the policy's default"


class Reviewer(Value):
    """A person who may decide. Channel, team (or tenant) and id identify the person; the name is only
    displayed.

    `aliases` are the keys of the same human's other identities, by the bot's settings (HITL_PEOPLE) at that
    time. The human has one vote with all of them.
    """

    channel: str
    team: str
    id: str
    name: str
    aliases: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key of this identity. It does not depend on the name, nor on the workspace of the organisation
        in which the person clicked: a bot has one team or tenant in each channel, and looks people up by id.
        """
        return f"{self.channel}:{self.id}"

    @property
    def keys(self) -> frozenset[str]:
        """The keys of all identities of this human."""
        return frozenset((self.key, *self.aliases))

    def is_same_human(self, other: Reviewer) -> bool:
        """Whether both are one human, with one vote. It is enough that one of them was recorded with the
        other's key, because the settings may have changed in between.
        """
        return not self.keys.isdisjoint(other.keys)

    def is_named(self, id: str) -> bool:
        """Whether a policy or an agent means this human by `id`: `slack:U1`, or `U1` of any channel."""
        name = normalize_id(id)
        return name in self.keys or name in {split_id(key)[1] for key in self.keys}

    @property
    def label(self) -> str:
        """The name for our own sentences. Names of the command line and of the policy need no quotes: no
        person chose them.
        """
        return self.name if self.channel in (CLI, POLICY) else person_label(self.name, self.id)

    @model_serializer(mode="wrap")
    def _without_empty_aliases(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = handler(self)
        if not self.aliases:
            fields.pop("aliases", None)
        return fields


def person_label(name: str, id: str) -> str:
    """A name for our own sentences: in quotes, and with the id. People choose their names, so without quotes
    a name could look like a part of the sentence, like several people, or like another person. A GUID has 36
    characters; its first 8 are enough to tell apart two people with the same name.
    """
    short_name = name.strip()
    if len(short_name) > MAX_NAME:
        short_name = f"{short_name[: MAX_NAME - 1]}…"
    return f"{quote(short_name)} ({id[:8] if is_guid(id) else id})" if short_name else id


class Vote(Value):
    """One person's vote on one revision, or on one attempt of a call in doubt.

    `answer` is the JSON value of the person's own answer.
    """

    type: Literal["approve", "reject", "respond", "ignore"] | DoubtAnswer
    by: Reviewer
    at: float
    revision: int
    message: str | None = None
    answer: Any = None

    def agrees_with(self, other: Vote) -> bool:
        """Whether both votes say the same. Two different answers don't agree."""
        return self is other or self._statement == other._statement

    @property
    def _statement(self) -> tuple[object, ...]:
        text = self.message if self.type == "respond" else None
        return self.type, text, json.dumps(self.answer, sort_keys=True)


class EditRecord(Value):
    """Who made a revision, and when. `name` is the new tool if the edit chose another one. `under` is the
    rule that matches the edit, if that rule asks for more, or asks other people, than before.
    """

    by: Reviewer
    at: float
    revision: int
    args_hash: str
    name: str | None = None
    under: Verdict | None = None


class Decision(Value):
    """The final decision. `by` is the person with the last vote (`Action.votes` has all), or None if the
    deadline decided.

    - `at`: seconds since the epoch, by the store's clock;
    - `args_hash`: of the arguments that were decided on; after an edit, of the edited ones;
    - `name`: the tool that an edit chose, if it is another one;
    - `answer`: the JSON value that a person gave, if the action has an `answer_schema`; `message` is its
      text.
    """

    type: DecisionType
    by: Reviewer | None
    at: float
    revision: int
    args_hash: str
    message: str | None = None
    name: str | None = None
    answer: Any = None
