"""A clock that is off explains work, and for a while work that is seen among other things."""

from __future__ import annotations

from dataclasses import replace

from diagnosis.crowd import Crowd, name, slow
from paramedic.diagnosis.clocks import Clocks
from paramedic.diagnosis.departure import Departure, departure_of
from paramedic.diagnosis.rows_test import RowsTest
from paramedic.diagnosis.settings import DepartureSettings
from paramedic.ingest.contract import Entity, Window

SOON = DepartureSettings(settle_seconds=15)
BREATHING = Crowd(nodes=6, gpus=1, seconds=90, breath=0.6, clocks={3: 3})
REPLAYS = "gpu_pcie_replays_per_second"


def last_of(crowd: Crowd) -> tuple[RowsTest, Window, Departure]:
    """The newest slot, with what speaks against the fourth card."""
    test = RowsTest.of(SOON)
    for windows in crowd.windows():
        window = windows[Entity.GPU]
        test.weigh(window, None, len(window.rows), SOON)
    at = next(at for at, row in enumerate(window.rows) if row.node == name(3))
    return test, window, departure_of(test, window, (at,), 1)


def test_who_does_what_its_peers_did_some_seconds_ago_is_explained() -> None:
    assert Clocks().explain(*last_of(BREATHING), None)
    slower = replace(BREATHING, clocks=None, faults=slow(3, 0.5))
    assert not Clocks().explain(*last_of(slower), None)


def test_what_moves_with_the_job_tells_of_a_clock_as_its_work_does() -> None:
    """A host whose clock is off saves its state, and congests the network, before all others."""
    test, window, departure = last_of(BREATHING)
    others = {"disk_throughput_bytes_per_second": 0.3, "cnp_packets_per_second": 0.4}
    mixed = replace(departure, weights={**others, departure.loud[0]: 0.3})
    assert Clocks().explain(test, window, mixed, None)
    assert not Clocks().explain(test, window, replace(mixed, weights={REPLAYS: 1.0}), None)


def test_beside_other_things_work_counts_no_more_for_half_a_minute() -> None:
    clocks = Clocks()
    test, window, departure = last_of(BREATHING)
    assert clocks.explain(test, window, departure, None)
    loudest = departure.loud[0]
    mixed = replace(departure, weights={REPLAYS: 0.6, loudest: 0.4}, nats=1.5 * departure.level)
    assert clocks.explain(test, window, mixed, None)
    assert not clocks.explain(test, window, replace(mixed, nats=2 * mixed.level), None)
    assert not clocks.explain(test, window, replace(mixed, second=mixed.second + 31), None)
    assert not Clocks().explain(test, window, mixed, None)
