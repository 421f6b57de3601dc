"""Machines beside what is open already: whom that explains, and what ends it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis.crowd import JOB, LEVELS, START, Crowd, Fault, name, slow
from diagnosis.synthetic import event
from paramedic.diagnosis.contract import Fault as Family
from paramedic.diagnosis.contract import Phase, Status, Tier
from paramedic.diagnosis.docket import Docket
from paramedic.diagnosis.excuses import Excuse
from paramedic.diagnosis.explanation.domains import of_domains
from paramedic.diagnosis.finding import Finding, Trouble, moment
from paramedic.diagnosis.machines import MachineWatch
from paramedic.diagnosis.picture import JobPicture
from paramedic.diagnosis.roles import JobRoles
from paramedic.diagnosis.settings import DepartureSettings
from paramedic.ingest.contract import Entity, EventKind

REPLAYS = "gpu_pcie_replays_per_second"
SETTINGS = DepartureSettings(
    settle_seconds=5,
    smoothing_seconds=(1.0,),
    healthy_seconds_to_resolve=10.0,
    second_accusation_factor=1.0,
)
"""Nobody is put off for being the second."""
WITH_ERRORS = {**LEVELS, Entity.GPU: {**LEVELS[Entity.GPU], REPLAYS: 2.0}}
SMALL = Crowd(nodes=6, gpus=2, seconds=60, steps=(), levels=WITH_ERRORS)
CULPRIT, ODD_ONE = 1, 3


def culprit(
    family: Family = Family.UNKNOWN, rank: int | None = None, tier: Tier = Tier.PATTERN
) -> Finding:
    at = moment(START + 10)
    return Finding(
        node=name(CULPRIT), rank=rank, generation=0, fault=family, phase=Phase.SYMPTOM, tier=tier,
        confidence=0.9, onset=at, detected_at=at, summary="it is slow", candidates=(), evidence=(),
    )  # fmt: skip


def docket_with(*findings: Finding) -> Docket:
    docket = Docket(JOB)
    for finding in findings:
        docket.report(finding)
    return docket


def copies(*data_ranks: int) -> JobRoles:
    """Which copy of the model each node works on."""
    roles = JobRoles(JOB)
    for node, copy in enumerate(data_ranks):
        told = event(EventKind.MEMBERSHIP, 0.0, name(node), None, change="joined", data_rank=copy)
        roles.hear(replace(told, job=JOB))
    return roles


CHAINED, APART = copies(0, 0, 1, 0, 1, 1), copies(0, 0, 0, 1, 1, 1)


def accused(
    docket: Docket, roles: JobRoles | None, *faults: Fault, cleared_at: int = 10**9
) -> dict[str, int]:
    """Who is accused beside what is open, and in which second; the culprit may recover."""
    watch, picture, found = MachineWatch(SETTINGS), JobPicture(), dict[str, int]()
    picture.see(START, 0)
    for second, windows in enumerate(replace(SMALL, faults=faults).windows()):
        if second == cleared_at:
            docket.clear(name(CULPRIT), Trouble.DEPARTED, moment(START + second), "it is well")
        for verdict in watch.weigh(windows, picture, docket, roles):
            assert verdict.node is not None
            found.setdefault(verdict.node, second)
    return found


DIFFERENT = slow(ODD_ONE, 0.5, 0, first=35)


def test_who_is_chained_to_a_culprit_and_only_works_differently_is_not_accused() -> None:
    assert accused(docket_with(culprit()), CHAINED, *DIFFERENT) == {}
    assert accused(docket_with(culprit(Family.STRAGGLER, rank=2)), CHAINED, *DIFFERENT) == {}


@pytest.mark.parametrize("roles", [APART, None], ids=["of another copy", "nothing is declared"])
def test_who_is_not_chained_to_the_culprit_is_accused_beside_it(roles: JobRoles | None) -> None:
    assert set(accused(docket_with(culprit()), roles, *DIFFERENT)) == {name(ODD_ONE)}


def test_who_is_chained_is_accused_where_nobody_is_and_once_the_culprit_is_well() -> None:
    alone = accused(docket_with(), CHAINED, *DIFFERENT)
    assert set(alone) == {name(ODD_ONE)}
    later = accused(docket_with(culprit()), CHAINED, *DIFFERENT, cleared_at=52)
    assert alone[name(ODD_ONE)] < later[name(ODD_ONE)] == 52


def test_who_is_chained_and_has_errors_of_its_own_is_accused() -> None:
    errors = Fault(ODD_ONE, 50.0, 0, REPLAYS, first=35)
    found = accused(docket_with(culprit()), CHAINED, *DIFFERENT, errors)
    assert set(found) == {name(ODD_ONE)}


@pytest.mark.parametrize(("phase", "is_accused"), [(Phase.FAILED, False), (Phase.SYMPTOM, True)])
def test_while_the_job_stands_for_one_that_has_failed_nobody_is_accused_of_working_differently(
    monkeypatch: pytest.MonkeyPatch, phase: Phase, *, is_accused: bool
) -> None:
    monkeypatch.setattr(MachineWatch, "_standing_since", lambda *_: START + 20)
    docket = docket_with(replace(culprit(), phase=phase))
    assert set(accused(docket, None, *DIFFERENT)) == ({name(ODD_ONE)} if is_accused else set())


BUSY = Fault(ODD_ONE, 4.0, metric="cpu_utilization_ratio", entity=Entity.NODE, first=35)


@pytest.mark.parametrize(("phase", "is_accused"), [(Phase.FAILED, False), (Phase.SYMPTOM, True)])
def test_what_a_host_does_while_the_job_waits_for_one_that_has_failed_is_nobodys_concern(
    monkeypatch: pytest.MonkeyPatch, phase: Phase, *, is_accused: bool
) -> None:
    monkeypatch.setattr(MachineWatch, "_standing_since", lambda *_: START + 34)
    docket = docket_with(replace(culprit(), phase=phase))
    assert set(accused(docket, None, BUSY)) == ({name(ODD_ONE)} if is_accused else set())


ECN = "ecn_packets_per_second"
SWITCHES = replace(
    SMALL, nodes=12, seconds=75, levels={**LEVELS, Entity.NODE: {**LEVELS[Entity.NODE], ECN: 40.0}}
)


def behind_switches() -> JobRoles:
    roles = JobRoles(JOB)
    for node in range(SWITCHES.nodes):
        told = event(
            EventKind.MEMBERSHIP, 0.0, name(node), None, change="joined", switch=f"s{node // 3}"
        )
        roles.hear(replace(told, job=JOB))
    return roles


@pytest.mark.parametrize(("ill_since", "groups"), [(10, 0), (44, 1), (None, 1)])
def test_a_link_that_was_ill_before_congests_its_whole_switch(
    ill_since: int | None, groups: int
) -> None:
    marked = (Fault(node, 30.0, metric=ECN, entity=Entity.NODE, first=40) for node in range(3))
    crowd = replace(SWITCHES, faults=tuple(marked))
    docket = docket_with()
    if ill_since is not None:
        onset = moment(START + ill_since)
        docket = docket_with(replace(culprit(), onset=onset, detected_at=onset))
    watch = MachineWatch(replace(SETTINGS, group_harmless_seconds=10.0))
    picture, roles = JobPicture(), behind_switches()
    picture.see(START, 0)
    for windows in crowd.windows():
        list(watch.weigh(windows, picture, docket, roles))
    assert len(docket.groups) == groups
    (switch,) = of_domains(name(1), watch, windows)
    assert switch.share >= 1
    assert [one.why for one in switch.holds] == [Excuse.TOLD if groups else Excuse.ILL_BEFORE]


TOLD_AT, SLOW_UNTIL = 30, 36
RECOVERING = replace(SMALL, seconds=85, faults=slow(CULPRIT, 0.5, 0, first=27, last=SLOW_UNTIL))


def resolved_at(finding: Finding, crowd: Crowd = RECOVERING) -> int | None:
    """In which second what was told of the culprit is over, if it is."""
    watch, picture, docket = MachineWatch(SETTINGS), JobPicture(), docket_with()
    picture.see(START, 0)
    for second, windows in enumerate(crowd.windows()):
        if second == TOLD_AT:
            docket.report(finding)
        said = watch.judge(windows, {}, picture, docket)
        if [one for one in said if one.status is Status.RESOLVED]:
            return second
    return None


@pytest.mark.parametrize("family", [Family.UNKNOWN, Family.STRAGGLER])
def test_a_departure_is_over_when_nothing_speaks_against_it_whatever_it_is_called(
    family: Family,
) -> None:
    """That its telemetry comes, as it does all the time, says nothing of how it works."""
    over = resolved_at(culprit(family))
    assert over is not None
    assert over >= SLOW_UNTIL + SETTINGS.healthy_seconds_to_resolve


def test_what_a_rank_tells_of_itself_is_not_over_by_what_its_machine_shows() -> None:
    assert resolved_at(culprit(Family.STRAGGLER, rank=2), SMALL) is None


def test_a_node_that_was_silent_is_back_as_soon_as_it_is_heard_and_the_job_goes_on() -> None:
    silent = replace(culprit(Family.MACHINE_UNREACHABLE, tier=Tier.HEARTBEAT), phase=Phase.FAILED)
    assert resolved_at(silent, SMALL) == TOLD_AT
