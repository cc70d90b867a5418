"""One rule: which calls it matches, and its ruling on them."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self, cast

from hitl_core.model import DecisionType, DialectName, DisplayHint, Output, Route, ToolCall, Verdict
from hitl_core.policy.default_descriptions import default_description
from hitl_core.policy.ruling import Ruling
from hitl_core.policy.schemas import hides_parts, make_predicate

Kind = Literal["allow", "review", "deny"]
#: The allowed decisions of a rule without `allowed_decisions`.
DEFAULT_DECISIONS: tuple[DecisionType, ...] = ("approve", "edit", "reject")

_REASONS: dict[Kind, str] = {
    "allow": "allows it without asking",
    "review": "asks for a person",
    "deny": "denies it",
}


def plain_reason(rule: str | None, kind: Kind) -> str:
    """The reason of a verdict whose rule has no description. `rule`: its name; None for the default."""
    if rule:
        return f"The rule `{rule}` {_REASONS[kind]}."
    default = "" if kind == "review" else f" The default {_REASONS[kind]}."
    return f"No policy rule covers this tool.{default}"


class CallContext(NamedTuple):
    """The input of a rule.

    - `call`, `state`, `prefix`: the call, the agent's state if there is one, and the run's own prefix;
    - `shared`: the budget that all checks of this call share; see `make_predicate`;
    - `by_agent`: the rule comes from the run's context, which the agent wrote.
    """

    call: ToolCall
    shared: dict[str, Any]
    state: object = None
    prefix: str | None = None
    by_agent: bool = False


class Question(NamedTuple):
    """The result of a `description` that also says how a person may answer. `extra`: see ActionRequest."""

    text: str
    answer_schema: dict[str, Any] | None
    allowed_decisions: tuple[DecisionType, ...]
    extra: dict[str, Any] | None = None


#: A `when` or `description`. Its result may be awaitable, and it may raise.
RuleFunction = Callable[[CallContext], object]


@dataclass(frozen=True, slots=True, eq=False)
class SchemaWhen:
    """A `when` that is a JSON Schema for the arguments, with the function that checks it."""

    schema: dict[str, Any]
    meets: Callable[[dict[str, Any], dict[str, Any]], bool]

    @classmethod
    def from_schema(cls, schema: dict[str, Any]) -> Self:
        return cls(schema, make_predicate(schema))

    def __call__(self, context: CallContext) -> bool:
        return self.meets(context.call.args, context.shared)


class PredicateLost(Exception):
    """This `when` was Python code, which can't be stored in a review."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, weakref_slot=True)
