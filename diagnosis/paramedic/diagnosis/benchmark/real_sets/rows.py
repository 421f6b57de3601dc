"""What the evaluation of a real set says: a row of figures, and whether what is promised holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RealSetRow:
    """One real set."""

    name: str
    figures: Mapping[str, float | int | str]
    """In the order in which they are told."""
    promise: str
    """What has to hold, for people."""
    holds: bool

    def to_json(self) -> dict[str, object]:
        """As a JSON object."""
        return {"real_set": self.name, **self.figures, "promise": self.promise, "holds": self.holds}

    def line(self) -> str:
        """For people."""
        told = ", ".join(f"{name} {_short(value)}" for name, value in self.figures.items())
        return f"{self.name}: {told}; {self.promise}: {'holds' if self.holds else 'DOES NOT HOLD'}"


def _short(value: float | str) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
