"""One result: a value, the floor that was measured with it, and the aim for their ratio."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Figure:
    """`ratio` is value / floor, both in `unit`. `aim` is for the ratio; None if there is no aim.

    `better`: with "lower" the ratio must be at most the aim, with "higher" at least the aim.
    """

    name: str
    unit: str
    value: float
    floor: float
    aim: float | None
    better: Literal["lower", "higher"]

    @property
    def ratio(self) -> float:
        return self.value / self.floor

    @property
    def meets_aim(self) -> bool | None:
        """None if there is no aim."""
        if self.aim is None:
            return None
        return self.ratio <= self.aim if self.better == "lower" else self.ratio >= self.aim

    def as_json(self) -> dict[str, Any]:
        """As in results.json."""
        return {**asdict(self), "ratio": self.ratio}
