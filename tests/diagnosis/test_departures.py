"""Who is named among machines that work alike, how soon, and who never is."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from diagnosis.crowd import POWER, START, TENSOR, Crowd, Fault, name, slow
from diagnosis.synthetic import event
from paramedic.diagnosis.departure import Departure
from paramedic.diagnosis.departures import DepartureWatch
from paramedic.diagnosis.grouping import Group
from paramedic.diagnosis.roles import JobRoles
from paramedic.diagnosis.settings import DepartureSettings
from paramedic.ingest.contract import Entity, EventKind, JobName

SOON = DepartureSettings(settle_seconds=15, group_harmless_seconds=10.0)
"""Less of the beginning is left out, so that tests are quick."""
ONSET = 45
WRITES = "disk_throughput_bytes_per_second"
SMALL = Crowd(nodes=6, gpus=2, seconds=70)


def said_of(
    crowd: Crowd,
    settings: DepartureSettings = SOON,
    roles: JobRoles | None = None,
    *,
    standing_since: int | None = None,
) -> tuple[list[Departure], list[Group]]:
    watch = DepartureWatch(settings)
    judged = [
        watch.weigh(windows, roles, standing_since=standing_since) for windows in crowd.windows()
    ]
    alone = [departure for one in judged for departure in one.departures]
    return alone, [one.befallen.group for one in judged if one.befallen is not None]


def named(crowd: Crowd, settings: DepartureSettings = SOON) -> dict[tuple[str, int | None], int]:
    """Node and GPU of everybody who is named, and seconds after the beginning."""
    return first_named(said_of(crowd, settings)[0])


def first_named(said: Iterable[Departure]) -> dict[tuple[str, int | None], int]:
    found: dict[tuple[str, int | None], int] = {}
    for departure in said:
        found.setdefault((departure.node, departure.gpu), departure.second - START)
    return found


@pytest.mark.parametrize("factor", [0.5, pytest.param(1.6, marks=pytest.mark.long)])
def test_a_gpu_that_departs_either_way_is_named_within_20_seconds(factor: float) -> None:
    found = named(replace(SMALL, faults=slow(3, factor, gpu=1)))
    assert list(found) == [(name(3), 1)]
    assert ONSET + 4 <= found[name(3), 1] <= ONSET + 20


def test_what_speaks_against_it_is_told_the_loudest_first() -> None:
    said, _ = said_of(replace(SMALL, faults=slow(3, 0.5, gpu=1)))
    first = said[0]
    assert set(first.loud) == set(list(first.told_by)[:2]) == {TENSOR, "gpu_power_watts"}
    assert max(first.told_by[metric] for metric in first.loud) < -3
    assert first.nats >= first.level
    assert ONSET <= first.since - START <= ONSET + 5


@pytest.mark.long
def test_a_metric_alone_has_to_depart_for_much_longer_than_two_that_agree() -> None:
    alone = Fault(3, 0.5, gpu=1, metric=TENSOR)
    assert named(replace(SMALL, faults=(alone,))) == {}
    later = named(replace(SMALL, seconds=220, faults=(alone,)))
    assert list(later) == [(name(3), 1)]


def test_several_gpus_of_a_node_are_the_nodes_trouble() -> None:
    late_with_data = replace(SOON, node_harmless_seconds=18.0)
    found = named(replace(SMALL, faults=slow(5, 0.5)), late_with_data)
    assert list(found) == [(name(5), None)]
    assert found[name(5), None] >= ONSET + 17


@pytest.mark.parametrize("gpu", [None, pytest.param(1, marks=pytest.mark.long)])
def test_what_lasts_some_seconds_is_no_departure_however_odd(gpu: int | None) -> None:
    assert named(replace(SMALL, faults=slow(5, 0.01, gpu, last=ONSET + 4))) == {}


def test_glitches_of_one_sample_are_no_departure() -> None:
    glitches = [slow(2, 1000.0, 0, first=at, last=at + 1) for at in (42, 58)]
    assert named(replace(SMALL, faults=sum(glitches, ()))) == {}


def test_two_faults_at_once_are_both_named() -> None:
    two = replace(SMALL, gpus=4, faults=(*slow(1, 0.5, 0), *slow(4, 0.6, 1)))
    assert set(named(two)) == {(name(1), 0), (name(4), 1)}


def test_two_clocks_that_fall_alike_are_both_named() -> None:
    clock = "gpu_sm_clock_hertz"
    levels = {**SMALL.levels, Entity.GPU: {**SMALL.levels[Entity.GPU], clock: 1.4e9}}
    falls = Fault(1, 0.6, None, clock), Fault(4, 0.65, 0, clock)
    crowd = replace(SMALL, nodes=12, levels=levels, faults=falls)
    assert {node for node, _ in named(crowd)} == {name(1), name(4)}


@pytest.mark.long
def test_when_more_than_a_third_departs_nobody_is_accused() -> None:
    faults = [slow(node, 0.5) for node in range(3)]
    assert named(replace(SMALL, faults=sum(faults, ()))) == {}


def test_those_who_wait_for_the_culprit_are_not_accused() -> None:
    """The culprit's whole stage works differently, though by far not as much."""
    waiting = (*slow(0, 0.85), *slow(1, 0.85))
    crowd = Crowd(nodes=10, gpus=2, seconds=75, faults=(*waiting, *slow(2, 0.3, 0)))
    assert list(named(crowd)) == [(name(2), 0)]


