"""What operators see: problems, notices in the bot's channel, `/readyz`, `/metrics`, the checks of places."""

from .delivery_problems import DeliveryProblems
from .health import Health
from .metrics import add_metrics
from .notices import Notices
from .place_check import PlaceCheck
from .readiness import PROBE_TIMEOUT, Probe, log_changes, make_probe, public_reason

__all__ = [
    "PROBE_TIMEOUT",
    "DeliveryProblems",
    "Health",
    "Notices",
    "PlaceCheck",
    "Probe",
    "add_metrics",
    "log_changes",
    "make_probe",
    "public_reason",
]
