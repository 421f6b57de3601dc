"""A job whose telemetry is slower than a second is judged in slots as wide as that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis.synthetic import JOB, START, Scene, job_state
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.diagnosis.finding import moment
from paramedic.ingest.contract import Entity, Event, EventKind


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


def test_a_node_that_has_left_stays_away_when_the_width_of_slots_changes() -> None:
    detector = DetectorConfig().build(JOB)
    scene = Scene(seconds=41)
    gone = scene.batches()[0].tables[0].nodes[0]
    detector.record(job_state("training", 0))
    detector.record(
        Event(moment(START), EventKind.MEMBERSHIP, JOB, node=gone, details={"change": "left"})
    )
    event = job_state("training", 0)
    detector.record(replace(event, details={**event.details, "sampling_seconds": 5}))
    for batch in scene.batches()[::5]:
        detector.accept(batch, batch.second + 1.0)
    assert gone not in {row.node for row in detector._windows.window(Entity.NODE).rows}
