"""Who may decide, how many, and what they must have seen: keys, defaults and errors."""

from __future__ import annotations

from typing import Any

import pytest

from hitl_core.model import Place, Reviewers, Route, Step
from hitl_core.policy import InvalidPolicy, Policy, Ruling
from tests.support.builders import call


def policy(**said: Any) -> Policy:
    return Policy.from_mapping({"default": "deny", **said})


def ruling(rule: dict[str, Any] | bool, **top: Any) -> Ruling:
    return policy(interrupt_on={"run": rule}, **top).judge(call("run"))


def problems(rule: dict[str, Any], **top: Any) -> list[str]:
    with pytest.raises(InvalidPolicy) as caught:
        policy(interrupt_on={"run": rule}, **top)
    return [f"{p.path}: {p.message}" for p in caught.value.problems]


# ------------------------------------------------------------------------ what is read


def test_all_of_it():
    people = {
        "users": ["U1", "W2"],
        "groups": ["S1"],
        "channel_members": True,
        "quorum": 3,
        "reject_quorum": 2,
        "exclude_requester": False,
        "editor_approves": True,
    }
    made = ruling(
        {
            "reviewers": people,
            "notify": ["slack:#ops", "slack:U1", "slack:S1", "origin"],
            "escalate": [
                {"after": "10m", "to": "slack:#a", "reviewers": {"groups": ["S2"]}},
                {"after": "20m", "to": "slack:U9"},
            ],
            "remind": "15m",
            "clock": "delivered",
            "fallback": "slack:#it",
            "must_read": True,
            "confirm": True,
            "redact": ["/token", "/a~1b/0"],
        }
    )
    assert made.route == Route(
        notify=(Place("slack:#ops"), Place("slack:U1"), Place("slack:S1"), Place("origin")),
        reviewers=Reviewers(
            users=("U1", "W2"),
            groups=("S1",),
            channel_members=True,
            quorum=3,
            reject_quorum=2,
            exclude_requester=False,
            editor_approves=True,
        ),
        escalate=(
            Step(after=600, to=Place("slack:#a"), reviewers=Reviewers(groups=("S2",))),
            Step(after=1200, to=Place("slack:U9")),
        ),
        remind=900,
        clock="delivered",
        fallback=Place("slack:#it"),
    )
    assert (made.must_read, made.confirm, made.redact) == (True, True, ("/token", "/a~1b/0"))


@pytest.mark.parametrize(("quorum", "others"), [(1, False), (2, True), (5, True)])
def test_with_a_quorum_requester_and_editor_do_not_count(quorum: int, others: bool):
    made = ruling({"reviewers": {"channel_members": True, "quorum": quorum}}).route.reviewers
    assert (made.exclude_requester, made.editor_approves) == (others, not others)


def test_without_reviewers_one_member_decides():
    made = ruling(True)
    assert made.route.reviewers == Reviewers()
    assert not made.route.reviewers.is_explicit
    assert (made.needs_reading, made.confirm, made.redact) == (True, False, ())


def test_a_default_holds_for_every_rule_that_says_nothing():
    top: dict[str, Any] = {
        "reviewers": {"users": ["U1", "U2"], "quorum": 2},
        "remind": "1h",
        "clock": "delivered",
        "fallback": "slack:#it",
    }
    for rule in (True, {"description": "x"}):
        made = ruling(rule, **top).route
        assert (made.reviewers.users, made.reviewers.quorum) == (("U1", "U2"), 2)
        assert (made.remind, made.clock, made.fallback) == (3600, "delivered", "slack:#it")
    own = ruling({"reviewers": {"groups": ["S1"]}, "clock": "submitted"}, **top).route
    assert own.reviewers == Reviewers(groups=("S1",))
    assert (own.remind, own.clock) == (3600, "submitted")


