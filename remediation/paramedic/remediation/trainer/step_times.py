"""What was measured of the steps of the last second, made into metrics."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_P99 = 0.99


@dataclass(frozen=True, slots=True)
class StepTimes:
    """One committed step. Durations in seconds."""

    step: int
    step_seconds: float
    dataloader_seconds: float
    collective_seconds: float
    """What the step waited for when nothing was left to compute."""
    collective_durations_seconds: tuple[float, ...]
    collective_bytes: int
    samples: int | None
    """This rank's; None when the model's input tells no length."""
    world_size: int
    loss: float | None
    gradient_norm: float | None
    learning_rate: float | None

    @property
    def compute_seconds(self) -> float:
        """What is left of the step."""
        return max(0.0, self.step_seconds - self.dataloader_seconds - self.collective_seconds)


class SecondOfSteps:
    """Filled by the main thread, drained once a second by the telemetry thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._steps: list[StepTimes] = []
        self._newest: int | None = None

    def add(self, times: StepTimes) -> None:
        """A step was committed."""
        with self._lock:
            self._steps.append(times)
            self._newest = times.step

    def know_step(self, step: int) -> None:
        """The newest committed step came from a peer or a checkpoint."""
        with self._lock:
            self._newest = step

    def drain(self) -> dict[str, float]:
        """Metric values since the last call; only `step` when no step has ended."""
        with self._lock:
            steps, self._steps = self._steps, []
            newest = self._newest
        values = {} if newest is None else {"step": float(newest)}
        return values | (_means(steps) if steps else {})


def _means(steps: list[StepTimes]) -> dict[str, float]:
    durations = [one for times in steps for one in times.collective_durations_seconds]
    optional: dict[str, list[float]] = {
        "collective_p99_seconds": [percentile(durations, _P99)] if durations else [],
        "samples_per_second": [
            times.samples / times.step_seconds
            for times in steps
            if times.samples is not None and times.step_seconds > 0
        ],
        "loss": _told(times.loss for times in steps),
        "gradient_norm": _told(times.gradient_norm for times in steps),
        "learning_rate": _known(times.learning_rate for times in steps),
        "global_batch_size": [
            times.samples * times.world_size for times in steps if times.samples is not None
        ],
    }
    return {
        "step_seconds": _mean(times.step_seconds for times in steps),
        "compute_seconds": _mean(times.compute_seconds for times in steps),
        "collective_seconds": _mean(times.collective_seconds for times in steps),
        "collective_bytes": _mean(times.collective_bytes for times in steps),
        "dataloader_seconds": _mean(times.dataloader_seconds for times in steps),
    } | {metric: _mean(values) for metric, values in optional.items() if values}


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _told(values: Iterable[float | None]) -> list[float]:
    """What is known; what is no number is infinite, for NaN means "not observed" further on."""
    return [math.inf if math.isnan(value) else value for value in _known(values)]


def _mean(values: Iterable[float]) -> float:
    kept = list(values)
    return sum(kept) / len(kept)


def percentile(values: list[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    index = max(0, -(-len(ordered) * share // 1) - 1)
    return ordered[int(index)]
