"""The whole product as a row of the comparison. It has one point: no threshold is chosen for it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from paramedic.diagnosis.benchmark.verdicts.accusing import accusations
from paramedic.diagnosis.benchmark.verdicts.feeding import listen, moments
from paramedic.diagnosis.detector import DetectorConfig

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paramedic.models.detection import Alarm
    from paramedic.models.history import JobHistory

AS_IT_IS = 0.0
"""In place of a threshold."""


@dataclass
class VerdictDetector:
    """A FaultyMachineDetector that says what a live run would have said."""

    name: str = "paramedic"
    config: DetectorConfig = field(default_factory=DetectorConfig)
    thresholds: Sequence[float] = (AS_IT_IS,)

    def train(self, histories: Iterable[JobHistory]) -> None:
        """It comes as it is."""

    def examine(self, history: JobHistory) -> VerdictExamination:
        """Feed the history, in slots as wide as its own."""
        detector = slotted(self.config, history.seconds.step).build(history.job)
        said = listen(detector, moments(history))
        return VerdictExamination(tuple(alarm for alarm, _verdict in accusations(said)))


@dataclass(frozen=True, slots=True)
class VerdictExamination:
    """The accusations of a history."""

    told: tuple[Alarm, ...]

    def alarms(self, threshold: float) -> Sequence[Alarm]:
        """All, if the threshold is the one there is."""
        return self.told if threshold <= AS_IT_IS else ()


def slotted(config: DetectorConfig, width_seconds: int) -> DetectorConfig:
    """The detector of a live run whose source samples so slowly."""
    windows = replace(config.windows, sampling_seconds=max(1, width_seconds))
    return replace(config, windows=windows)