@pytest.mark.parametrize(
    ("rule", "top", "needs"),
    [
        ({"exclude_requester": True}, {}, True),
        ({"quorum": 2}, {}, False),
        ({"exclude_requester": False}, {}, False),
        (None, {"exclude_requester": True}, True),
        ({"quorum": 2}, {"exclude_requester": True}, False),
    ],
)
def test_excluding_the_requester_needs_a_known_requester(
    rule: dict[str, Any] | None, top: dict[str, Any], needs: bool
):
    """If the rule says so itself, not only by default."""
    members = {"channel_members": True}
    above: Any = {"reviewers": {**members, **top}} if top else {}
    own: Any = True if rule is None else {"reviewers": {**members, **rule}}
    assert ruling(own, **above).needs_requester is needs


# ------------------------------------------------------------------------ what is refused

NOBODY = "This names nobody: add `users`, `groups` or `channel_members: true`."
NUMBER = "This must be a whole number from 1 to 100, not"


@pytest.mark.parametrize(
    ("reviewers", "text"),
    [
        ("U1", ": This must be a mapping, not `U1`."),
        ({}, f": {NOBODY}"),
        ({"quorum": 2}, f": {NOBODY}"),
        ({"users": [], "groups": []}, f": {NOBODY}"),
        ({"channel_members": False}, f": {NOBODY}"),
        ({"users": "U1"}, ".users: This must be a list such as [U0123ABCD], not `U1`."),
        (
            {"users": ["@ada"]},
            ".users[0]: `@ada` is not the id of a Slack user, such as `U0123ABCD`.",
        ),
        ({"users": ["S1"]}, ".users[0]: `S1` is not the id of a Slack user, such as `U0123ABCD`."),
        (
            {"users": ["u0123"]},
            ".users[0]: `u0123` is not the id of a Slack user, such as `U0123ABCD`.",
        ),
        ({"users": [7]}, ".users[0]: 7 is not the id of a Slack user, such as `U0123ABCD`."),
        ({"users": ["U1", "U1"]}, ".users[1]: `U1` appears twice: remove one."),
        (
            {"groups": ["U1"]},
            ".groups[0]: `U1` is not the id of a Slack user group, such as `S0123ABCD`.",
        ),
        (
            {"channel_members": "yes"},
            ".channel_members: This must be true or false, not `yes`.",
        ),
        ({"users": ["U1"], "quorum": 0}, f".quorum: {NUMBER} 0."),
        ({"users": ["U1"], "quorum": True}, f".quorum: {NUMBER} true."),
        ({"users": ["U1"], "quorum": 1.0}, f".quorum: {NUMBER} 1.0."),
        ({"users": ["U1"], "reject_quorum": 101}, f".reject_quorum: {NUMBER} 101."),
        (
            {"users": ["U1"], "quorum": 2},
            ": The `quorum` can never be reached: it is larger than the number of people who may decide.",
        ),
        (
            {"users": ["U1", "U2"], "reject_quorum": 3},
            (
                ": The `reject_quorum` can never be reached: it is larger than the number of people who may"
                " decide."
            ),
        ),
        (
            {"user": ["U1"], "groups": ["S1"]},
            ".user: `user` is not allowed here. Did you mean `users`?",
        ),
        (
            {"users": ["U1"], "excludeRequester": True},
            (
                ".excludeRequester: `excludeRequester` is the spelling of another system; write"
                " `exclude_requester`."
            ),
        ),
    ],
)
def test_what_is_wrong_with_reviewers(reviewers: Any, text: str):
    assert problems({"reviewers": reviewers}) == [f"interrupt_on.run.reviewers{text}"]


def test_a_person_of_teams_in_capitals_is_the_same_person():
    guid = "8f3c5e0a-1c1f-4d1e-9a53-0d6f0f2f7b11"
    (problem,) = problems({"reviewers": {"users": [f"teams:{guid}", f"teams:{guid.upper()}"]}})
    assert problem.endswith("appears twice: remove one.")


