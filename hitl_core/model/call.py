"""One call of a review, and how it ran."""

from __future__ import annotations

from typing import Literal

from hitl_core.model.decision import Reviewer, Verdict, Vote
from hitl_core.model.route import Escalation, Route
from hitl_core.model.value import Value


class Call(Value):
    """One tool call of the model. `key` is its position in the turn, starting with "1".

    - `redact`: JSON pointers to the hidden values, and `hide_when_decided` as in ReviewConfig, of a call that
      needs no person. An action has these in its `config`;
    - `hides_values`: some values of a revision of this call are hidden from people;
    - `reason`: why the agent wants this call, in the agent's own words.
    """

    key: str
    tool_call_id: str
    name: str
    args_hash: str
    verdict: Verdict
    route: Route
    idempotent: bool = False
    redact: tuple[str, ...] = ()
    hide_when_decided: bool = False
    hides_values: bool = False
    reason: str | None = None


class EarlierRejection(Value):
    """The call of the same tool in the same thread that people rejected before this one.

    - `times`: how many calls in a row they rejected, including that one;
    - `by`: the people who rejected it, the last one last; `message`: their reason;
    - `redact`: JSON pointers to what its rules hide, in its arguments and in those of the new call. Its
      arguments are stored as revision 0 of the new action.
    """

    review_id: str
    key: str
    times: int
    by: tuple[Reviewer, ...]
    at: float
    message: str | None = None
    redact: tuple[str, ...] = ()


#: `started`: `once` returned True. `paused`: it has started and asks a question of its own before it
#: continues. `done`: its result was reported, or a person said that it ran. `in_doubt`: its process died
#: after `started`. `cleared`: it may start again, because a person said so or the call is idempotent.
#: `skipped`: the agent continues without it, because a person (`by`) said so, or by its own choice.
RunState = Literal["started", "paused", "done", "in_doubt", "cleared", "skipped"]


class Run(Value):
    """The state of a call that was allowed to run.

    - `attempt`: counts the starts; `rerun_by`: who ordered this attempt after one in doubt;
    - `line`: the result in one line, as people may read it; `result_hash`: the SHA-256 of all of it.

    For a call in doubt:

    - `by`: who gave the last answer; `votes`: all answers about this attempt, if several are needed;
    - `escalations`: to the fallback; `reminded`: when reminders were sent.
    """

    state: RunState
    attempt: int
    at: float
    line: str | None = None
    result_hash: str | None = None
    by: Reviewer | None = None
    votes: tuple[Vote, ...] = ()
    escalations: tuple[Escalation, ...] = ()
    reminded: tuple[float, ...] = ()
    rerun_by: Reviewer | None = None

    @property
    def answered_by(self) -> Reviewer | None:
        """The person who gave the last answer about this attempt, or about the one before."""
        return self.by or self.rerun_by


class AgentProblem(Value):
    """Why its agent can't go on with a decided review. The agent tries again. `since` is when this began."""

    why: str
    since: float
