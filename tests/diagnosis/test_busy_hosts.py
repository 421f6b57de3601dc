"""How long a busy host spares a machine, and what is left of the evidence afterwards."""

from __future__ import annotations

import pytest

from diagnosis.test_chores import (
    CPU,
    LAST,
    LATENCY,
    ME,
    ODD,
    POWER,
    REPLAYS,
    TENSOR,
    cost,
    departure,
    slot,
)
from paramedic.diagnosis.busy_hosts import BusyHosts, Spared, has_no_part
from paramedic.diagnosis.departure import Departure

WORK = (TENSOR, POWER)
WRITES = "disk_throughput_bytes_per_second"


def hosts(*, busy: bool = True) -> BusyHosts:
    found = BusyHosts()
    found.look(slot({(CPU, ME): ODD} if busy else {}), 1, LAST)
    return found


def spare(
    found: BusyHosts, one: Departure, share: float = 1.0, job_seconds: float | None = None
) -> Spared:
    """It does so much of what the others do, and the job has lost so much."""
    return found.spare(one, {}, cost(one, share, job_seconds))


def test_work_that_a_busy_host_takes_is_spared_for_now() -> None:
    assert spare(hosts(), departure(*WORK), 0.95) is Spared.FOR_NOW
    assert spare(hosts(busy=False), departure(*WORK), 0.95) is Spared.NOT


def test_when_the_host_is_busy_no_more_what_it_explained_is_doubted_once() -> None:
    found = hosts()
    spare(found, departure(*WORK), 0.95)
    found.look(slot({}), 1, LAST + 40)
    again = [spare(found, departure(*WORK), 0.95) for _ in range(2)]
    assert again == [Spared.AND_DOUBTED, Spared.NOT]


@pytest.mark.parametrize(("share", "lost"), [(0.5, None), (0.95, 12.0)])
def test_who_has_cost_too_much_is_accused_with_all_that_was_seen(
    share: float, lost: float | None
) -> None:
    found = hosts()
    spare(found, departure(*WORK, seconds=10), 0.95)
    assert spare(found, departure(*WORK), share, lost) is Spared.NOT


@pytest.mark.parametrize(("lost", "spared"), [(0.0, Spared.FOR_NOW), (12.0, Spared.NOT)])
def test_a_host_that_is_only_busy_is_asked_what_it_costs_the_job(
    lost: float, spared: Spared
) -> None:
    assert spare(hosts(), departure(CPU, seconds=900), 1.0, lost) is spared


@pytest.mark.parametrize(("ago", "spared"), [(10, Spared.NOT), (16, Spared.AS_OVER)])
def test_what_a_busy_host_has_cost_is_told_as_long_as_it_is_busy(ago: int, spared: Spared) -> None:
    found = hosts()
    found.look(slot({}), 1, LAST + ago)
    assert spare(found, departure(CPU, seconds=130), 1.0, 15.0) is spared


def test_errors_are_spared_by_nothing() -> None:
    assert spare(hosts(), departure(REPLAYS), 1.0, 0.0) is Spared.NOT


@pytest.mark.parametrize(
    ("loud", "ago", "has_none"),
    [((CPU,), 0, False), ((CPU,), 20, True), ((CPU, WRITES), 0, True), ((LATENCY,), 20, False)],
    ids=["since it stands", "since long before", "saves its state", "not busy at all"],
)
def test_in_a_job_that_stands_who_was_busy_before_or_saves_its_state_has_no_part(
    loud: tuple[str, ...], ago: int, *, has_none: bool
) -> None:
    one = departure(*loud)
    assert has_no_part(one, one.since + ago) is has_none
