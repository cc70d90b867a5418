"""What Slack may answer to a look-up of people, other than a documented no."""

from __future__ import annotations

import json
from typing import Any

from hitl_core.model import Reviewer
from slack_sandbox.sandbox import Sandbox

#: Every method by which the bot looks up who may decide, with the errors that mean "there is no such one".
METHODS = {
    "users.info": {"user_not_found"},
    "usergroups.users.list": {"no_such_subteam"},
    "conversations.members": set[str](),
}
#: What Slack documents for these methods, common to all and each one's own, and what it does not.
ERRORS = [
    "access_denied",
    "account_inactive",
    "channel_not_found",
    "ekm_access_denied",
    "enterprise_is_restricted",
    "fatal_error",
    "fetch_members_failed",
    "internal_error",
    "invalid_arguments",
    "invalid_auth",
    "invalid_cursor",
    "is_archived",
    "limit_required",
    "missing_scope",
    "no_permission",
    "no_such_subteam",
    "not_allowed_token_type",
    "org_login_required",
    "plan_upgrade_required",
    "ratelimited",
    "request_timeout",
    "service_unavailable",
    "some_new_error",
    "subteam_not_found",
    "team_access_not_granted",
    "team_added_to_org",
    "token_revoked",
    "two_factor_setup_required",
    "unknown_method",
    "user_not_found",
    "user_not_visible",
    "users_not_found",
]
#: Answers that say neither yes nor no, by status and body.
UNREADABLE = [
    *(
        (200, body)
        for body in ("", "hello", "{", "null", "[]", "1", '{"ok": true}', '{"ok": "yes"}')
    ),
    *(
        (200, json.dumps({"ok": True, **wrong}))
        for wrong in (
            {"user": None, "users": None, "members": None},
            {"user": [], "users": {}, "members": "U0DANA"},
            {"user": {}, "users": [1], "members": [None]},
            {"user": {"id": "U0BOB"}, "users": "U0BOB", "members": [{}]},
            {"user": {"deleted": "no", "is_bot": False, "team_id": "T0ACME"}},
            {"user": {"deleted": False, "is_bot": False, "team_id": "T0ACME"}},
            {"user": {"deleted": False, "is_bot": 0, "team_id": "T0ACME"}},
            {"user": {"deleted": False, "is_bot": False}, "members": []} | {"response_metadata": 3},
            # a part of the list
            {"user": {}, "users": ["U0GONE"], "members": [None]}
            | {"response_metadata": {"next_cursor": "x"}},
        )
    ),
    # only `true` is a yes
    *(
        (200, json.dumps({"ok": ok, "user": {}, "users": [], "members": []}))
        for ok in ("true", 1, "no", [1], {"a": 1})
    ),
    # not parseable
    (200, '{"ok": true, "user": ' + "[" * 100_000),
    (200, '{"ok": true, "user": ' + "9" * 6000 + "}"),
    (429, ""),
    (500, "oops"),
    (502, "{"),
    (503, json.dumps({"ok": True, "user": {}, "users": [], "members": []})),
    (404, json.dumps({"ok": False})),
]


def refusal(error: str, **more: Any) -> tuple[int, str]:
    return 200, json.dumps({"ok": False, "error": error, **more})


def person(id: str) -> Reviewer:
    return Reviewer(channel="slack", team="T0ACME", id=id, name=id)


def answers(method: str) -> list[tuple[int, str]]:
    errors = [error for error in ERRORS if error not in METHODS[method]]
    return [*(refusal(error, needed="users:read") for error in errors), *UNREADABLE]


def fail(sandbox: Sandbox, method: str, answer: tuple[int, str]) -> None:
    status, body = answer
    sandbox.faults.configure({"mode": "answer", "method": method, "status": status, "body": body})
