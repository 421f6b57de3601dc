"""What was told of other jobs, and before a restart, counts: it stands on the verdict topic."""

from __future__ import annotations

from itertools import count

import pytest

from diagnosis.history.past_failures import HOUR, JOB, START, StopAfter, failure, name
from diagnosis.playing import merged
from diagnosis.routing.crew import Crew
from diagnosis.synthetic import START as BEGUN
from diagnosis.synthetic import Scene, exit_of, job_state, node_name
from paramedic.diagnosis.contract import Fault, Verdict
from paramedic.diagnosis.history.fleet import FleetHistory
from paramedic.diagnosis.routing.past import past_of
from paramedic.diagnosis.service import DiagnoseConfig, run
from paramedic.ingest.bus.memory import MemoryBus
from paramedic.ingest.bus.memory_group import MemoryGroupBus
from paramedic.ingest.contract import Bus, JobName, Start, Topic

OTHER = JobName("mixtral")


def told(bus: Bus, verdicts: list[Verdict]) -> None:
    publisher = bus.publisher()
    publisher.publish(Topic.VERDICTS, "x", b"no verdict")
    for verdict in verdicts:
        publisher.publish(Topic.VERDICTS, verdict.job, verdict.to_json())


@pytest.mark.parametrize("bus", [MemoryBus(), MemoryGroupBus()], ids=["alone", "group"])
def test_the_past_is_read_first_and_then_followed(bus: Bus) -> None:
    told(bus, [failure(7, HOUR), failure(7, 2 * HOUR)])
    fleet, ticks = FleetHistory(), count()
    with past_of(bus, fleet, lambda: float(next(ticks)), poll_seconds=0.0, patience_seconds=9) as p:
        assert len(fleet.incidents(name(7), JOB, START + 9 * HOUR)) == 2
        told(bus, [failure(7, 3 * HOUR, job=OTHER), failure(7, 2 * HOUR)])
        p.follow()
        assert len(fleet.incidents(name(7), JOB, START + 9 * HOUR)) == 3


@pytest.mark.parametrize("group", [None, "diagnose"])
def test_a_failure_of_a_node_that_failed_in_other_jobs_is_one_too_many(group: str | None) -> None:
    bus, ticks = MemoryGroupBus(), count()
    shift = BEGUN - START
    past = [failure(1, shift - hour * HOUR, job=OTHER) for hour in (5, 4, 3, 2)]
    told(bus, past)
    said = bus.subscribe([Topic.VERDICTS], Start.LATEST)
    scene = Scene(ranks=16, seconds=6)
    Crew(bus).publish(merged(scene.batches(), [job_state("training", 0), exit_of(1, 4.5)]))
    config = DiagnoseConfig(poll_seconds=0.0, group=group)
    run(config, bus, lambda: float(next(ticks)), StopAfter(5))
    exit_, often = (Verdict.from_json(message.payload) for message in said.poll(0))
    assert exit_.fault is Fault.PROCESS_EXIT
    assert (often.fault, often.node) == (Fault.NODE_FAILURE_RATE, node_name(1))
    assert often.job == exit_.job
    assert often.evidence[0].value == 5.0
    again = bus.subscribe([Topic.VERDICTS], Start.LATEST)
    run(config, bus, lambda: float(next(ticks)), StopAfter(5))
    repeated = {Verdict.from_json(message.payload).id for message in again.poll(0)}
    assert repeated == (set() if group else {exit_.id, often.id})
