"""The same telemetry draws the same verdicts, however it is cut, ordered and portioned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.crowd import JOB, START, Crowd, slow
from diagnosis.playing import arrival, merged, tell
from paramedic.diagnosis.contract import Status, Verdict
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.diagnosis.settings import DepartureSettings
from paramedic.ingest.contract import Event, EventKind, Table, TelemetryBatch

pytestmark = pytest.mark.long

CONFIG = DetectorConfig(departure=DepartureSettings(settle_seconds=15))
SECONDS = 72
BEGAN = Event(
    datetime.fromtimestamp(START - 1, UTC), EventKind.JOB_STATE, JOB, details={"state": "training"}
)
CROWDS = (
    Crowd(nodes=6, gpus=2, seconds=SECONDS, faults=slow(3, 0.5, gpu=1)),
    Crowd(
        nodes=6, gpus=2, seconds=SECONDS, faults=slow(2, 0.6, first=40), absent={5: range(30, 72)}
    ),
    Crowd(nodes=8, gpus=2, seconds=SECONDS, faults=slow(1, 0.5, 0) + slow(6, 1.7)),
)
few = settings(max_examples=5)
whose = st.sampled_from(range(len(CROWDS)))


@cache
def batches(crowd: int) -> tuple[TelemetryBatch, ...]:
    return tuple(CROWDS[crowd].batches())


def lines(verdicts: Sequence[Verdict]) -> list[str]:
    return [str(verdict.to_json()) for verdict in verdicts]


@cache
def live(crowd: int) -> tuple[Verdict, ...]:
    """What the detector says to one batch a second."""
    return tuple(tell(CONFIG.build(JOB), merged(batches(crowd), [BEGAN])))


def told(crowd: int, portions: Sequence[TelemetryBatch]) -> list[Verdict]:
    return tell(CONFIG.build(JOB), [BEGAN, *portions])


def picked(table: Table, places: Sequence[int]) -> Table:
    """These rows of a table, in this order."""
    indices = table.indices
    return replace(
        table,
        nodes=tuple(table.nodes[at] for at in places),
        indices=None if indices is None else tuple(indices[at] for at in places),
        columns={m: tuple(column[at] for at in places) for m, column in table.columns.items()},
    )


def with_rows(batch: TelemetryBatch, places: Sequence[int]) -> TelemetryBatch:
    """The rows of each table whose places are given; others where a table has fewer."""
    tables = (picked(t, [at for at in places if at < len(t.nodes)]) for t in batch.tables)
    return replace(batch, tables=tuple(tables))


def parts_of(batch: TelemetryBatch, cut: int) -> Iterator[TelemetryBatch]:
    """What so many nodes tell, and what the others do."""
    nodes = sorted({node for table in batch.tables for node in table.nodes})
    for chosen in (nodes[:cut], nodes[cut:]):
        tables = (
            picked(table, [at for at, node in enumerate(table.nodes) if node in chosen])
            for table in batch.tables
        )
        yield replace(batch, tables=tuple(tables))


@pytest.mark.parametrize("crowd", range(len(CROWDS)))
def test_every_crowd_draws_verdicts(crowd: int) -> None:
    assert live(crowd)


@few
@given(whose, st.integers(0, 10**6))
def test_the_order_of_rows_within_a_second_makes_no_difference(crowd: int, seed: int) -> None:
    random, shuffled = Random(seed), []
    for batch in batches(crowd):
        places = list(range(max(len(table.nodes) for table in batch.tables)))
        random.shuffle(places)
        shuffled.append(with_rows(batch, places))
    assert lines(told(crowd, shuffled)) == lines(live(crowd))


@few
@given(whose, st.integers(2, 15))
def test_batches_that_are_fetched_in_blocks_say_what_single_ones_say(
    crowd: int, block: int
) -> None:
    detector = CONFIG.build(JOB)
    said: list[Verdict] = []
    detector.record(BEGAN)
    for at, batch in enumerate(batches(crowd)):
        last = min(len(batches(crowd)) - 1, at - at % block + block - 1)
        said.extend(detector.accept(batch, arrival(batches(crowd)[last])))
    assert lines(said) == lines(live(crowd))


@few
@given(whose, st.integers(1, 5))
def test_a_second_that_comes_in_parts_draws_what_a_whole_one_draws(crowd: int, cut: int) -> None:
    portions = [part for batch in batches(crowd) for part in parts_of(batch, cut)]
    assert lines(told(crowd, portions)) == lines(live(crowd))


@few
@given(whose, st.integers(1, SECONDS - 1))
def test_a_resumed_detector_goes_on_as_if_nothing_had_been(crowd: int, cut: int) -> None:
    facts = merged(batches(crowd), [BEGAN])
    detector = CONFIG.build(JOB)
    before = tell(detector, facts[:cut])
    after = tell(CONFIG.resume(detector.snapshot()), facts[cut:])
    assert lines([*before, *after]) == lines(live(crowd))


@pytest.mark.parametrize("crowd", range(len(CROWDS)))
def test_a_recording_cut_at_detection_plus_lateness_gives_the_same_verdict(crowd: int) -> None:
    lateness = CONFIG.windows.lateness_seconds
    for verdict in live(crowd):
        if verdict.status is Status.FIRING:
            end = verdict.detected_at.timestamp() + lateness
            said = told(crowd, [one for one in batches(crowd) if one.second <= end])
            assert verdict.to_json() in [one.to_json() for one in said]
