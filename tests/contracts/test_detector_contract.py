"""What holds for every detector. A new one is added to DETECTORS and has to pass all of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diagnosis.playing import Fact, arrival, firing, merged, tell
from diagnosis.synthetic import (
    JOB,
    RANK_METRICS,
    START,
    Scene,
    exit_of,
    job_state,
    node_name,
    with_columns,
    without_rows,
)
from paramedic.diagnosis.contract import Detector, Status, Verdict, verdict_id
from paramedic.diagnosis.detector import DetectorConfig, JobDetector
from paramedic.ingest.contract import Entity, EntityKey, Event, TelemetryBatch

Build = Callable[[], Detector]
LATENESS_SECONDS = 3
DETECTORS: dict[str, Build] = {"paramedic": lambda: DetectorConfig().build(JOB)}

pytestmark = [pytest.mark.long, pytest.mark.parametrize("build", DETECTORS.values(), ids=DETECTORS)]
_few = settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def recordings() -> dict[str, list[Fact]]:
    begin = [job_state("training", 0)]
    return {
        "slow": merged(Scene(seconds=65, slow={2: 2.0}, slow_from=40).batches(), begin),
        "frozen": merged(Scene(seconds=55, frozen={1: 40}).batches(), begin),
        "dead": merged(Scene(seconds=51).batches(), [*begin, exit_of(3, 50.5)]),
    }


RECORDINGS = recordings()
CULPRITS = {"slow": 2, "frozen": 1, "dead": 3}


@cache
def told(build: Build, name: str) -> tuple[Verdict, ...]:
    """What the detector says to a recording."""
    return tuple(tell(build(), RECORDINGS[name]))


every_recording = pytest.mark.parametrize("name", RECORDINGS)


@every_recording
def test_it_names_the_culprit_and_nobody_else(build: Build, name: str) -> None:
    verdicts = firing(told(build, name))
    assert {verdict.node for verdict in verdicts} == {node_name(CULPRITS[name])}


@every_recording
def test_the_same_input_twice_gives_the_same_verdicts(build: Build, name: str) -> None:
    assert tuple(tell(build(), RECORDINGS[name])) == told(build, name)


@every_recording
def test_it_never_looks_ahead(build: Build, name: str) -> None:
    """A recording cut at `detected_at` and the allowed lateness gives the same verdict."""
    for verdict in told(build, name):
        end = verdict.detected_at.timestamp() + LATENESS_SECONDS
        cut = [fact for fact in RECORDINGS[name] if stamp(fact) <= end]
        assert verdict in tell(build(), cut)


def stamp(fact: Fact) -> float:
    return fact.timestamp.timestamp() if isinstance(fact, Event) else float(fact.second)


@every_recording
def test_ids_follow_from_the_contract(build: Build, name: str) -> None:
    for verdict in firing(told(build, name)):
        assert verdict.id == verdict_id(
            verdict.job,
            verdict.generation,
            verdict.scope,
            verdict.node,
            verdict.members,
            verdict.gpu,
            verdict.detected_at,
        )


@every_recording
def test_a_verdict_survives_the_wire_and_is_well_formed(build: Build, name: str) -> None:
    for verdict in told(build, name):
        assert Verdict.from_json(verdict.to_json()) == verdict
        assert 0.0 <= verdict.confidence <= 1.0
        assert verdict.onset <= verdict.detected_at
        assert verdict.summary
        assert verdict.candidates
        assert verdict.evidence


@every_recording
def test_each_change_is_said_once(build: Build, name: str) -> None:
    verdicts = told(build, name)
    assert len({(v.id, v.status, v.fault) for v in verdicts}) == len(verdicts)


def jumbled(facts: Sequence[Fact], delays: Sequence[int]) -> list[Fact]:
    """The facts with batches held up by so many seconds, within the allowed lateness."""
    keyed = [
        (arrival(fact) + (delays[at % len(delays)] if isinstance(fact, TelemetryBatch) else 0), at)
        for at, fact in enumerate(facts)
    ]
    return [facts[at] for _, at in sorted(keyed)]


@given(delays=st.lists(st.integers(0, LATENESS_SECONDS), min_size=1, max_size=30))
@_few
def test_disorder_within_the_lateness_changes_no_verdict_on_patterns(
    build: Build, delays: list[int]
) -> None:
    facts = RECORDINGS["slow"]
    said = tell(build(), jumbled(facts, [*delays, 0]))
    expected = list(told(build, "slow"))
    assert said[: len(expected)] == expected or said == expected[: len(said)] != []


@given(delays=st.lists(st.integers(0, LATENESS_SECONDS), min_size=1, max_size=30))
@_few
def test_disorder_within_the_lateness_accuses_nobody_else(build: Build, delays: list[int]) -> None:
    said = firing(tell(build(), jumbled(RECORDINGS["frozen"], [*delays, 0])))
    assert {verdict.node for verdict in said} == {node_name(CULPRITS["frozen"])}


@every_recording
def test_unknown_metrics_are_survived(build: Build, name: str) -> None:
    strange = [
        with_columns([fact], Entity.RANK, {"flux_capacitor_ratio": 0.5})[0]
        if isinstance(fact, TelemetryBatch)
        else fact
        for fact in RECORDINGS[name]
    ]
    assert tuple(tell(build(), strange)) == told(build, name)


@pytest.mark.parametrize("metric", RANK_METRICS)
def test_a_missing_metric_is_survived_and_accuses_nobody_else(build: Build, metric: str) -> None:
    batches = with_columns(
        Scene(seconds=65, slow={2: 2.0}, slow_from=40).batches(), Entity.RANK, {metric: None}
    )
    assert {v.node for v in tell(build(), merged(batches))} <= {node_name(2)}


@pytest.mark.parametrize("entity", [Entity.NODE, Entity.RANK])
def test_missing_tables_are_survived(build: Build, entity: Entity) -> None:
    bare = [
        replace(batch, tables=tuple(t for t in batch.tables if t.entity is not entity))
        for batch in Scene(seconds=40).batches()
    ]
    assert tell(build(), merged(bare)) == []


def test_lost_rows_of_a_healthy_rank_accuse_nobody(build: Build) -> None:
    batches = without_rows(Scene(seconds=80).batches(), Entity.RANK, node_name(1), range(40, 65))
    assert tell(build(), merged(batches)) == []


def test_a_healthy_job_is_left_alone(build: Build) -> None:
    assert tell(build(), merged(Scene(seconds=120).batches())) == []


def test_a_job_of_one_rank_is_survived(build: Build) -> None:
    assert tell(build(), merged(Scene(ranks=1, seconds=40).batches())) == []


@pytest.mark.parametrize("name", ["slow", "frozen", "dead"])
@given(at=st.integers(0, 60))
@_few
def test_a_resumed_detector_goes_on_as_if_nothing_had_been(
    build: Build, name: str, at: int
) -> None:
    detector = build()
    if not isinstance(detector, JobDetector):
        pytest.skip("this detector keeps no snapshot")
    facts = RECORDINGS[name]
    before = tell(detector, facts[:at])
    resumed = DetectorConfig().resume(detector.snapshot())
    expected = tell(detector, facts[at:])
    assert tell(resumed, facts[at:]) == expected
    assert (*before, *expected) == told(build, name)


def test_a_node_has_one_open_verdict_of_a_kind(build: Build) -> None:
    facts = merged(
        Scene(seconds=110, slow={1: 2.0}, slow_from=30, frozen={1: 80}).batches(),
        [exit_of(1, 105.5)],
    )
    said = [v for v in tell(build(), facts) if v.node == node_name(1)]
    fired = [verdict for verdict in said if verdict.status is Status.FIRING]
    assert len(fired) <= 2
    assert EntityKey(Entity.RANK, node_name(1), 1).index == fired[0].rank
    assert all(verdict.detected_at.timestamp() >= START for verdict in said)


@every_recording
def test_adopted_verdicts_keep_their_ids_and_are_not_told_again(build: Build, name: str) -> None:
    """A successor that remembers nothing but what was told goes on with it."""
    predecessor = told(build, name)
    still_open = [verdict for verdict in predecessor if verdict.status is not Status.RESOLVED][-1:]
    successor = build()
    successor.adopt(still_open)
    said = tell(successor, RECORDINGS[name])
    known = {verdict.node for verdict in still_open}
    assert {verdict.id for verdict in said if verdict.node in known} <= {still_open[0].id}


@every_recording
def test_what_was_open_is_forgotten_for_what_is_adopted(build: Build, name: str) -> None:
    detector = build()
    tell(detector, RECORDINGS[name])
    detector.adopt(())
    end = Event.from_json(job_state("finished", 200).to_json())
    assert list(detector.record(end)) == []