@pytest.mark.parametrize(
    "more",
    [
        {"escalate": [{"after": "1m", "to": "slack:#a"}]},
        {"fallback": "slack:#it"},
    ],
)
def test_a_quorum_may_be_met_by_people_after_an_escalation(more: dict[str, Any]):
    assert ruling({"reviewers": {"users": ["U1"], "quorum": 2}, **more}).route.reviewers.quorum == 2


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"remind": 15}, "remind: 15 has no unit: write `90s`, `10m`, `1h30m` or `2d`."),
        ({"remind": "0m"}, "remind: A duration must be from `1s` to `365d`, not `0m`."),
        ({"clock": "deliverd"}, "clock: This must be `submitted` or `delivered`, not `deliverd`."),
        (
            {"fallback": "origin"},
            "fallback: `origin` is not a place: write one such as `slack:#team-ops`",
        ),
        (
            {"fallback": "slack:#a", "notify": "slack:#a"},
            "fallback: The review is already shown in `slack:#a`: use another place as `fallback`.",
        ),
        (
            {"escalate": [{"after": "1m", "to": "origin"}]},
            "escalate[0].to: `origin` is not a place",
        ),
        (
            {"escalate": [{"after": "1m", "to": "slack:#a", "reviewers": {"quorum": 2}}]},
            "escalate[0].reviewers.quorum: `quorum` is not allowed here.",
        ),
        ({"notify": ["origin", "origin"]}, "notify: `origin` appears twice: remove one."),
        ({"must_read": "yes"}, "must_read: This must be true or false, not `yes`."),
        ({"confirm": 1}, "confirm: This must be true or false, not 1."),
        ({"redact": "/token"}, "redact: This must be a list such as [/card/number], not `/token`."),
        ({"redact": []}, "redact: This list is empty"),
        (
            {"redact": ["token"]},
            "redact[0]: `token` is not a JSON pointer: write one such as `/token`",
        ),
        ({"redact": [""]}, "redact[0]: `` is not a JSON pointer"),
        ({"redact": ["/a~2"]}, "redact[0]: `/a~2` is not a JSON pointer"),
        (
            {"redact": ["/cards/*/number"]},
            "redact[0]: `/cards/*/number` hides nothing in the items of a list: a JSON pointer has",
        ),
        ({"redact": ["/cards/-"]}, "redact[0]: `/cards/-` hides nothing in the items of a list"),
        ({"redact": ["/cards/**"]}, "redact[0]: `/cards/**` hides nothing in the items of a list"),
        (
            {"redact": ["/cards[*]/number"]},
            "redact[0]: `/cards[*]/number` hides nothing in the items",
        ),
        ({"redact": [1]}, "redact[0]: This must be text, not 1."),
        ({"redact": ["/a", "/a"]}, "redact[1]: `/a` appears twice: remove one."),
        (
            {
                "allowed_decisions": ["edit", "reject"],
                "reviewers": {"channel_members": True, "quorum": 2},
            },
            "reviewers: Other people must approve an edit here, so add `approve` to `allowed_decisions`.",
        ),
        (
            {
                "allowed_decisions": ["approve", "reject"],
                "answer_schema": {"type": "string"},
                "reviewers": {"channel_members": True, "quorum": 2},
            },
            "reviewers: The tool runs with the answer of one person, so the `quorum` must be 1.",
        ),
    ],
)
def test_what_is_wrong_with_the_other_keys(rule: dict[str, Any], message: str):
    found = problems(rule)
    assert [each.startswith(f"interrupt_on.run.{message}") for each in found][:1] == [True], found


def test_an_inherited_quorum_is_checked_where_it_holds():
    top = {"reviewers": {"channel_members": True, "quorum": 2}}
    (found,) = problems({"allowed_decisions": ["edit", "reject"]}, **top)
    assert found.startswith("interrupt_on.run.allowed_decisions: Other people must approve an edit")


# ------------------------------------------------------------------------ two rulings become one


def both(rule: dict[str, Any] | bool, context: Any, **top: Any) -> Ruling:
    run = {"interrupt_on": {"run": context}}
    return policy(interrupt_on={"run": rule}, **top).for_run(run).judge(call("run"))


def members(**more: Any) -> dict[str, Any]:
    return {"reviewers": {"channel_members": True, **more}}


