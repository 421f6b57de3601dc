"""A job of GPUs and hosts without heart-beats, of which nothing is heard any more."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from diagnosis.crowd import JOB, START, Crowd, name
from diagnosis.playing import Fact, merged, tell
from diagnosis.synthetic import Scene
from paramedic.diagnosis.contract import Fault, Scope, Severity, Status, Verdict
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.ingest.contract import Event, EventKind, TelemetryBatch

NODES = 3
CEASED = 20
"""The first second without telemetry."""


def training(state: str = "training") -> Event:
    return Event(
        datetime.fromtimestamp(START - 1, UTC), EventKind.JOB_STATE, JOB, details={"state": state}
    )


def source(change: str, node: int, at: float = CEASED + 10) -> Event:
    """What a source says of a node when it has heard nothing of it for 10 s."""
    details = {"change": f"source_{change}", "origin": f"http://{name(node)}:9400"}
    moment = datetime.fromtimestamp(START + at, UTC)
    return Event(moment, EventKind.TELEMETRY, JOB, name(node), details=details)


def batches(seconds: int = CEASED) -> list[TelemetryBatch]:
    return list(Crowd(nodes=NODES, gpus=1, seconds=seconds).batches())


def later(first: int, seconds: int) -> list[TelemetryBatch]:
    """Telemetry that comes again."""
    return [replace(b, second=b.second + first) for b in batches(seconds)]


def diagnose(facts: list[Fact]) -> list[Verdict]:
    return tell(DetectorConfig().build(JOB), facts)


def only(facts: list[Fact]) -> Verdict:
    (verdict,) = diagnose(facts)
    assert (verdict.fault, verdict.scope) == (Fault.TELEMETRY_LOST, Scope.JOB)
    assert (verdict.severity, verdict.node) == (Severity.P2, None)
    return verdict


def test_when_all_sources_are_blind_and_no_batch_comes_the_job_is_named_once() -> None:
    blind = [source("blind", node) for node in range(NODES)]
    verdict = only(merged(batches(), [training(), *blind, source("blind", 1, CEASED + 30)]))
    assert verdict.onset.timestamp() == START + CEASED - 1
    assert verdict.detected_at.timestamp() == START + CEASED + 10
    assert "nothing has been heard of all 3 of the job's nodes for 11 s" in verdict.summary
    assert "sources call them blind" in verdict.summary


@pytest.mark.long
def test_it_is_resolved_when_the_job_is_heard_of_for_some_seconds() -> None:
    blind = [source("blind", node) for node in range(NODES)]
    back = [source("back", node, 59) for node in range(NODES)]
    facts = merged([*batches(), *later(60, 5)], [training(), *blind, *back])
    fired, resolved = diagnose(facts)
    assert (resolved.id, resolved.status) == (fired.id, Status.RESOLVED)
    assert resolved.detected_at.timestamp() == START + 62
    assert "the job is heard of again" in resolved.summary


@pytest.mark.long
def test_batches_without_rows_show_that_time_passes() -> None:
    empty = [TelemetryBatch(JOB, 0, START + at, ()) for at in range(CEASED, CEASED + 40)]
    verdict = only(merged([*batches(), *empty], [training()]))
    assert verdict.detected_at.timestamp() == START + CEASED - 1 + 30
    assert "blind" not in verdict.summary


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([source("blind", 0), source("blind", 1)], id="a node is seen still"),
        pytest.param(
            [source("blind", 0), source("back", 0, CEASED + 11)]
            + [source("blind", node, CEASED + 12) for node in (1, 2)],
            id="a node is seen again",
        ),
        pytest.param(
            [source("blind", node, CEASED + 1) for node in range(NODES)], id="rows came just now"
        ),
    ],
)
def test_the_job_is_left_alone_while(events: list[Event]) -> None:
    assert diagnose(merged(batches(), [training(), *events])) == []


def test_a_job_that_does_not_train_may_be_silent() -> None:
    blind = [source("blind", node) for node in range(NODES)]
    assert diagnose(merged(batches(), [training("suspended"), *blind])) == []


def test_of_a_job_with_heart_beats_they_tell() -> None:
    scene = Scene(ranks=NODES, seconds=CEASED).batches()
    moment = datetime.fromtimestamp(scene[-1].second + 12, UTC)
    facts: list[Fact] = [*scene]
    for rank in range(NODES):
        node = scene[0].tables[0].nodes[rank]
        details = {"change": "source_blind", "origin": "o"}
        facts.append(Event(moment, EventKind.TELEMETRY, scene[0].job, node, details=details))
    assert tell(DetectorConfig().build(scene[0].job), facts) == []
