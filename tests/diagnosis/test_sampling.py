"""A job whose telemetry is slower than a second is judged in slots as wide as that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis.synthetic import JOB, START, Scene, job_state
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.ingest.contract import Entity


@pytest.mark.parametrize(("said", "width"), [(5, 5), (None, 1), (0, 1), ("15", 1)])
def test_slots_are_as_wide_as_the_events_of_the_job_say(said: int | None, width: int) -> None:
    detector = DetectorConfig().build(JOB)
    event = job_state("training", 0)
    detector.record(replace(event, details={**event.details, "sampling_seconds": said}))
    for batch in Scene(seconds=41).batches()[::width]:
        detector.accept(batch, batch.second + 1.0)
    window = DetectorConfig().resume(detector.snapshot())._windows.window(Entity.NODE)
    assert window.slot_seconds == width
    assert window.last_second == START + 40 - (5 if width == 5 else 3)
    assert window.observed[0, 0, -3:].all()
