"""What every dialect promises about answers. A subclass provides interrupts, and reads answers as its system
does.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bot.api.interrupts import judge_interrupt
from bot.api.review_view import to_review_out
from bot.api.submissions import JudgedTurn
from bot.web.problems import ApiProblem
from hitl_core import dialects
from hitl_core.dialects.apply_policy import apply_policy
from hitl_core.errors import DialectError
from hitl_core.gate.submission.review_key import ReviewKey
from hitl_core.model import DECISION_TYPES, Action, DialectName, Review, encode
from hitl_core.policy import InvalidPolicy, Policy
from hitl_core.review import commands, decisions, escalation
from hitl_core.review.edits.proposal import Proposal
from tests.support.builders import START, person

Json = dict[str, Any]
#: The interrupt's tool, and the decisions of a deadline.
TOOL = "ask"
WORDS = st.sampled_from(["Nobody was there", "yes", "true", "a", "b", "text"])

_decisions = st.lists(st.sampled_from(DECISION_TYPES), min_size=1, max_size=5, unique=True)
_expiry = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {"after": st.just("1h"), "decision": st.sampled_from(["reject", "respond", "ignore"])},
        optional={"message": WORDS},
    ),
)
_rule = st.one_of(
    st.sampled_from(["deny", True]),
    st.fixed_dictionaries(
        {"allowed_decisions": _decisions, "expire": _expiry},
        optional={"reject_reason": st.just("required")},
    ),
)
_SETTINGS = settings(
    deadline=None,
    max_examples=80,
    suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow],
)
_policies = st.fixed_dictionaries(
    {"default": st.sampled_from(["review", "allow", "deny"])},
    optional={"interrupt_on": st.fixed_dictionaries({}, optional={"*": _rule}), "expire": _expiry},
)


class DialectContract:
    """Each interrupt has one action. An answer that its system reads as a yes is sent only if a person
    decided so."""

    dialect: ClassVar[DialectName]
    interrupts: ClassVar[st.SearchStrategy[Any]]

    def word(self, answer: Any) -> Json:
        """The part of an answer that is about the one action."""
        raise NotImplementedError

    def takes(self, interrupt: Any, word: Json) -> bool:
        """Whether the system would take this as an answer to this interrupt."""
        raise NotImplementedError

    def is_yes(self, interrupt: Any, word: Json) -> bool:
        """Whether its agent then runs what it asked about."""
        raise NotImplementedError

    def means_yes(self, interrupt: Any, word: Json, by: str) -> bool:
        """Whether this decision of a person means yes."""
        return by in ("approve", "edit")

    def goes_on(self, interrupt: Any, word: Json) -> bool:
        """Whether its agent continues with a yes or an answer."""
        return self.is_yes(interrupt, word)

    @_SETTINGS
    @given(data=st.data())
    def test_no_answer_and_a_no_are_never_a_yes(self, data: st.DataObject) -> None:
        """Given any interrupt under any policy; then it is refused at once, with a
        sentence, or each possible ending can be written in its dialect, and only a person's yes is read as a
        yes."""
        interrupt, policy = data.draw(self.interrupts), _policy(data.draw(_policies))
        review = submit(self.dialect, interrupt, policy)
        assume(review is not None)
        assert review is not None

        [action] = review.actions
        ends = ["cancel"] if action.is_pending else ["denied"]
        if action.is_pending:
            ends += action.config.allowed_decisions
            ends += ["deadline"] if action.route.expire else []
        end = data.draw(st.sampled_from(ends))
        answer = to_review_out(finish_by(review, end, data)).resume

        if answer is None:
            assert end == "cancel"
            return
        word = self.word(answer)
        assert self.takes(interrupt, word), word
        if self.is_yes(interrupt, word):
            assert self.means_yes(interrupt, word, end), (end, word)

    @_SETTINGS
    @given(data=st.data())
    def test_a_cancellation_after_a_decision_stops_the_agent(self, data: st.DataObject) -> None:
        """Given any decision of a person or the deadline, and a cancellation after
        it; then the interrupt has no answer, or one that stops its agent."""
        interrupt, policy = data.draw(self.interrupts), _policy(data.draw(_policies))
        review = submit(self.dialect, interrupt, policy)
        assume(review is not None and review.actions[0].is_pending)
        assert review is not None

        [action] = review.actions
        ends = [*action.config.allowed_decisions, *(["deadline"] if action.route.expire else [])]
        end = data.draw(st.sampled_from(ends))
        answer = to_review_out(finish_by(finish_by(review, end, data), "cancel", data)).resume

        if answer is not None:
            word = self.word(answer)
            assert self.takes(interrupt, word), word
            assert not self.goes_on(interrupt, word), (end, word)


def _policy(config: Json) -> Policy:
    rules = dict(config.get("interrupt_on", {}))
    config = {key: value for key, value in config.items() if value is not None}
    for name, rule in rules.items():
        if isinstance(rule, dict):
            rules[name] = {key: value for key, value in rule.items() if value is not None}
    try:
        return Policy.from_mapping({**config, "interrupt_on": rules})
    except InvalidPolicy:
        assume(False)
        raise


def submit(dialect: DialectName, interrupt: Any, policy: Policy) -> Review | None:
    """As the HTTP API does. None: it is refused."""
    asked = dialects.get(dialect).load_request(interrupt, "t")
    try:
        made = asyncio.run(apply_policy(policy, asked))
        judged = JudgedTurn(*judge_interrupt(made, asked))
    except (DialectError, ApiProblem):
        return None
    return judged.build(ReviewKey("a", "t", "m1", None), 1, START)[0]


def finish_by(review: Review, end: str, data: st.DataObject) -> Review:
    """Ends it, as people or time do."""
    [action] = review.actions
    match end:
        case "denied":
            return review
        case "cancel":
            return commands.cancel(review, None, "The user went on", START + 5).review
        case "deadline":
            return escalation.apply_due(review, START + 7200).review
        case _:
            proposal = _proposal(action, end, data)
            return decisions.decide(review, action.key, proposal, person("Ada"), START + 5).review


def _proposal(action: Action, kind: Any, data: st.DataObject) -> Proposal:
    required = action.config.reject_reason == "required" and kind == "reject"
    message = data.draw(WORDS if required or kind == "respond" else st.none() | WORDS)
    args = encode({"n": data.draw(st.integers(0, 9)), "new": 1}) if kind == "edit" else None
    answer = None
    if action.config.answer_schema is not None and kind in ("approve", "respond"):
        answer = data.draw(_answers(action.config.answer_schema))
        message = None
    return Proposal(kind, action.revision, message, args, answer=answer)


def _answers(schema: Json) -> st.SearchStrategy[Any]:
    options = schema.get("enum") or [each["const"] for each in schema.get("anyOf", [])]
    if options:
        return st.sampled_from(options)
    match schema.get("type"):
        case "array":
            return st.lists(_answers(schema["items"]), min_size=1, max_size=2, unique=True)
        case "boolean":
            return st.booleans()
        case _:
            return st.sampled_from(["text", *schema.get("examples", [])])
