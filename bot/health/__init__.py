"""What operators see: problems, notices in the bot's channel, `/readyz`, `/metrics`, checks of places."""

from .audit_problem import report_sealing
from .delivery_problems import DeliveryProblems, delivery_subject
from .health import Health
from .loss_watch import LossWatch
from .notices import Notices
from .place_check import PlaceCheck
from .probes import PROBE_TIMEOUT, Probe, add_metrics, log_changes, make_probe, public_reason
from .readable_reviews import ReadableReviews

__all__ = [
    "PROBE_TIMEOUT",
    "DeliveryProblems",
    "Health",
    "LossWatch",
    "Notices",
    "PlaceCheck",
    "Probe",
    "ReadableReviews",
    "add_metrics",
    "delivery_subject",
    "log_changes",
    "make_probe",
    "public_reason",
    "report_sealing",
]
