"""Finds the calls that may be asking, when a pause is inside a call: a tool asks its own question, or runs an
agent that pauses.

LangGraph doesn't say which call of the AI message asks, so all calls that may be asking count together. Their
people answer the question (`ask_like_calls`). If one of these calls has a hidden value, people read nothing
of the question's own words: its name, its arguments and their keys, its ids. A stand-in is reviewed in place
of the question.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hitl_core.errors import IntegrationError
from hitl_core.gate import JudgedCalls
from hitl_core.integrations.langgraph.graph import AgentTools
from hitl_core.integrations.langgraph.pauses.calls_around import CallsAround, OpenCalls
from hitl_core.jsonschema import ProtectedPaths
from hitl_core.model import Action, Arguments, Place, Review, ReviewConfig, ToolCall, encode
from hitl_core.policy import CallTerms, Policy, Ruling, ask_like_calls, combine_schemas
from hitl_core.review import find_pointers, redaction_pointers

#: The only argument of a stand-in.
_KEY = "question"
_SUFFIX = ".question"
_MAX_NAME = 128
_DESCRIPTION = (
    "`{tool}` asks a question while it runs. Its words are not shown: the call hides values."
)


class AskingCalls(NamedTuple):
    """What the calls around a pause mean for its question.

    - `tool`: the tool that asks; "call" if it may be one of several;
    - `terms`: the terms of the nearest calls that people decide about;
    - `hides`: a value of these calls, or of a call beside them, is hidden;
    - `shown`: pointers to the hidden values of each call, by its tool and the hash of its arguments;
    - `review`: the review of the calls in `terms`; None if they have none.
    """

    tool: str
    terms: tuple[CallTerms, ...]
    hides: bool
    shown: Mapping[tuple[str, str], tuple[str, ...]]
    review: Review | None

    def tighten(self, judged: JudgedCalls, policy: Policy, origin: Place | None) -> JudgedCalls:
        """The question's calls, with rulings that ask the people of the calls that may be asking."""
        default = policy.default.route.resolve_origin(origin)
        rulings = [
            ask_like_calls(
                ruling._replace(route=ruling.route.resolve_origin(origin)), self.terms, default
            )
            for ruling in judged.rulings
        ]
        return judged._replace(rulings=rulings)

    def withhold(self, judged: JudgedCalls, path: tuple[str, ...]) -> JudgedCalls:
        """The question's calls with our own ids; if values are hidden, with stand-ins. A question about the
        asking call itself needs no stand-in: its card showed the same. Raises IntegrationError.
        """
        calls = [replace(each, id=f"{_KEY}:{n}") for n, each in enumerate(judged.calls, start=1)]
        if not self.hides:
            return judged._replace(calls=calls)
        pairs = [
            self._withhold_call(call, ruling)
            for call, ruling in zip(calls, judged.rulings, strict=True)
        ]
        return judged._replace(
            calls=[call for call, _ in pairs],
            rulings=[ruling for _, ruling in pairs],
            path=path,
            tools={},
            edit_notice=None,
            withholds_texts=True,
            kept_policy=None
            if all(_is_stand_in(call) for call, _ in pairs)
            else judged.kept_policy,
        )

    def _withhold_call(self, call: ToolCall, ruling: Ruling) -> tuple[ToolCall, Ruling]:
        pointers = self.shown.get((call.name, encode(call.args).hash))
        if pointers is not None:
            return call, ruling._replace(redact=tuple(dict.fromkeys((*ruling.redact, *pointers))))
        name = self.tool[: _MAX_NAME - len(_SUFFIX)] + _SUFFIX
        allowed = tuple(kind for kind in ruling.allowed_decisions if kind != "edit")
        if ruling.allowed_decisions and not allowed:
            raise IntegrationError(
                f"`{self.tool}` asks a question that can only be edited, but its values are hidden, because"
                f" the policy hides values of `{self.tool}`. Let the question accept an approval or an"
                " answer."
            )
        hidden = ruling._replace(
            allowed_decisions=allowed,
            redact=(f"/{_KEY}",),
            args_schema=None,
            policy_schema=None,
            hiding_schema=None,
            display=(),
            description=_DESCRIPTION.format(tool=self.tool),
            by_agent=False,
            computed=False,
            text=None,
            title=None,
            interrupt_id=None,
            extra=None,
        )
        return replace(call, name=name, args={_KEY: call.args}), hidden


