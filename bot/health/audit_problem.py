"""Whether the audit can be sealed, for the operators."""

from __future__ import annotations

from hitl_core.errors import HitlError, StoreUnavailable, safe_message

from .health import Health


def report_sealing(health: Health, error: HitlError | None) -> None:
    """The error of the last try, or None. That Redis is away makes the bot unready anyway."""
    if error is None:
        health.resolve("store", "audit")
    elif not isinstance(error, StoreUnavailable):
        health.report(
            "store",
            "audit",
            "The audit can't be sealed, so exports lack its new entries, and Redis keeps them:"
            f" {safe_message(error).rstrip('.')}. Look with `hitl audit verify`.",
        )
