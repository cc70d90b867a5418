"""One rule: which calls it is about, and what it says of them."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self, cast

from hitl_core.model import DecisionType, DialectName, Output, Route, ToolCall, Verdict
from hitl_core.policy.ruling import Ruling
from hitl_core.policy.wording import whole

Kind = Literal["allow", "review", "deny"]
#: What may be decided where the policy doesn't say.
DEFAULT_DECISIONS: tuple[DecisionType, ...] = ("approve", "edit", "reject")

_SAYS: dict[Kind, str] = {
    "allow": "allows it without asking",
    "review": "asks for a person",
    "deny": "denies it",
}


class Seen(NamedTuple):
    """What a rule may look at: the call, the agent's state where there is one, and a run's own prefix.
    `shared`: what the checks of this call have in common, empty at first; see `_schema.predicate`."""

    call: ToolCall
    shared: dict[str, Any]
    state: object = None
    prefix: str | None = None


class Question(NamedTuple):
    """What a description may say beside its text: what a person may answer. `extra` as in ActionRequest."""

    text: str
    answer_schema: dict[str, Any] | None
    allowed_decisions: tuple[DecisionType, ...]
    extra: dict[str, Any] | None = None


#: Of a rule: what it answers may have to be awaited, and it may raise.
Ask = Callable[[Seen], object]


@dataclass(frozen=True, slots=True, eq=False)
class SchemaWhen:
    """A `when` that is a JSON Schema over the arguments, kept beside what checks it."""

    schema: dict[str, Any]
    meets: Callable[[dict[str, Any], dict[str, Any]], bool]

    @classmethod
    def of(cls, schema: dict[str, Any]) -> Self:
        from hitl_core.policy import _schema  # only where a schema is checked

        return cls(schema, _schema.predicate(schema))

    def __call__(self, seen: Seen) -> bool:
        return self.meets(seen.call.args, seen.shared)


class Lost(Exception):
    """This `when` was Python code, and a review can't keep code."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Rule:
    """`name` is a tool's name or a glob, None for the default. `description` is None where there is none.
    `says_reviewers`: who may decide is not inherited.
    """

    name: str | None
    kind: Kind
    line: int | None
    prefix: str
    route: Route
    description: str | Ask | None = None
    when: Ask | None = None
    allowed_decisions: tuple[DecisionType, ...] = DEFAULT_DECISIONS
    args_schema: dict[str, Any] | None = None
    reject_reason: Literal["optional", "required"] = "optional"
    must_read: bool = False
    confirm: bool = False
    redact: tuple[str, ...] = ()
    says_reviewers: bool = False
    needs_requester: bool = False
    idempotent: bool = False
    answer_schema: dict[str, Any] | None = None
    output: Output | None = None
    dialect: DialectName | None = None
    extra: dict[str, Any] | None = None
    trusts_tools: bool = False

    async def judge(self, seen: Seen) -> Ruling | None:
        """None where `when` is not met. One that fails, or says neither, counts as met, and as `unsure`."""
        failure = ""
        if self.when is not None:
            try:
                met = await _waited(self.when(seen))
                if not met and met is not False:
                    raise TypeError("a `when` answers True or False")
                if not met:
                    return None
            except Lost:
                failure = (
                    " Its `when` is Python code, which can't be asked again: it counts as met."
                )
            except Exception as error:  # its text may hold arguments, so only its kind is told
                failure = f" Its `when` failed ({type(error).__name__}), which counts as met."
        own = await self._described(seen)
        said = own.text if isinstance(own, Question) else own
        subject = f"The rule `{self.name}`" if self.name else "No rule matched; the default"
        reason = said or f"{subject} {_SAYS[self.kind]}."
        prefix = seen.prefix or self.prefix
        asks = self.kind == "review"
        question = own if asks and isinstance(own, Question) else None
        return Ruling(
            verdict=Verdict(kind=self.kind, rule=self.name, reason=reason + failure),
            description=said or prefix,
            text=self._text(said, prefix, seen.call) if asks else None,
            allowed_decisions=(question or self).allowed_decisions if asks else (),
            args_schema=_copy(self.args_schema),
            answer_schema=(question or self).answer_schema,
            extra=(question or self).extra,
            output=self.output,
            reject_reason=self.reject_reason,
            must_read=self.must_read,
            confirm=self.confirm,
            redact=self.redact,
            says_reviewers=self.says_reviewers,
            needs_requester=self.needs_requester,
            route=self.route,
            idempotent=self.idempotent,
            line=self.line,
            unsure=bool(failure),
            policy_schema=_copy(self.args_schema),
            trusts_tools=self.trusts_tools,
        )

    def _text(self, said: str | None, prefix: str, call: ToolCall) -> str | None:
        if self.dialect is None:
            return None
        text = whole(self.dialect, prefix, call) if said is None else said
        return None if text == (said or prefix) else text

    async def _described(self, seen: Seen) -> str | Question | None:
        if self.description is None or isinstance(self.description, str):
            return self.description
        try:
            found = await _waited(self.description(seen))
            if isinstance(found, Question):
                return found._replace(text=_storable(found.text))
            text = _storable(cast(str, found))
        except Exception:  # a review without its description is better than none
            return None
        return text if self.dialect else text.strip() or None


def _copy(schema: dict[str, Any] | None) -> dict[str, Any] | None:
    """Of its own, so that nobody changes the policy through a ruling. A third of what copy.deepcopy takes."""
    return None if schema is None else json.loads(json.dumps(schema))


def _storable(text: str) -> str:
    """Half a surrogate pair, from the arguments, could be neither stored nor shown."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


class _Turn:
    """One bare yield: an event loop comes back at once; who has none sees that it would have to wait."""

    def __await__(self) -> Generator[None]:
        yield


async def _waited(found: object) -> object:
    if not inspect.isawaitable(found):
        return found
    try:
        await _Turn()
    except GeneratorExit:
        if inspect.iscoroutine(found):
            found.close()
        raise
    return await found
