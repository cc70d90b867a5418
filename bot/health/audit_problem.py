"""Reports to the operators whether the audit can be sealed."""

from __future__ import annotations

from hitl_core.errors import safe_message

from .health import Health


def report_sealing(health: Health, error: Exception | None) -> None:
    """`error`: of the last try, or None. An unreachable Redis is no problem here: it makes the bot
    unready.
    """
    if error is None:
        health.resolve("store", "audit")
    else:
        health.report_error(
            "store",
            "audit",
            error,
            "The audit can't be sealed, so exports lack its new entries, and Redis keeps them:"
            f" {safe_message(error).rstrip('.')}. Look with “hitl audit verify”.",
        )
