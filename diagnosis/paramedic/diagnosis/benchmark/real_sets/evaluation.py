"""Runs every real set that is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from paramedic.diagnosis.benchmark.real_sets import (
    asd,
    flight_recorder,
    loss_curves,
    stragglers,
)
from paramedic.diagnosis.benchmark.real_sets.errors import RealSetAbsentError
from paramedic.diagnosis.benchmark.real_sets.rows import RealSetRow

SETS: Mapping[str, Callable[[Path], RealSetRow]] = {
    "asd": asd.evaluate,
    "straggler_traces": stragglers.evaluate,
    "flight_recorder": flight_recorder.evaluate,
    "healthy_loss_curves": loss_curves.evaluate_healthy,
    "loss_spike": loss_curves.evaluate_spike,
}


def evaluate_real_sets(folder: Path, tell: Callable[[str], None]) -> Iterator[RealSetRow]:
    """A row for each set; of one that is absent it is told that it is left out.

    Raises RealSetFormatError when a set is there and cannot be read.
    """
    for name, evaluate in SETS.items():
        try:
            yield evaluate(folder)
        except RealSetAbsentError as error:
            tell(f"{name}: {error}")