class Rule:
    """`name` is a tool's name or a glob; None for the default. `says_reviewers`: the rule itself has
    `reviewers`; they are not inherited. `must_read`: None if the rule doesn't say it; it then counts as true.
    """

    name: str | None
    kind: Kind
    line: int | None
    prefix: str
    route: Route
    description: str | RuleFunction | None = None
    when: RuleFunction | None = None
    allowed_decisions: tuple[DecisionType, ...] = DEFAULT_DECISIONS
    args_schema: dict[str, Any] | None = None
    reject_reason: Literal["optional", "required"] = "optional"
    must_read: bool | None = None
    confirm: bool = False
    redact: tuple[str, ...] = ()
    display: tuple[DisplayHint, ...] = ()
    says_reviewers: bool = False
    needs_requester: bool = False
    idempotent: bool = False
    answer_schema: dict[str, Any] | None = None
    output: Output | None = None
    dialect: DialectName | None = None
    extra: dict[str, Any] | None = None
    trusts_tools: bool = False
    hide_when_decided: bool = False

    async def judge(self, context: CallContext) -> Ruling | None:
        """The ruling; None if `when` does not match. If `when` fails, or returns neither True nor False, it
        counts as a match, and the ruling is `unsure`.
        """
        matches, failure = await self._matches(context)
        if not matches:
            return None
        own = await self._describe(context)
        description = own.text if isinstance(own, Question) else own
        prefix = context.prefix or self.prefix
        asks = self.kind == "review"
        verdict = self._make_verdict(description, failure, context)
        question = own if asks and isinstance(own, Question) else None
        return Ruling(
            verdict=verdict,
            description=description or prefix,
            text=self._dialect_text(description, prefix, context.call) if asks else None,
            allowed_decisions=(question or self).allowed_decisions if asks else (),
            args_schema=_copy(self.args_schema),
            answer_schema=(question or self).answer_schema,
            extra=(question or self).extra,
            output=self.output,
            reject_reason=self.reject_reason,
            must_read=self.must_read,
            confirm=self.confirm,
            redact=self.redact,
            display=self.display,
            hide_when_decided=self.hide_when_decided,
            says_reviewers=self.says_reviewers,
            says_description=bool(description),
            needs_requester=self.needs_requester,
            route=self.route,
            idempotent=self.idempotent,
            line=self.line,
            unsure=failure,
            policy_schema=None if context.by_agent else _copy(self.args_schema),
            trusts_tools=self.trusts_tools,
            by_agent=context.by_agent if description else context.prefix is not None,
            computed=verdict.computed,
        )

    async def _matches(self, context: CallContext) -> tuple[bool, str]:
        """Whether `when` matches, and why it counts as a match although nothing says so ("" otherwise)."""
        if self.when is None:
            return True, ""
        try:
            met = await _wait_value(self.when(context))
            if not met and met is not False:
                raise TypeError("a `when` must return True or False")
        except PredicateLost:
            return (
                True,
                "Its `when` is Python code, which is not stored with a review: it counts as true.",
            )
        except Exception as error:  # its text may contain arguments, so only its type is shown
            return True, f"Its `when` failed ({type(error).__name__}) and counts as true."
        return bool(met), ""

    @property
    def can_hide(self) -> bool:
        """Whether the rule hides values, at least of some arguments."""
        return hides_parts(self.args_schema, self.redact)

    def _make_verdict(self, description: str | None, failure: str, context: CallContext) -> Verdict:
        reason = description or plain_reason(self.name, self.kind)
        return Verdict(
            kind=self.kind,
            rule=self.name,
            reason=f"{reason} {failure}" if failure else reason,
            by_agent=bool(description) and context.by_agent,
            computed=bool(description) and callable(self.description),
        )

    def _dialect_text(self, description: str | None, prefix: str, call: ToolCall) -> str | None:
        if self.dialect is None:
            return None
        text = (
            default_description(self.dialect, prefix, call) if description is None else description
        )
        return None if text == (description or prefix) else text

    async def _describe(self, context: CallContext) -> str | Question | None:
        if self.description is None or isinstance(self.description, str):
            return self.description
        try:
            result = await _wait_value(self.description(context))
            if isinstance(result, Question):
                return result._replace(text=_escape_surrogates(result.text))
            text = _escape_surrogates(cast(str, result))
        except Exception:  # a review without a description is better than no review
            return None
        return text if self.dialect else text.strip() or None


def _copy(schema: dict[str, Any] | None) -> dict[str, Any] | None:
    """A copy, so that a change of a ruling can't change the policy. Three times as fast as copy.deepcopy."""
    return None if schema is None else json.loads(json.dumps(schema))


def _escape_surrogates(text: str) -> str:
    """Replace half surrogate pairs of the arguments: they can't be stored or shown."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


class _YieldOnce:
    """Yields once. An event loop continues at once. `Policy.judge` has no loop, and learns that it must
    wait.
    """

    def __await__(self) -> Generator[None]:
        yield


async def _wait_value(value: object) -> object:
    if not inspect.isawaitable(value):
        return value
    try:
        await _YieldOnce()
    except GeneratorExit:
        if inspect.iscoroutine(value):
            value.close()
        raise
    return await value
