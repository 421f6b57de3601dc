"""Machines under declared maintenance are put aside: neither accused nor peers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.crowd import JOB, POWER, START, Crowd, Fault, name
from diagnosis.playing import Fact, firing, merged, tell
from paramedic.diagnosis.contract import Fault as Family
from paramedic.diagnosis.contract import Verdict
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.diagnosis.maintenance.plan import MaintenancePlan, MaintenanceSettings
from paramedic.diagnosis.maintenance.rows import without_nodes
from paramedic.diagnosis.picture import JobPicture
from paramedic.diagnosis.settings import DepartureSettings
from paramedic.ingest.contract import Entity, Event, EventKind, NodeName, Table, format_time


def at(second: float) -> datetime:
    return datetime.fromtimestamp(START + second, UTC)


def said(
    change: str, second: float, node: NodeName | None, one: str = "m1", **times: float | str
) -> Event:
    details = {
        key: value if isinstance(value, str) else format_time(at(value))
        for key, value in times.items()
    }
    details |= {"id": one, "change": change}
    return Event(at(second), EventKind.MAINTENANCE, JOB, node, details=details)


def declared(
    begins: float, ends: float, node: NodeName | None = None, one: str = "m1", second: float = 0.0
) -> Event:
    return said("declared", second, node, one, begins=begins, ends=ends)


def training() -> Event:
    return Event(at(-60), EventKind.JOB_STATE, JOB, details={"state": "training"})


def planned(*events: Event) -> MaintenancePlan:
    plan = MaintenancePlan(MaintenanceSettings(settle_seconds=10))
    for event in events:
        plan.record(event)
    return plan


def test_a_node_is_put_aside_from_begin_to_end_and_until_it_has_settled() -> None:
    picture = JobPicture()
    picture.record(declared(20, 40, name(1)))
    for second, aside in ((19, False), (20, True), (39, True), (99, True), (100, False)):
        assert (name(1) in picture.in_maintenance(START + second)) is aside


def test_without_an_end_it_lasts_until_somebody_says_that_it_is_over() -> None:
    plan = planned(said("began", 20, name(1)))
    assert not plan.covers(name(1), START + 19)
    assert plan.covers(name(1), START + 1e6)
    plan.record(said("ended", 50, name(1)))
    assert plan.covers(name(1), START + 59)
    assert not plan.covers(name(1), START + 60)


def test_of_one_declaration_the_newest_word_holds_whatever_comes_first() -> None:
    words = [
        declared(20, 40, name(1)),
        declared(20, 90, name(1), second=5),
        said("ended", 30, name(1), begins=20, ends=30),
    ]
    for order in (words, words[::-1]):
        plan = planned(*order)
        assert plan.covers(name(1), START + 25)
        assert not plan.covers(name(1), START + 40)


def test_of_several_reasons_the_one_that_lasts_longest_is_told() -> None:
    plan = planned(
        said("declared", 0, name(1), begins=20, ends=40, reason="a new fan"),
        said("declared", 0, None, "m2", begins=30, ends=90, reason="a new switch"),
    )
    for second, reason in ((19, None), (25, "a new fan"), (35, "a new switch"), (101, None)):
        stay = plan.stay_of(name(1), START + second)
        assert (None if stay is None else stay.reason) == reason
    assert plan.stay_of(name(2), START + 25) is None


def test_the_word_of_its_end_need_not_say_again_why() -> None:
    plan = planned(said("began", 20, name(1), reason="a new fan"), said("ended", 50, name(1)))
    stay = plan.stay_of(name(1), START + 55)
    assert stay is not None
    assert (stay.reason, stay.ends) == ("a new fan", START + 50)


def test_what_is_withdrawn_before_it_begins_silences_nobody() -> None:
    plan = planned(declared(20, 40, name(1)), said("ended", 5, name(1), begins=5, ends=5))
    assert not any(plan.covers(name(1), START + second) for second in range(50))


@pytest.mark.parametrize("broken", ["soon", "2026-01-01T00:00:00", ""])
def test_times_that_cannot_be_read_silence_nobody(broken: str) -> None:
    plan = planned(said("declared", 0, name(1), begins=20, ends=broken))
    assert not plan.covers(name(1), START + 30)


STAYS = [("a", 10.0, 30.0), ("b", 20.0, 60.0), ("c", 55.0, 80.0)]


@given(st.permutations(STAYS), st.integers(0, 100))
def test_several_declarations_hold_side_by_side(
    stays: list[tuple[str, float, float]], second: int
) -> None:
    plan = planned(*(declared(begins, ends, name(1), one) for one, begins, ends in stays))
    expected = any(begins <= second < ends + 10 for _, begins, ends in stays)
    assert plan.covers(name(1), START + second) is expected
    assert not plan.covers(name(2), START + second)


def test_rows_are_taken_out_and_a_batch_that_does_not_hold_together_is_left_to_be_refused() -> None:
    batch = next(Crowd(nodes=3, seconds=1).batches())
    assert without_nodes(batch, {NodeName("elsewhere")}).tables[0] is batch.tables[0]
    gpus, host = without_nodes(batch, {name(1)}).tables
    assert set(gpus.nodes) == set(host.nodes) == {name(0), name(2)}
    assert {len(column) for column in gpus.columns.values()} == {len(gpus.nodes)} == {8}
    broken = replace(batch, tables=(Table(Entity.NODE, (name(1),), None, {"a": ()}),))
    assert without_nodes(broken, {name(1)}) == broken


SOON = DetectorConfig(
    maintenance=MaintenanceSettings(settle_seconds=10),
    departure=DepartureSettings(telemetry_timeout_seconds=30.0),
)
SICK = Fault(3, 0.3, gpu=0, first=45)
"""So far out, in power as well, that it is named within seconds."""


def sick(node: int, last: int = 10**9) -> tuple[Fault, Fault]:
    one = replace(SICK, node=node, last=last)
    return one, replace(one, metric=POWER)


def judge(crowd: Crowd, *events: Event) -> list[Verdict]:
    facts: list[Fact] = merged(crowd.batches(), [training(), *events])
    return firing(tell(SOON.build(JOB), facts))


@pytest.mark.long
def test_a_node_under_maintenance_is_not_accused_and_others_are() -> None:
    crowd = Crowd(gpus=2, seconds=80, faults=(*sick(3), *sick(5)))
    assert {one.node for one in judge(crowd)} == {name(3), name(5)}
    assert {one.node for one in judge(crowd, declared(40, 90, name(3)))} == {name(5)}


@pytest.mark.long
def test_a_node_that_is_still_ill_afterwards_is_accused_and_one_that_is_well_is_not() -> None:
    crowd = Crowd(gpus=2, seconds=125, faults=(*sick(3), *sick(5, last=70)))
    (fired,) = judge(crowd, *(declared(40, 70, name(node)) for node in (3, 5)))
    assert fired.node == name(3)
    assert fired.onset >= at(80)


@pytest.mark.long
def test_a_node_that_is_off_during_its_maintenance_is_not_lost_unless_it_stays_away() -> None:
    for gone, expected in ((range(25, 60), []), (range(25, 200), [name(3)])):
        crowd = Crowd(nodes=6, gpus=1, seconds=105, absent={3: gone})
        found = judge(crowd, declared(20, 55, name(3)))
        assert [one.node for one in found] == expected
        assert all(one.fault is Family.TELEMETRY_LOST for one in found)


@pytest.mark.long
def test_maintenance_of_the_job_silences_it() -> None:
    crowd = Crowd(gpus=2, seconds=80, faults=(*sick(3), *sick(5)))
    xid = Event(at(78), EventKind.XID, JOB, name(2), 0, details={"xid": 95})
    assert judge(crowd, declared(40, 300), xid) == []
    assert {one.node for one in judge(crowd, declared(400, 500), xid)} >= {name(2), name(3)}


def test_an_exit_on_a_node_under_maintenance_accuses_nobody() -> None:
    gone = Event(at(30), EventKind.PROCESS_EXIT, JOB, name(1), rank=1, details={"signal": 9})
    xid = Event(at(31), EventKind.XID, JOB, name(1), 0, details={"xid": 95})
    assert tell(SOON.build(JOB), [training(), declared(20, 40, name(1)), gone, xid]) == []
    assert len(tell(SOON.build(JOB), [training(), declared(20, 25, name(2)), gone])) == 1


def test_a_new_run_of_the_job_still_knows_of_the_maintenance() -> None:
    starting = Event(at(10), EventKind.JOB_STATE, JOB, generation=0, details={"state": "starting"})
    over = Event(at(5), EventKind.JOB_STATE, JOB, details={"state": "finished"})
    gone = Event(at(30), EventKind.PROCESS_EXIT, JOB, name(1), rank=1, details={"signal": 9})
    facts: list[Fact] = [training(), declared(0, 40, name(1)), over, starting, gone]
    assert tell(SOON.build(JOB), facts) == []


def test_a_detector_that_is_resumed_goes_on_with_maintenance_of_its_own() -> None:
    gone = Event(at(30), EventKind.PROCESS_EXIT, JOB, name(1), rank=1, details={"signal": 9})
    detector = SOON.build(JOB)
    tell(detector, [training()])
    resumed = SOON.resume(detector.snapshot())
    assert tell(resumed, [declared(20, 40, name(1)), gone]) == []
    assert len(tell(detector, [gone])) == 1, "nothing is shared"
