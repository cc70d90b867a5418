"""What a program tells its operators about reviews: log lines as JSON, and traces.

Neither ever contains arguments, tokens or the names of people.
"""

from hitl_core.telemetry.json_log import JsonFormatter
from hitl_core.telemetry.threads import RecentThreads, recent_threads

__all__ = ["JsonFormatter", "RecentThreads", "recent_threads"]