async def read_asking_calls(
    levels: Sequence[CallsAround],
    load_review: Callable[[OpenCalls], Awaitable[Review | None]],
    policy: Policy,
    tools: AgentTools,
) -> AskingCalls | None:
    """What the calls around a pause mean for it; None if there are none. `levels`: the innermost first.
    Raises what `load_review` raises, and InvalidToolCall (see `AgentTools.hiding_schema`).
    """
    asking: AskingCalls | None = None
    for level in levels:
        if isinstance(level, OpenCalls):
            around = await _read_level(level, await load_review(level), policy, tools)
        elif level.may_hide(policy, tools):
            around = AskingCalls("call", (), True, {}, None)
        else:
            continue
        asking = around if asking is None else _add(asking, around)
    return asking


def _add(inner: AskingCalls, around: AskingCalls) -> AskingCalls:
    """Add an outer level. The people are those of the nearest reviewed calls; all hidden values count."""
    nearest = inner if inner.terms else around
    return nearest._replace(
        tool=inner.tool, hides=inner.hides or around.hides, shown={**around.shown, **inner.shown}
    )


async def _read_level(
    level: OpenCalls, review: Review | None, policy: Policy, tools: AgentTools
) -> AskingCalls:
    terms: list[CallTerms] = []
    shown: dict[tuple[str, str], tuple[str, ...]] = {}
    hides = review is not None and review.hides_values
    for call in level.calls():
        action = _find_action(review, call.id)
        if review is not None and action is not None:
            configs = (action.config, *(earlier.config for earlier in action.earlier))
            hides = hides or any(map(_can_hide, configs))
            if _may_ask(review, action):
                args = review.arguments(action.key)
                shown[action.name, args.hash] = redaction_pointers(action, args.parse())
                terms.append(_terms_of_action(action))
            continue
        ruling = await policy.judge_async(call, level.state)
        if ruling.trusts_tools:
            schema = tools.hiding_schema(call.name, level.path)
            ruling = ruling._replace(hiding_schema=combine_schemas(ruling.hiding_schema, schema))
        hides = hides or _can_hide(ruling)
        shown[call.name, encode(call.args).hash] = find_pointers(ruling, call.args)
        if ruling.verdict.kind == "review" and review is None:
            terms.append(_terms_of_ruling(call.name, ruling))
    names = {name for name, _ in shown}
    tool = names.pop() if len(names) == 1 else "call"
    return AskingCalls(tool, tuple(terms), hides, shown, review if terms else None)


def restore_args(view: Review, stored: Review) -> dict[str, Arguments]:
    """The arguments of a review for `view`, the agent's view of it: a stand-in's arguments are replaced by
    the question's. Raises IntegrationError if the question is not the one that people decided.
    """
    args = {**view.args, **stored.args}
    for call in view.calls:
        kept, own = stored.call(call.key), view.arguments(call.key, 1)
        if kept is None or kept.args_hash == own.hash:
            continue
        if kept.args_hash == encode({_KEY: own.parse()}).hash:
            args[f"{call.key}:1"] = own
        elif kept.name != call.name:
            raise IntegrationError("The agent's question is not the one that people decided.")
    return args


def _is_stand_in(call: ToolCall) -> bool:
    return call.name.endswith(_SUFFIX) and call.args.keys() == {_KEY}


def _can_hide(hiding: Ruling | ReviewConfig) -> bool:
    """Whether the rule can hide a value, in these or in other arguments."""
    schemas = filter(None, (hiding.policy_schema, hiding.hiding_schema))
    parts = (ProtectedPaths(schema, {}, ()).has_hidden_parts for schema in schemas)
    return bool(hiding.redact) or any(parts)


def _find_action(review: Review | None, call_id: str) -> Action | None:
    actions = review.actions if review is not None else ()
    return next((each for each in actions if each.request.tool_call_id == call_id), None)


def _may_ask(review: Review, action: Action) -> bool:
    """Whether people let this call run, and it has not ended."""
    run, decision = review.runs.get(action.key), action.decision
    ended = run is not None and run.state in ("done", "skipped")
    return decision is not None and decision.type in ("approve", "edit") and not ended


def _terms_of_action(action: Action) -> CallTerms:
    config = action.config
    return CallTerms(
        action.name, action.route, config.must_read, config.confirm, config.hide_when_decided
    )


def _terms_of_ruling(tool: str, ruling: Ruling) -> CallTerms:
    return CallTerms(
        tool,
        ruling.route,
        ruling.needs_reading,
        ruling.confirm,
        ruling.hide_when_decided,
        ruling.needs_requester,
    )
