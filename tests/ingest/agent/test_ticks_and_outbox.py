"""When the agent samples, and what it keeps while the bus is away."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.ingest.agent.outbox import Outbox
from paramedic.ingest.agent.ticks import TickSchedule
from paramedic.ingest.contract import (
    BusAddressError,
    BusUnavailableError,
    JobName,
    TelemetryBatch,
)


def ticks_at(*moments: float) -> tuple[list[int], int]:
    schedule = TickSchedule()
    return [schedule.next_tick(moment) for moment in moments], schedule.missed


def test_ticks_are_full_seconds_whatever_the_work_took() -> None:
    assert ticks_at(100.3, 101.02, 102.97) == ([101, 102, 103], 0)


def test_missed_ticks_are_skipped_and_counted() -> None:
    assert ticks_at(100.3, 101.02, 105.5) == ([101, 102, 106], 3)


def test_waking_a_little_early_does_not_give_the_same_tick_again() -> None:
    assert ticks_at(100.3, 100.9999) == ([101, 102], 0)


def test_a_clock_that_was_set_back_is_followed() -> None:
    assert ticks_at(5000.3, 100.5, 101.2) == ([5001, 101, 102], 0)


@settings(max_examples=50)
@given(st.lists(st.floats(0.001, 5.0), min_size=1, max_size=30))
def test_ticks_grow_and_with_the_missed_ones_leave_no_gap(pauses: list[float]) -> None:
    schedule, now = TickSchedule(), 1000.0
    ticks = []
    for pause in pauses:
        now += pause
        tick = schedule.next_tick(now)
        assert tick > now
        ticks.append(tick)
        now = float(tick)
    assert ticks[-1] - ticks[0] == len(ticks) - 1 + schedule.missed


class FlakyBus:
    """Takes batches while it is up."""

    def __init__(self) -> None:
        self.is_up = True
        self.seconds: list[int] = []

    def publish(self, batch: TelemetryBatch) -> None:
        if not self.is_up:
            raise BusUnavailableError("away")
        self.seconds.append(batch.second)


def batch(second: int) -> TelemetryBatch:
    return TelemetryBatch(JobName("job"), 0, second, ())


def test_batches_wait_for_the_bus_and_leave_in_order() -> None:
    bus = FlakyBus()
    outbox = Outbox(bus.publish, capacity=3)
    bus.is_up = False
    outbox.put(batch(1))
    assert not outbox.flush()
    outbox.put(batch(2))
    bus.is_up = True
    assert outbox.flush()
    assert bus.seconds == [1, 2]
    assert (outbox.published, outbox.dropped, len(outbox)) == (2, 0, 0)


def test_the_oldest_batches_are_dropped_and_counted() -> None:
    bus = FlakyBus()
    outbox = Outbox(bus.publish, capacity=3)
    for second in range(5):
        outbox.put(batch(second))
    assert outbox.flush()
    assert bus.seconds == [2, 3, 4]
    assert outbox.dropped == 2


def test_an_error_that_can_never_pass_goes_through() -> None:
    def refuse(batch: TelemetryBatch) -> None:
        raise BusAddressError("nowhere")

    outbox = Outbox(refuse, capacity=3)
    outbox.put(batch(1))
    with pytest.raises(BusAddressError):
        outbox.flush()
