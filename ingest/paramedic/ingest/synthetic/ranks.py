"""What the trainer library reports for each rank: the steps that ended in the second."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.configuration import Work
from paramedic.ingest.synthetic.living import EndedStep
from paramedic.ingest.synthetic.randomness import Dice, Stream

RANK_METRICS = (
    "heartbeat", "step", "step_seconds", "compute_seconds", "collective_seconds",
    "collective_p99_seconds", "collective_bytes", "dataloader_seconds", "samples_per_second",
    "loss", "gradient_norm", "learning_rate", "global_batch_size",
)  # fmt: skip
"""All that a rank ever reports."""
_PEAK_LEARNING_RATE = 3.0e-4
_LEARNING_WARM_UP_STEPS = 200.0


class RankTelemetry:
    """Rows of all ranks, (nodes, gpus)."""

    def __init__(self, work: Work, shape: tuple[int, int], data_ranks: int, dice: Dice) -> None:
        self._work = work
        self._shape = shape
        self._data_ranks = data_ranks
        self._dice = dice

    def rows(
        self, ended: Sequence[EndedStep], newest: int, second: int, collective_seconds: float
    ) -> dict[str, Floats]:
        """The second's rows; `newest` is the last committed step, -1 before the first.

        Only the heart-beat and the step are there when no step has ended.
        """
        rows = {"heartbeat": np.full(self._shape, second + 1.0)}
        if newest >= 0:
            rows["step"] = np.full(self._shape, float(newest))
        if not ended:
            return rows
        bucket = collective_seconds / self._work.buckets
        seconds = self._mean(ended, lambda step: step.seconds)
        return rows | {
            "step_seconds": seconds,
            "compute_seconds": self._mean(ended, lambda step: step.busy),
            "collective_seconds": self._mean(ended, lambda step: step.collective),
            "collective_p99_seconds": bucket + np.max([step.arriving for step in ended], axis=0),
            "collective_bytes": np.full(self._shape, self._bytes()),
            "dataloader_seconds": self._mean(ended, lambda step: step.loading),
            "samples_per_second": self._work.samples / self._data_ranks / seconds,
            "loss": self._mean(ended, self._loss),
            "gradient_norm": self._mean(ended, self._gradient_norm),
            "learning_rate": self._mean(ended, _learning_rate),
            "global_batch_size": np.full(self._shape, float(self._work.samples)),
        }

    def _mean(
        self, ended: Sequence[EndedStep], value: Callable[[EndedStep], Floats | float]
    ) -> Floats:
        total = value(ended[0])
        for step in ended[1:]:
            total = total + value(step)
        return np.full(self._shape, total / len(ended))

    def _bytes(self) -> float:
        work = self._work
        return work.gradient_bytes + work.tensor_bytes

    def _loss(self, step: EndedStep) -> float:
        """Reduced over all ranks, so everybody reports the same."""
        noise = self._dice.at(Stream.RANKS, step.step).standard_normal()
        return float(1.9 + 9.0 / (1.0 + step.step / 40.0) ** 0.5 + 0.02 * noise)

    def _gradient_norm(self, step: EndedStep) -> float:
        noise = self._dice.at(Stream.RANKS, step.step).standard_normal(2)[1]
        return float((0.8 + 4.0 / (1.0 + step.step / 30.0)) * np.exp(0.08 * noise))


def _learning_rate(step: EndedStep) -> float:
    return _PEAK_LEARNING_RATE * min(1.0, (step.step + 1) / _LEARNING_WARM_UP_STEPS)
