"""Who is named among machines that work alike, how soon, and who never is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis.crowd import START, Crowd, Fault, name
from paramedic.diagnosis.departures import Departure, DepartureWatch
from paramedic.diagnosis.settings import DepartureSettings
from paramedic.ingest.contract import Entity

pytestmark = pytest.mark.long


QUICK = DepartureSettings(smoothing_seconds=(3.0,))
"""One pace costs half of two."""
ONSET = 45


def named(crowd: Crowd, settings: DepartureSettings = QUICK) -> dict[tuple[str, int | None], int]:
    """Node and GPU of everybody who is named, and seconds after the beginning."""
    watch = DepartureWatch(settings)
    found: dict[tuple[str, int | None], int] = {}
    for windows in crowd.windows():
        for departure in watch.weigh(windows):
            subject = (departure.node, departure.gpu)
            found.setdefault(subject, departure.second - START)
    return found


@pytest.mark.parametrize("factor", [0.5, 1.6])
def test_a_gpu_that_departs_either_way_is_named_within_15_seconds(factor: float) -> None:
    found = named(Crowd(faults=(Fault(3, factor, gpu=2),)))
    assert list(found) == [(name(3), 2)]
    assert ONSET + 5 <= found[name(3), 2] <= ONSET + 15


def test_several_gpus_of_a_node_are_the_nodes_trouble() -> None:
    found = named(Crowd(faults=(Fault(5, 0.5),), seconds=82))
    assert list(found) == [(name(5), None)]
    assert ONSET + 29 <= found[name(5), None] <= ONSET + 35


def test_a_node_that_is_late_with_data_for_some_seconds_is_no_departure() -> None:
    assert named(Crowd(faults=(Fault(5, 0.5, last=ONSET + 15),), seconds=85)) == {}


def test_several_faulty_nodes_are_all_named() -> None:
    faults = (Fault(1, 0.5), Fault(6, 0.5))
    assert set(named(Crowd(faults=faults, seconds=82))) == {(name(1), None), (name(6), None)}


def test_when_more_than_a_third_departs_nobody_is_accused() -> None:
    faults = tuple(Fault(node, 0.5) for node in range(3))
    assert named(Crowd(faults=faults)) == {}


def test_those_who_wait_for_the_culprit_are_not_accused() -> None:
    """The culprit's whole stage works differently, though by far not as much."""
    waiting = tuple(Fault(node, 0.8) for node in (0, 1))
    assert list(named(Crowd(nodes=12, faults=(*waiting, Fault(2, 0.3, gpu=0))))) == [(name(2), 0)]


def test_a_fault_from_the_beginning_is_named_without_a_past() -> None:
    found = named(Crowd(seconds=60, faults=(Fault(3, 0.5, gpu=1, first=0),)))
    assert list(found) == [(name(3), 1)]
    assert found[name(3), 1] <= 30


@pytest.mark.parametrize("seed", [1, 2])
def test_a_healthy_crowd_is_left_alone(seed: int) -> None:
    """Levels change for all, the job pauses, one machine is always different."""
    always = Fault(4, 0.9, first=0)
    assert named(Crowd(seconds=110, seed=seed, pause=range(60, 75), faults=(always,))) == {}


def test_a_glitch_of_one_sample_is_no_departure() -> None:
    glitches = tuple(Fault(2, 1000.0, gpu=0, first=at, last=at + 1) for at in (25, 40, 55))
    assert named(Crowd(faults=glitches)) == {}


def test_a_chore_on_a_host_is_no_departure_but_a_host_that_stays_so_is() -> None:
    busy = Fault(3, 4.0, metric="cpu_utilization_ratio", entity=Entity.NODE)
    assert named(Crowd(faults=(replace(busy, last=70),), seconds=85)) == {}
    soon = replace(QUICK, host_harmless_seconds=20.0)
    assert list(named(Crowd(faults=(busy,), seconds=85), soon)) == [(name(3), None)]


def test_the_number_of_machines_makes_no_difference() -> None:
    delays = [
        named(Crowd(nodes=nodes, faults=(Fault(2, 0.6, gpu=1),)))[name(2), 1] for nodes in (4, 24)
    ]
    assert abs(delays[1] - delays[0]) <= 3


def test_a_slot_of_15_seconds_counts_for_what_it_is() -> None:
    crowd = Crowd(seconds=1000, width=15, faults=(Fault(3, 0.5, gpu=2, first=750),))
    found = named(crowd)
    assert list(found) == [(name(3), 2)]
    assert found[name(3), 2] - 750 <= 60


def test_what_is_over_is_well_again() -> None:
    watch = DepartureWatch(replace(QUICK, healthy_seconds_to_resolve=10.0))
    well: list[int] = []
    crowd = Crowd(seconds=115, faults=(Fault(3, 0.5, gpu=2, last=65),))
    said: list[Departure] = []
    for second, windows in enumerate(crowd.windows()):
        said += watch.weigh(windows)
        if watch.is_well(name(3), 1):
            well.append(second)
    assert said
    assert well[-1] == 114
    assert not {at for at in well if 58 <= at <= 68}
    assert watch.suspicion().get(name(3), 0.0) == 0.0


def test_a_restart_forgets_evidence_and_keeps_what_is_known_of_machines() -> None:
    watch = DepartureWatch(QUICK)
    said: list[Departure] = []
    for second, windows in enumerate(Crowd(faults=(Fault(3, 0.5, gpu=2),)).windows()):
        if second == 50:
            watch.restart()
        said += watch.weigh(windows)
    assert said[0].second >= START + 50 + 7
