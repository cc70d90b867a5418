"""The errors of the Connector and of Graph, with Teams' names."""

from __future__ import annotations

import json

from .json_checks import Json


class TeamsError(Exception):
    """An error as an answer: its HTTP status, its code, and the body."""

    def __init__(self, status: int, code: str, message: str, body: Json | None = None) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status, self.code = status, code
        self.body: Json = body or {"error": {"code": code, "message": message}}


def bad_request(message: str) -> TeamsError:
    return TeamsError(400, "BadSyntax", message)


def writes_blocked() -> TeamsError:
    """A person blocked or removed the bot. The body of this error has another format than all others.
    https://learn.microsoft.com/microsoftteams/platform/bots/how-to/conversations/send-proactive-messages
    """
    details: Json = {
        "subCode": "MessageWritesBlocked",
        "details": "Thread is blocked from message writes.",
        "errorCode": None,
        "errorSubCode": None,
    }
    body = {"errorCode": 209, "message": json.dumps(details, indent=2)}
    return TeamsError(403, "MessageWritesBlocked", details["details"], body)


def graph_denied() -> TeamsError:
    return TeamsError(
        403, "Authorization_RequestDenied", "Insufficient privileges to complete the operation."
    )
