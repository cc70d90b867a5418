"""One result: a value, the floor that was measured beside it, and what their ratio should be."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Figure:
    """`ratio` is value / floor, both in `unit`; `aim` is for the ratio, None where there is none.

    `better` says which way is good: with "lower" the ratio may be the aim at most, with "higher" it
    has to be the aim at least.
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
        """None where there is no aim."""
        if self.aim is None:
            return None
        return self.ratio <= self.aim if self.better == "lower" else self.ratio >= self.aim

    def as_json(self) -> dict[str, Any]:
        """As it stands in results.json."""
        return {**asdict(self), "ratio": self.ratio}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Figure:
        return cls(**{name: part for name, part in value.items() if name != "ratio"})
