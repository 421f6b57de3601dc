"""From two readings of a process tree to the metrics of a second."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.ingest.agent.rates import TimedReading, metrics_of
from paramedic.ingest.agent.sampling import Machine, ProcessTotals, TreeReading

MACHINE = Machine(cpus=4, memory_bytes=1000)
IDLE = ProcessTotals(
    process_id=7,
    started_seconds=1.0,
    cpu_seconds=10.0,
    context_switches=100,
    disk_bytes=5000,
    resident_bytes=100,
    is_stopped=False,
)
CHILD = replace(IDLE, process_id=8, cpu_seconds=3.0, context_switches=40, disk_bytes=800)


def reading(at: float, *members: ProcessTotals) -> TimedReading:
    return TimedReading(TreeReading(members), at)


def test_the_first_reading_tells_the_state_and_no_rates() -> None:
    assert metrics_of(None, reading(5.0, IDLE), MACHINE) == {
        "process_resident_bytes": 100.0,
        "memory_used_ratio": 0.1,
        "process_stopped": 0.0,
    }


def test_rates_are_growth_by_the_time_that_really_passed() -> None:
    later = replace(IDLE, cpu_seconds=14.0, context_switches=150, disk_bytes=9000)
    metrics = metrics_of(reading(5.0, IDLE), reading(7.0, later), MACHINE)
    assert metrics["cpu_utilization_ratio"] == pytest.approx(4.0 / (2.0 * 4))
    assert metrics["context_switches_per_second"] == 25.0
    assert metrics["disk_throughput_bytes_per_second"] == 2000.0


def test_the_whole_tree_is_added_up() -> None:
    before, after = (
        reading(0.0, IDLE, CHILD),
        reading(
            1.0,
            replace(IDLE, cpu_seconds=11.0),
            replace(CHILD, cpu_seconds=4.0, resident_bytes=300),
        ),
    )
    metrics = metrics_of(before, after, MACHINE)
    assert metrics["cpu_utilization_ratio"] == pytest.approx(0.5)
    assert metrics["process_resident_bytes"] == 400.0
    assert metrics["memory_used_ratio"] == pytest.approx(0.4)


def test_the_end_of_a_child_is_no_negative_rate() -> None:
    after = reading(1.0, replace(IDLE, context_switches=105))
    metrics = metrics_of(reading(0.0, IDLE, CHILD), after, MACHINE)
    assert metrics["context_switches_per_second"] == 5.0


def test_a_new_child_counts_with_all_it_has_done() -> None:
    metrics = metrics_of(reading(0.0, IDLE), reading(1.0, IDLE, CHILD), MACHINE)
    assert metrics["context_switches_per_second"] == 40.0


def test_a_later_process_with_the_same_id_is_another_process() -> None:
    reborn = replace(IDLE, started_seconds=99.0, context_switches=3)
    metrics = metrics_of(reading(0.0, IDLE), reading(1.0, reborn), MACHINE)
    assert metrics["context_switches_per_second"] == 3.0


def test_a_tree_is_stopped_when_one_of_it_is() -> None:
    stopped = replace(CHILD, is_stopped=True)
    assert metrics_of(None, reading(0.0, IDLE, stopped), MACHINE)["process_stopped"] == 1.0


def test_disk_bytes_that_the_system_does_not_tell_are_absent_and_not_zero() -> None:
    secret = replace(CHILD, disk_bytes=None)
    metrics = metrics_of(reading(0.0, IDLE, secret), reading(1.0, IDLE, secret), MACHINE)
    assert "disk_throughput_bytes_per_second" not in metrics
    assert "cpu_utilization_ratio" in metrics


def test_disk_bytes_that_become_known_are_no_burst() -> None:
    secret = replace(IDLE, disk_bytes=None)
    metrics = metrics_of(reading(0.0, secret), reading(1.0, IDLE), MACHINE)
    assert "disk_throughput_bytes_per_second" not in metrics
    metrics = metrics_of(reading(1.0, IDLE), reading(2.0, IDLE), MACHINE)
    assert metrics["disk_throughput_bytes_per_second"] == 0.0


totals = st.builds(
    ProcessTotals,
    process_id=st.integers(1, 4),
    started_seconds=st.sampled_from([1.0, 2.0]),
    cpu_seconds=st.floats(0, 1e6),
    context_switches=st.integers(0, 10**9),
    disk_bytes=st.one_of(st.none(), st.integers(0, 10**15)),
    resident_bytes=st.integers(0, 10**13),
    is_stopped=st.booleans(),
)
trees = st.lists(totals, min_size=1, max_size=4)


@settings(max_examples=50)
@given(before=trees, after=trees, seconds=st.floats(0.0, 100.0))
def test_no_metric_is_negative_and_ratios_stay_within_one(
    before: list[ProcessTotals], after: list[ProcessTotals], seconds: float
) -> None:
    metrics = metrics_of(reading(0.0, *before), reading(seconds, *after), MACHINE)
    assert all(value >= 0 for value in metrics.values())
    assert all(value <= 1 for metric, value in metrics.items() if metric.endswith("_ratio"))
