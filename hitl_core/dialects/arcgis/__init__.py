"""ArcGIS AI components: each question is of one of four kinds, and a payload answers it.

https://developers.arcgis.com/javascript/latest/
"""

from hitl_core.dialects.arcgis.interrupts import (
    INTERRUPT_KEYS,
    RESPONSE_KEYS,
    ArcGIS,
    dialect,
    is_partial,
    payload,
)
from hitl_core.dialects.arcgis.question import KINDS

__all__ = [
    "INTERRUPT_KEYS",
    "KINDS",
    "RESPONSE_KEYS",
    "ArcGIS",
    "dialect",
    "is_partial",
    "payload",
]