@pytest.mark.long
def test_a_clock_that_is_off_is_no_departure_but_slow_work_is() -> None:
    breathing = replace(SMALL, seconds=100, breath=0.6)
    assert named(replace(breathing, clocks={3: 3})) == {}
    assert list(named(replace(breathing, faults=slow(3, 0.5, 1)))) == [(name(3), 1)]


@pytest.mark.long
def test_a_clock_that_was_off_before_the_job_stood_does_not_make_it_stand() -> None:
    late = replace(SMALL, seconds=100, breath=0.6, clocks={3: 3})
    assert said_of(late, standing_since=START + 90) == ([], [])
    since_it_stands, _ = said_of(late, standing_since=START + 5)
    assert {one.node for one in since_it_stands} == {name(3)}


@pytest.mark.long
def test_a_difference_that_is_sure_but_small_is_nobodys_problem() -> None:
    steady = replace(SMALL, noise=0.004, individuality=0.001, seconds=110)
    assert named(replace(steady, faults=slow(3, 0.96, 1))) == {}
    assert list(named(replace(steady, faults=slow(3, 0.85, 1)))) == [(name(3), 1)]


@pytest.mark.parametrize(("level", "is_named"), [(1.0, False), (0.6, True)])
def test_who_works_at_other_times_is_a_problem_where_the_whole_job_works_less_since(
    level: float, *, is_named: bool
) -> None:
    """In the mean it does as much as the others."""
    first = 100
    turns = [(at, 1.5 if (at - first) % 6 else 0.5) for at in range(first, 130, 3)]
    faults = (one for at, factor in turns for one in slow(3, factor, 1, first=at, last=at + 3))
    steps = ((20, 1.0), (first, level))
    said, _ = said_of(replace(SMALL, seconds=130, steps=steps, faults=tuple(faults)))
    late = [one for one in said if one.second - START >= 118]
    assert (len(late) == 12) is is_named
    lost = 0.4 if is_named else 0.0
    assert all(one.job_lost_share == pytest.approx(lost, abs=0.1) for one in late)


def test_a_job_that_stands_needs_less_patience() -> None:
    crowd = replace(SMALL, seconds=90, faults=(Fault(3, 0.3, 1, POWER),))
    goes_on, _ = said_of(crowd)
    stands, _ = said_of(crowd, standing_since=START + ONSET - 10)
    assert stands[0].second + 10 < goes_on[0].second
    until = stands[0].second - START + 1
    just_now, _ = said_of(replace(crowd, seconds=until), standing_since=START + until - 9)
    assert just_now == []


def behind_switches(nodes: int, of_each: int) -> JobRoles:
    job = JobName("crowd")
    roles = JobRoles(job)
    for node in range(nodes):
        leaf = f"leaf-{node // of_each}"
        told = event(EventKind.MEMBERSHIP, 0.0, name(node), None, change="joined", switch=leaf)
        roles.hear(replace(told, job=job))
    return roles


def test_one_node_of_a_switch_is_named_alone() -> None:
    crowd = Crowd(nodes=12, gpus=2, seconds=75, faults=slow(1, 0.5))
    alone, groups = said_of(crowd, roles=behind_switches(12, 3))
    assert set(first_named(alone)) == {(name(1), None)}
    assert groups == []


@pytest.mark.long
def test_a_fault_from_the_beginning_is_named_without_a_past() -> None:
    found = named(replace(SMALL, faults=slow(3, 0.5, 1, first=0)))
    assert list(found) == [(name(3), 1)]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_a_healthy_crowd_is_left_alone(seed: int) -> None:
    """Levels change for all, the job pauses, one machine is always different."""
    always = Fault(4, 0.9, first=0)
    crowd = Crowd(seconds=300, seed=seed, pause=range(60, 75), faults=(always,), breath=0.3)
    assert named(crowd) == {}


@pytest.mark.long
def test_a_chore_on_a_host_is_no_departure() -> None:
    busy = Fault(3, 4.0, metric="cpu_utilization_ratio", entity=Entity.NODE, last=110)
    assert named(replace(SMALL, seconds=170, faults=(busy,))) == {}


def test_a_chore_explains_a_small_loss_of_its_machine_unless_the_job_stands_still() -> None:
    busy = Fault(3, 4.0, metric="cpu_utilization_ratio", entity=Entity.NODE)
    both = replace(SMALL, faults=(busy, *slow(3, 0.7, 1)))
    assert said_of(both) == ([], [])
    assert {one.node for one in said_of(both, standing_since=START + ONSET)[0]} == {name(3)}


