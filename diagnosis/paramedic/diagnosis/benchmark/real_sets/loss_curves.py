"""Loss curves of others: two healthy ones are nothing to tell of, and BLOOM's spike is, once.

They are played to the application tier a step a second, as a job with one rank would tell them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from paramedic.diagnosis.application.settings import ApplicationSettings
from paramedic.diagnosis.application.watch import ApplicationWatch
from paramedic.diagnosis.benchmark.real_sets.loss_reading import (
    CurveStep,
    read_megatron,
    read_nanogpt,
)
from paramedic.diagnosis.benchmark.real_sets.rows import RealSetRow
from paramedic.diagnosis.contract import Status, Verdict
from paramedic.diagnosis.docket import Docket
from paramedic.diagnosis.picture import JobPicture
from paramedic.ingest.contract import Entity, EntityKey, JobName, NodeName, Window

_HEALTHY = ("adamw", "llmc_main")
_SPIKE_RUN = "tr11-176B-ml"
_SPIKE_STEPS = range(31_214, 31_252)
_JOB = JobName("loss-curve")
_ROWS = (EntityKey(Entity.RANK, NodeName("node-0000"), 0),)
_METRICS = ("step", "loss", "gradient_norm", "learning_rate")


def verdicts_on(curve: Sequence[CurveStep]) -> Iterator[tuple[float, Verdict]]:
    """Every verdict with the step at which it came."""
    watch, docket, picture = ApplicationWatch(ApplicationSettings()), Docket(_JOB), JobPicture()
    for second, step in enumerate(curve):
        picture.see(second, 0)
        for verdict in watch.look(_slot(second, step), picture, docket):
            yield step.step, verdict


def evaluate_healthy(folder: Path) -> RealSetRow:
    """Judge the healthy curves. Raises RealSetError."""
    curves = {name: read_nanogpt(folder / "nanogpt_loss_curves", name) for name in _HEALTHY}
    alarms = {f"{name}_alarms": len(_fired(curve)) for name, curve in curves.items()}
    steps = sum(len(curve) for curve in curves.values())
    promise = "no alarm on healthy curves"
    return RealSetRow(
        "healthy_loss_curves", {"steps": steps, **alarms}, promise, not any(alarms.values())
    )


def evaluate_spike(folder: Path) -> RealSetRow:
    """Judge BLOOM's run. Raises RealSetError."""
    fired = _fired(read_megatron(folder / "bloom" / "megatron_iteration_lines.tsv", _SPIKE_RUN))
    told = " ".join(f"{verdict.fault.value}@{step:.0f}" for step, verdict in fired)
    is_right = len(fired) == 1 and int(fired[0][0]) in _SPIKE_STEPS
    figures: dict[str, float | int | str] = {"alarms": len(fired), "told": told or "nothing"}
    return RealSetRow("loss_spike", figures, "one alarm, in the spike", is_right)


def _fired(curve: Sequence[CurveStep]) -> list[tuple[float, Verdict]]:
    return [one for one in verdicts_on(curve) if one[1].status is Status.FIRING]


def _slot(second: int, step: CurveStep) -> Window:
    values = np.array([[[step.step], [step.loss], [step.gradient_norm], [step.learning_rate]]])
    return Window(_JOB, 0, Entity.RANK, second, _ROWS, _METRICS, values, ~np.isnan(values))
