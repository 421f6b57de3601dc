"""One order for several topics: what a backlog has to look like to give what the live run gave."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from diagnosis.synthetic import JOB, START, job_state
from paramedic.diagnosis.ordering import Arrival, StreamTime, in_order
from paramedic.ingest.contract import Event, Message, TelemetryBatch, Topic


def batch(second: int) -> TelemetryBatch:
    return TelemetryBatch(JOB, 0, START + second, ())


def arrivals(*facts: TelemetryBatch | Event) -> list[Arrival]:
    return [
        Arrival(
            Message(Topic.EVENTS if isinstance(fact, Event) else Topic.TELEMETRY, JOB, b"", at),
            fact,
        )
        for at, fact in enumerate(facts)
    ]


def times(*facts: TelemetryBatch | Event) -> list[float]:
    ordered = [arrival.fact for arrival in in_order(arrivals(*facts))]
    return [
        (fact.timestamp.timestamp() if isinstance(fact, Event) else fact.second) - START
        for fact in ordered
    ]


def test_an_event_goes_before_the_batch_of_its_second() -> None:
    event = job_state("training", 2.5)
    assert times(batch(1), batch(2), batch(3), event) == [1, 2.5, 2, 3]


def test_an_event_newer_than_all_telemetry_comes_last() -> None:
    assert times(job_state("training", 9), batch(1), batch(2)) == [1, 2, 9]


def test_late_batches_stay_late() -> None:
    assert times(batch(1), batch(4), batch(2), batch(5)) == [1, 4, 2, 5]


@given(st.lists(st.integers(0, 30)), st.lists(st.floats(0, 30)))
def test_nothing_is_lost_and_each_topic_keeps_its_order(
    seconds: list[int], moments: list[float]
) -> None:
    facts: list[TelemetryBatch | Event] = [
        *(job_state("training", at) for at in moments),
        *(batch(at) for at in seconds),
    ]
    ordered = [arrival.fact for arrival in in_order(arrivals(*facts))]
    assert len(ordered) == len(facts)
    batches = [f.second - START for f in ordered if isinstance(f, TelemetryBatch)]
    events = [f.timestamp for f in ordered if isinstance(f, Event)]
    assert batches == seconds
    assert events == sorted(events)


@given(st.lists(st.integers(0, 30), min_size=1))
def test_the_streams_time_never_goes_back(seconds: list[int]) -> None:
    stream = StreamTime()
    seen = [stream.see(batch(second)) for second in seconds]
    assert seen == sorted(seen)
    assert seen[-1] == START + max(seconds) + 1