@pytest.mark.parametrize(("stood_seconds", "nodes"), [(0, {name(3)}), (20, set()), (None, set())])
def test_a_host_that_is_busy_since_the_job_stands_is_what_it_waits_for(
    stood_seconds: int | None, nodes: set[str]
) -> None:
    busy = Fault(3, 4.0, metric="cpu_utilization_ratio", entity=Entity.NODE)
    since = None if stood_seconds is None else START + ONSET + stood_seconds
    said, _ = said_of(replace(SMALL, seconds=75, faults=(busy,)), standing_since=since)
    assert {one.node for one in said} == nodes


def test_all_wait_for_who_saves_the_jobs_state() -> None:
    levels = {**SMALL.levels, Entity.NODE: {**SMALL.levels[Entity.NODE], WRITES: 1e8}}
    busy = (
        Fault(3, 9.0, metric=one, entity=Entity.NODE) for one in ("cpu_utilization_ratio", WRITES)
    )
    crowd = replace(SMALL, seconds=75, levels=levels, faults=tuple(busy))
    assert said_of(crowd, standing_since=START + ONSET) == ([], [])


@pytest.mark.long
def test_the_number_of_machines_makes_little_difference() -> None:
    delays = [
        named(Crowd(nodes=nodes, seconds=80, faults=slow(2, 0.6, 1)))[name(2), 1]
        for nodes in (4, 24, 48)
    ]
    assert max(delays) - min(delays) <= 8


@pytest.mark.long
@pytest.mark.parametrize("width", [5, 15, 30])
def test_a_wide_slot_counts_for_what_it_is(width: int) -> None:
    onset = 50 * width
    crowd = replace(SMALL, seconds=80 * width, width=width, faults=slow(3, 0.5, 1, first=onset))
    found = named(crowd)
    assert list(found) == [(name(3), 1)]
    assert found[name(3), 1] - onset <= 15 + 5 * width


@pytest.mark.parametrize("width", [5, 15])
def test_where_samples_are_seconds_apart_nobody_is_named_before_some_steps_were_seen(
    width: int,
) -> None:
    crowd = replace(SMALL, seconds=400, width=width, faults=slow(3, 0.5, 1, first=4 * width))
    ((who, named_at),) = named(crowd).items()
    assert who == (name(3), 1)
    assert 200 <= named_at <= 200 + 8 * width


def test_what_is_over_is_well_again() -> None:
    quick = replace(SOON, healthy_seconds_to_resolve=5.0, smoothing_seconds=(1.0,))
    watch = DepartureWatch(quick)
    crowd = replace(SMALL, seconds=110, faults=slow(3, 0.5, 1, last=58))
    well = [at for at, slot in enumerate(crowd.windows()) if _is_well_after(watch, slot)]
    assert not {*well} & {*range(50, 60)}
    assert well[-1] == 109
    assert watch.suspicion().get(name(3), 0.0) == 0.0


@pytest.mark.long
@pytest.mark.parametrize(("width", "within"), [(1, 330), (15, 450), (30, 720)])
def test_what_is_over_is_well_again_in_minutes_whatever_the_cadence(
    width: int, within: int
) -> None:
    watch, last = DepartureWatch(DepartureSettings()), 600
    faults = slow(3, 0.5, 1, first=400, last=last)
    crowd = Crowd(nodes=6, gpus=8, seconds=1500, width=width, steps=(), faults=faults)
    well = [
        at * width for at, one in enumerate(crowd.windows()) if _is_well_after(watch, one, width)
    ]
    assert not {*well} & {*range(460, last)}
    again = min(at for at in well if at > last)
    assert again - last < within
    assert len([at for at in well if at >= again]) > 0.95 * (1500 - again) / width


def _is_well_after(watch: DepartureWatch, slot: object, slot_seconds: int = 1) -> bool:
    watch.weigh(slot)  # type: ignore[arg-type]
    return watch.is_well(name(3), slot_seconds)


def test_a_restart_forgets_evidence() -> None:
    watch = DepartureWatch(SOON)
    said: list[Departure] = []
    for second, windows in enumerate(replace(SMALL, faults=slow(3, 0.5, 1)).windows()):
        if second == 50:
            watch.restart()
            assert watch.suspicion() == {}
        said += watch.weigh(windows).departures
    assert said[0].second - START >= 50 + 4


@pytest.mark.long
@hypothesis_settings(max_examples=3)
@given(st.integers(1, 69))
def test_a_copy_goes_on_exactly_as_the_original(cut: int) -> None:
    slots = list(replace(SMALL, faults=slow(3, 0.5, 1)).windows())
    watch = DepartureWatch(SOON)
    for windows in slots[:cut]:
        watch.weigh(windows)
    copy = deepcopy(watch)
    assert [copy.weigh(one) for one in slots[cut:]] == [watch.weigh(one) for one in slots[cut:]]
