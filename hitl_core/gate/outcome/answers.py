"""The tool messages for calls that must not run, one for each call. Pure.

A rejection uses the text of the review's dialect, so that a model gets the text that it knows: LangChain for
Python (1.3.18 and later), unless the policy or the interrupt came from another system.
"""

from __future__ import annotations

import json
from typing import Any, Literal, NamedTuple, assert_never, cast

from hitl_core.model import Action, Call, Decision, DialectName, JsonObject, Review, Run, Verdict
from hitl_core.review import runnable_calls

#: For a model whose call has bad arguments.
AGAIN = "Call it again with arguments that it takes."


class Answer(NamedTuple):
    """A tool message: give it to the model in place of the tool's result."""

    tool_call_id: str
    name: str
    content: str
    status: Literal["success", "error"]


def answers(review: Review) -> tuple[Answer, ...]:
    """One answer for every call that is not in `execute`, in the model's order."""
    running = (
        {call.key for call in runnable_calls(review)} if review.status != "done" else set[str]()
    )
    return tuple(_make_answer(review, call) for call in review.calls if call.key not in running)


def is_cancelled(review: Review, decision: Decision | None) -> bool:
    """Whether the cancellation replaces this decision. An earlier reject or ignore stays."""
    no = decision is not None and decision.type in ("reject", "ignore")
    return review.cancelled is not None and not no


def denial_text(name: str, verdict: Verdict) -> str:
    """The text for the model about a call that the policy denies."""
    if verdict.retry:
        return f"`{name}` was not executed. {verdict.reason} {AGAIN}"
    return (
        f"The policy doesn't allow `{name}`: {verdict.reason} The tool was not executed."
        " Do not retry this tool call."
    )


def _make_answer(review: Review, call: Call) -> Answer:
    content, status = _content_and_status(review, call)
    return Answer(call.tool_call_id, call.name, content, status)


def _content_and_status(review: Review, call: Call) -> tuple[str, Literal["success", "error"]]:
    if call.key in review.runs:
        return _run_content(review.tool_name(call), review.runs[call.key])
    if call.verdict.kind == "deny":
        return denial_text(call.name, call.verdict), "error"
    action = review.action(call.key)
    decision = action.decision if action else None
    if review.cancelled and is_cancelled(review, decision):
        reason = f" Reason: {review.cancelled.reason}" if review.cancelled.reason else ""
        return f"The tool call `{call.name}` was cancelled. It was not executed.{reason}", "error"
    if action is None:
        return f"`{call.name}` was not executed.", "error"
    if action.decision is None:
        return f"`{call.name}` was not decided. The tool was not executed.", "error"
    return _decision_content(call, action.decision, review.dialect)


def _decision_content(
    call: Call, decision: Decision, dialect: DialectName
) -> tuple[str, Literal["success", "error"]]:
    match decision.type:
        case "respond":
            return decision.message or "", "success"
        case "ignore":
            return f"The tool call `{call.name}` was skipped. The tool was not executed.", "error"
        case "reject" if decision.by is None and not decision.message:
            return (
                f"Nobody decided on the tool call for `{call.name}` in time. The tool was not executed."
                " Do not retry this tool call unless the user explicitly requests it."
            ), "error"
        case "reject":
            return _rejection_content(call, decision.message, dialect)
        case "approve" | "edit":
            return f"`{call.name}` was not executed.", "error"
    assert_never(decision.type)


def _rejection_content(
    call: Call, reason: str | None, dialect: DialectName
) -> tuple[str, Literal["success", "error"]]:
    match dialect:
        case "langchain" | "langchain_per_call" | "agent_inbox" | "arcgis":
            if reason:
                return (
                    f"User rejected the tool call for `{call.name}` with reason: {reason}",
                    "error",
                )
            return (
                f"User rejected the tool call for `{call.name}` with id {call.tool_call_id}. The tool was"
                " not executed. Do not retry this tool call unless the user explicitly requests it."
            ), "error"
        case "langchain_js" | "xpertai":
            bare = f"User rejected the tool call for `{call.name}` with id {call.tool_call_id}"
            return bare if reason is None else reason, "error"
        case "sagents":  # no error status, because Sagents would retry after an error
            because = f" Reason: {reason}" if reason else ""
            text = f"Tool call '{call.name}' was rejected by a human reviewer.{because}"
            return text, "success"
    assert_never(dialect)


def _run_content(name: str, run: Run) -> tuple[str, Literal["success", "error"]]:
    match run.state:
        case "done" if run.by is not None:
            return f"`{name}` ran; its result was lost. {run.by.label} confirmed it.", "success"
        case "done" if not run.line:
            return f"`{name}` ran.", "success"
        case "done":  # the line may also say that it was not executed
            return f"Result of `{name}`: {run.line}", "success"
        case "paused":
            return f"`{name}` asks a question of its own before it continues.", "success"
        case "skipped":
            return f"`{name}` was skipped: whether it ran before is not known.", "error"
        case "started" | "in_doubt" | "cleared":
            return f"Whether `{name}` ran is not known. Do not retry it.", "error"
    assert_never(run.state)


def replacement_calls(review: Review) -> dict[str, JsonObject]:
    """The edited calls, `{name, args}` by tool call id: LangChain's `hitl_edited_tool_calls`."""
    return {
        call.tool_call_id: {
            "name": review.tool_name(call),
            "args": review.arguments(call.key).parse(),
        }
        for call in review.calls
        if _is_edited(review.action(call.key))
    }


def state_update(review: Review) -> JsonObject:
    """The answers for the agent's state, by the keys in the policy; none if the review was cancelled."""
    if review.cancelled is not None:
        return {}
    return {
        action.config.output.key: action.decision.answer
        for action in review.actions
        if action.config.output and action.config.output.into == "state" and action.decision
    }


def add_edit_notice(review: Review, call_id: str, content: Any) -> Any:
    """The result of a call (a text or a list of content blocks), after a notice to the model that a person
    edited the call, with the edited name and arguments. The result is unchanged if the call was not edited,
    if the policy has no `edit_notice`, or if the notice is already there. The text is that of LangChain 1.4.2
    and later.
    """
    replacement = replacement_calls(review).get(call_id)
    if replacement is None or not review.edit_notice:
        return content
    args = json.dumps(replacement["args"], default=str)
    statement = (
        f"{review.edit_notice} Executed instead: {replacement['name']} with arguments {args}."
    )
    notice = f"{statement}\n\nTool response:" if content else statement
    if isinstance(content, str):
        return content if statement in content else f"{notice}\n{content}" if content else notice
    blocks = cast(list[Any], content)
    if any(statement in _text(block) for block in blocks):
        return blocks
    plain = bool(blocks) and all(isinstance(block, str) for block in blocks)
    return [notice if plain else {"type": "text", "text": notice}, *blocks]


def _text(block: Any) -> str:
    text = cast(JsonObject, block).get("text") if isinstance(block, dict) else block
    return text if isinstance(text, str) else ""


def _is_edited(action: Action | None) -> bool:
    return action is not None and action.decision is not None and action.decision.type == "edit"
