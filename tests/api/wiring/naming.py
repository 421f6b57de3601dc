"""A detector that accuses by what machines are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from paramedic.models.detection import Alarm
from paramedic.models.history import JobHistory


@dataclass
class Named:
    """Accuses the machine with a name in the first history's last second, whatever it does."""

    accused: str = "a"
    name: str = "named"
    thresholds: Sequence[float] = (1.0,)

    def train(self, histories: Iterable[JobHistory]) -> None:
        """It knows all it will ever know."""

    def examine(self, history: JobHistory) -> NamedExamination:
        """Nothing to prepare."""
        return NamedExamination(history, self.accused)


@dataclass(frozen=True)
class NamedExamination:
    history: JobHistory
    accused: str

    def alarms(self, threshold: float) -> list[Alarm]:
        """One at most, at the end."""
        nodes = tuple(node for node in self.history.nodes if node == self.accused)
        return [Alarm(self.history.seconds[-1], nodes, threshold)] if nodes else []
