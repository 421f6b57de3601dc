"""Signs of life for tests of what shows them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SetSigns:
    """Signs of life whose age is set."""

    age_seconds: float

    def silent_seconds(self) -> float:
        return self.age_seconds

    def is_alive(self) -> bool:
        return self.age_seconds <= 30.0
