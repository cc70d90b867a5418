"""Short texts about a review: its age, its people, who may decide, what it waits for. Pure."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import assert_never

from hitl_core.cli.terminal import DIM, GREEN, RED, YELLOW
from hitl_core.model import (
    CLI,
    DEFAULT_PLACE,
    Action,
    Call,
    Place,
    Review,
    Reviewer,
    Reviewers,
    Status,
    person_label,
)
from hitl_core.review import title_of
from hitl_core.sentences import quote

STATUS_COLOURS: dict[Status, str] = {
    "pending": YELLOW,
    "settled": GREEN,
    "claimed": GREEN,
    "done": DIM,
}
VERDICT_COLOURS = {"allow": GREEN, "review": YELLOW, "deny": RED}

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.:/#@-]+")
_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


def duration(seconds: float) -> str:
    """A duration in the format of a policy: `1h30m`."""
    rest, text = int(seconds), ""
    for unit, size in _UNITS:
        count, rest = divmod(rest, size)
        text += f"{count}{unit}" if count else ""
    return text


def age(seconds: float) -> str:
    """A duration in its largest unit: `3h`."""
    for unit, size in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return "0s"


def timestamp(at: float) -> str:
    """ISO 8601, in UTC."""
    return datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def time_text(at: float, now: float) -> str:
    """`2026-11-21T17:33:10Z (3m ago)`."""
    relative = f"{age(now - at)} ago" if at <= now else f"in {age(at - now)}"
    return f"{timestamp(at)} ({relative})"


def person_text(by: Reviewer) -> str:
    """Name and id, because only the id is unique: `“Ada” (slack T0ACME/U0ADA)`."""
    id = f"{by.channel} {by.team}/{by.id}"
    return f"{by.name} ({id})" if by.channel == CLI else person_label(by.name, id)


def agent_name(name: str) -> str:
    """A name or title that an agent chose: in quotation marks, unless it is a plain identifier."""
    return name if _PLAIN_NAME.fullmatch(name) else quote(name)


def place_text(where: Place) -> str:
    return "the bot's own channel (HITL_CHANNEL)" if where == DEFAULT_PLACE else where


def tools_text(names: Iterable[str]) -> str:
    """`send_email (2), run_sql`."""
    counts = Counter(names).items()
    return ", ".join(name if count == 1 else f"{name} ({count})" for name, count in counts)


def tool_name(review: Review, call: Call) -> str:
    """The tool that ran or will run; after an edit, the tool that the edit chose. If another system gave the
    action a title, it is that title in quotation marks.
    """
    action = review.action(call.key)
    if action is None or action.name != call.name:
        return call.name if action is None else action.name
    if action.request.title is None:
        return call.name
    title = title_of(review, action)
    return agent_name(title) if title else call.name


def tool_names(review: Review, calls: Iterable[Call]) -> str:
    """`send_email (2), run_sql`."""
    return tools_text(tool_name(review, call) for call in calls)


def heading(review: Review) -> str:
    """The agent, thread and requester of a review, shown above a question."""
    requester = f", for {agent_name(review.requester)}" if review.requester else ""
    return f"{review.id}: {review.agent}, thread {agent_name(review.thread_id)}{requester}"


def doubt_text(review: Review) -> str:
    """For a review with a call in doubt: what is not known, and the command that resolves it."""
    call = review.calls_in_doubt[0]
    command = f"hitl reviews resolve {review.id} {shlex.quote(call.tool_call_id)}"
    return (
        f"it is not known whether {tool_name(review, call)} ran. Find out, then run:"
        f" {command} ran (or rerun, or skip)"
    )


def open_actions(review: Review) -> tuple[Action, ...]:
    """The actions that people can still decide."""
    return () if review.cancelled else tuple(a for a in review.actions if a.is_pending)


def waiting_text(review: Review) -> str:
    """What needs a person: calls in doubt first, then the tools of open actions; else what its agent must do.
    "" for a review that is done.
    """
    doubts = tool_names(review, review.calls_in_doubt)
    parts = [f"in doubt: {doubts}"] if doubts else []
    open_keys = {action.key for action in open_actions(review)}
    if open_tools := tool_names(review, (call for call in review.calls if call.key in open_keys)):
        parts.append(open_tools)
    if review.cancelled:
        parts.append("cancelled")
    return "; ".join(parts) or _agent_text(review)


def _agent_text(review: Review) -> str:
    """What the agent must do with a review for which no person is needed."""
    if review.agent_problem is not None and review.status != "done":
        return "its agent can't go on"
    match review.status:
        case "settled":
            return "its agent must take it"
        case "claimed":
            return "its agent has it"
        case "pending" | "done":
            return ""
        case _:
            assert_never(review.status)


def describe_reviewers(reviewers: Reviewers) -> str:
    """Who may decide, and how many of them must."""
    named = [*reviewers.users, *reviewers.groups]
    if reviewers.channel_members or not reviewers.is_explicit:
        named.append("the members of the channel where it is shown")
    sentences = [", ".join(named)]
    if reviewers.quorum > 1:
        sentences.append(f"{reviewers.quorum} of them must approve")
    if reviewers.reject_quorum > 1:
        sentences.append(f"{reviewers.reject_quorum} must reject")
    if reviewers.exclude_requester:
        sentences.append("never the person who asked the agent")
    if reviewers.editor_approves is not (reviewers.quorum == 1):
        is_vote = "is" if reviewers.editor_approves else "is not"
        sentences.append(f"an edit {is_vote} an approval by its editor")
    return "; ".join(sentences)