def test_a_context_only_tightens():
    """T46: More people, no requester, no editor, all read; who they are stays the policy's."""
    rule = {**members(quorum=2, reject_quorum=2, editor_approves=True), "redact": ["/a"]}
    run = {
        "reviewers": {"users": ["U9"], "groups": ["S9"], "quorum": 3},
        "must_read": True,
        "confirm": True,
    }
    made = both(rule, run)
    assert made.route.reviewers == Reviewers(
        channel_members=True,
        quorum=3,
        reject_quorum=1,
        exclude_requester=True,
        editor_approves=False,
    )
    assert (made.must_read, made.confirm, made.redact) == (True, True, ("/a",))


def test_a_context_loosens_nothing():
    """T46."""
    rule = {**members(quorum=2, exclude_requester=True), "must_read": True, "confirm": True}
    made = both(rule, members(exclude_requester=False, reject_quorum=9))
    alone = ruling(rule)
    assert made.route == alone.route
    assert (made.must_read, made.confirm, made.needs_requester) == (True, True, True)


def test_a_context_without_reviewers_changes_no_reviewers():
    """Also where the policy's default asks for more than the rule: that the context didn't say."""
    top = members(quorum=3)
    assert both(members(), True, **top).route.reviewers.quorum == 1
    assert both(members(), {"confirm": True}, **top).route.reviewers.quorum == 1


def test_a_context_may_ask_people_about_what_the_policy_allows():
    made = both(False, {**members(quorum=2), "confirm": True})
    assert made.verdict.kind == "review"
    assert (made.route.reviewers.quorum, made.confirm) == (2, True)


def test_rules_that_can_not_both_be_met_deny():
    """Rather than asked without end."""
    made = both({"reviewers": {"users": ["U1"]}}, members(quorum=2))
    assert (made.verdict.kind, made.allowed_decisions) == ("deny", ())
    assert (
        "The `quorum` of the policy and the context is larger than the number of reviewers."
        in made.verdict.reason
    )


def test_an_edit_that_nobody_could_approve_is_not_offered():
    made = both(members(quorum=2), {"allowed_decisions": ["edit", "reject"]})
    assert made.allowed_decisions == ("reject",)


def _fails(args: object) -> bool:
    raise ValueError


@pytest.mark.parametrize(
    ("one", "other", "kind", "quorum"),
    [
        (members(quorum=2), members(quorum=3), "review", 3),
        (members(quorum=3), {}, "review", 3),
        (members(quorum=2), {"reviewers": {"groups": ["S1"]}}, "deny", 2),
    ],
)
def test_if_the_rule_is_unknown_both_rules_must_be_met(
    one: dict[str, Any], other: dict[str, Any], kind: str, quorum: int
):
    """A caller that makes a `when` fail gains nothing, not even other reviewers."""
    rules = {"run": {**one, "when": _fails, "redact": ["/a"]}, "r*": {**other, "confirm": True}}
    made = policy(interrupt_on=rules).judge(call("run"))
    assert (made.verdict.kind, made.route.reviewers.quorum) == (kind, quorum) or kind == "deny"
    assert made.verdict.kind == kind
    if kind == "review":
        assert (made.confirm, set(made.redact)) == (True, {"/a"})


def test_a_place_of_another_channel_is_a_place() -> None:
    """Given places and people of channels that the agent's process does not know; then they stay as they
    are."""
    route = {
        "notify": ["text:r-orders", "teams:19:abc@thread.tacv2"],
        "escalate": [{"after": "10m", "to": "text:#ops"}],
        "fallback": "teams:Ops",
    }
    rule = Policy.from_mapping({"default": "review", **route}).default.route
    assert rule.notify == (Place("text:r-orders"), Place("teams:19:abc@thread.tacv2"))
    assert (rule.escalate[0].to, rule.fallback) == (Place("text:#ops"), Place("teams:Ops"))
    people = {"users": ["U1", "text:p-ada"], "groups": ["text:g-ops"]}
    reviewers = Policy.from_mapping(
        {"default": "review", "reviewers": people}
    ).default.route.reviewers
    assert (reviewers.users, reviewers.groups) == (("U1", "text:p-ada"), ("text:g-ops",))
