"""Nodes that fall silent together: a group where they share something, each by itself otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.playing import diagnose, firing, merged, tell
from diagnosis.synthetic import START, Scene, event, exit_of, node_name, without_rows
from diagnosis.test_docket import finding
from paramedic.diagnosis.admission import Admission
from paramedic.diagnosis.blame import causes
from paramedic.diagnosis.contract import Fault, Phase, Scope, Severity, Status, Tier, Verdict
from paramedic.diagnosis.detector import DetectorConfig
from paramedic.diagnosis.docket import Docket
from paramedic.diagnosis.finding import Finding, Trouble, moment
from paramedic.diagnosis.going_on import GoingOn
from paramedic.diagnosis.liveness import Liveness
from paramedic.diagnosis.membership import goes_with
from paramedic.diagnosis.motion import Motion
from paramedic.diagnosis.picture import JobPicture
from paramedic.diagnosis.roles import JobRoles
from paramedic.diagnosis.settings import DepartureSettings, SilenceSettings
from paramedic.diagnosis.sight import JobSight
from paramedic.diagnosis.silent_together import SilentTogether
from paramedic.ingest.contract import (
    Entity,
    Event,
    EventKind,
    JobName,
    NodeName,
    Table,
    TelemetryBatch,
)

JOB = JobName("synthetic")
NODES, BEHIND = 16, 4
LEAF = (4, 5, 6, 7)
NOW = 200


def placed(nodes: int = NODES) -> list[Event]:
    """Four nodes a switch, eight a rack."""
    return [
        event(
            EventKind.MEMBERSHIP, 0, node_name(at), change="joined",
            switch=f"leaf-{at // BEHIND}", rack=f"r{at // 8}",
        )
        for at in range(nodes)
    ]  # fmt: skip


def company(silent: Mapping[int, int], events: Sequence[Event] | None = None) -> SilentTogether:
    """All nodes are heard in second 200; who is silent was heard last when it says."""
    roles = JobRoles(JOB)
    for one in placed() if events is None else events:
        roles.hear(one)
    heard = {node_name(at): silent.get(at, NOW) for at in range(NODES)}
    return SilentTogether(JobSight(head=NOW, nodes=heard), roles, JobPicture())


def unreachable(
    number: int, since: int = NOW - 12, fault: Fault = Fault.MACHINE_UNREACHABLE
) -> Finding:
    lost = Phase.SYMPTOM if fault is Fault.TELEMETRY_LOST else Phase.FAILED
    told = replace(finding(fault, number, NOW), tier=Tier.HEARTBEAT, phase=lost)
    return replace(told, onset=moment(since), detected_at=moment(NOW))


def names(*numbers: int) -> tuple[NodeName, ...]:
    return tuple(map(node_name, numbers))


def test_a_switch_of_silent_nodes_is_a_group_that_has_failed() -> None:
    told = company({4: 188, 5: 189, 6: 187, 7: 191}).joined(unreachable(4))
    assert (told.node, told.members, told.fault) == (None, names(*LEAF), Fault.NETWORK_GROUP)
    assert (told.phase, told.gravity, told.scope) == (Phase.FAILED, Severity.P0, Scope.GROUP)
    assert told.onset == moment(187)
    assert told.summary == (
        "the 4 nodes behind switch leaf-1 have fallen silent together (node-0004, node-0005,"
        " node-0006 and 1 more), for 13 s, while 12 other nodes are heard, and the job stands still"
        " since then"
    )


def test_lost_telemetry_of_a_switch_whose_job_goes_on_is_a_trend() -> None:
    told = company(dict.fromkeys(LEAF, 80)).joined(unreachable(5, 80, Fault.TELEMETRY_LOST))
    assert (told.members, told.phase, told.gravity) == (names(*LEAF), Phase.SYMPTOM, Severity.P2)
    assert "stands still" not in told.summary


def test_both_switches_of_a_rack_are_the_rack() -> None:
    told = company(dict.fromkeys(range(8), 188)).joined(unreachable(2))
    assert told.members == names(*range(8))
    assert "in rack r0" in told.summary


@pytest.mark.parametrize(
    ("silent", "accused"),
    [
        ({4: 188}, unreachable(4)),
        ({4: 188, 5: 188}, unreachable(4)),
        ({4: 188, 5: 188, 6: 188}, unreachable(4)),
        ({4: 188, 5: 188, 6: 188, 7: 198}, unreachable(4)),
        ({1: 188, 5: 188, 9: 188, 13: 188}, unreachable(5)),
        (dict.fromkeys((*LEAF, 0, 8, 12), 188), unreachable(4)),
        (dict.fromkeys(range(16), 188), unreachable(4)),
        ({5: 188, 6: 188, 7: 188}, unreachable(4)),
        (dict.fromkeys(LEAF, 188), replace(unreachable(4), tier=Tier.PATTERN)),
        (dict.fromkeys(LEAF, 188), replace(unreachable(4), fault=Fault.PROCESS_EXIT)),
    ],
    ids=[
        "one", "a pair", "three of four", "one only lately", "of four switches",
        "and many others", "everybody", "its rows come", "by its pattern", "it has ended",
    ],
)  # fmt: skip
def test_who_is_no_group_is_accused_alone(silent: dict[int, int], accused: Finding) -> None:
    assert company(silent).joined(accused) is accused


def test_who_was_lost_before_is_not_asked_for() -> None:
    told = company({4: 188, 5: 188, 6: 188, 7: 100}).joined(unreachable(4))
    assert told.members == names(4, 5, 6)


def test_without_roles_nobody_is_in_company() -> None:
    accused = unreachable(4)
    assert company(dict.fromkeys(LEAF, 188), ()).joined(accused) is accused


@given(st.dictionaries(st.sampled_from(range(NODES)), st.integers(185, 191), min_size=1))
def test_a_group_is_nearly_all_of_one_domain_and_of_the_silent(silent: dict[int, int]) -> None:
    for number in silent:
        told = company(silent).joined(unreachable(number))
        members = {int(str(node)[-4:]) for node in told.members}
        assert told.members or told.node == node_name(number)
        assert not members or number in members <= silent.keys()
        domains = [{at for at in range(NODES) if at // size == number // size} for size in (4, 8)]
        assert not members or (any(len(members) >= 0.8 * len(one) for one in domains))
        assert not members or len(members) >= 0.8 * len(silent)


@given(st.permutations(LEAF))
def test_in_whatever_order_they_are_found_silent_the_group_is_told_once(order: list[int]) -> None:
    docket = Docket(JOB, Admission(joined=company(dict.fromkeys(LEAF, 188)).joined))
    (told,) = [verdict for one in order for verdict in docket.report(unreachable(one))]
    assert told.members == names(*LEAF)
    assert causes(docket, GoingOn(Liveness(5), Motion()))


def test_who_was_named_before_the_others_fell_silent_is_one_with_the_group() -> None:
    silent = {4: 180}
    docket = Docket(JOB, Admission(joined=lambda one: company(silent).joined(one)))
    (alone,) = docket.report(unreachable(4, 180))
    silent |= dict.fromkeys(LEAF, 188) | {4: 180}
    group, ended = docket.report(unreachable(5))
    assert (group.members, ended.id, ended.status) == (names(*LEAF), alone.id, Status.RESOLVED)
    assert [one.members for one in docket.open.values()] == [names(*LEAF)]


def test_a_group_that_was_lost_and_then_stops_the_job_has_failed_under_its_id() -> None:
    docket = Docket(JOB, Admission(joined=company(dict.fromkeys(LEAF, 80)).joined))
    (lost,) = docket.report(unreachable(4, 80, Fault.TELEMETRY_LOST))
    (failed,) = docket.report(unreachable(6, 80))
    assert (failed.id, failed.status, failed.phase) == (lost.id, Status.UPDATED, Phase.FAILED)
    assert not goes_with(lost, unreachable(6, 80), Trouble.ALIVE)
    assert docket.report(unreachable(7, 80)) == ()


def test_a_group_is_over_when_all_are_heard_and_the_job_goes_on() -> None:
    (group,) = Docket(JOB, Admission(joined=company(dict.fromkeys(LEAF, 188)).joined)).report(
        unreachable(4)
    )
    lost = replace(group, phase=Phase.SYMPTOM)
    for heard, moving, is_over in ((204, True, True), (204, False, False), (202, True, False)):
        now = SilentTogether(
            JobSight(head=205, nodes=dict.fromkeys(names(*range(NODES)), heard)),
            JobRoles(JOB),
            JobPicture(),
        )
        assert now.is_over(group, is_moving=moving) is is_over
        assert now.is_over(lost, is_moving=False) is (heard == 204)
    assert not now.is_over(replace(group, tier=Tier.PATTERN), is_moving=True)


def unplugged(silent: Sequence[int], seconds: int = 60, at: int = 40) -> list[TelemetryBatch]:
    """A job of ranks that stands since nothing comes of these nodes, a second apart at most."""
    batches = Scene(NODES, seconds, frozen=dict.fromkeys(silent, at - 1)).batches()
    for number in silent:
        for entity in Entity:
            batches = without_rows(
                batches, entity, node_name(number), range(at + number % 2, 10**4)
            )
    return batches


def test_a_switch_that_takes_its_ranks_with_it_is_the_only_verdict() -> None:
    (told,) = diagnose(merged(unplugged(LEAF), placed()))
    assert (told.fault, told.members, told.phase) == (
        Fault.NETWORK_GROUP, names(*LEAF), Phase.FAILED,
    )  # fmt: skip
    assert told.detected_at.timestamp() - START <= 51


def test_a_detector_that_goes_on_from_a_snapshot_knows_who_shares_what() -> None:
    config, facts = DetectorConfig(), merged(unplugged(LEAF, 55), placed())
    whole, half = config.build(JOB), len(facts) - 8
    before = tell(whole, facts[:half])
    resumed = config.resume(whole.snapshot())
    (told,) = tell(whole, facts[half:])
    assert before == []
    assert tell(resumed, facts[half:]) == [told]
    assert told.members == names(*LEAF)


@pytest.mark.parametrize("pair", [(4, 5), (3, 12)])
def test_a_pair_is_named_whole(pair: tuple[int, ...]) -> None:
    told = firing(diagnose(merged(unplugged(pair), placed())))
    assert {(one.node, one.fault) for one in told} == {
        (node_name(at), Fault.MACHINE_UNREACHABLE) for at in pair
    }


@pytest.mark.parametrize(("silent", "told"), [(LEAF, 1), ((4, 13), 2)])
def test_the_ends_of_others_after_a_silence_accuse_all_that_fell_silent(
    silent: tuple[int, ...], told: int
) -> None:
    exits = [exit_of(rank, 46.0 + rank / 9) for rank in (0, 1, 2)]
    aborted = [replace(one, details={"exit_code": 1}) for one in exits]
    verdicts = firing(diagnose(merged(unplugged(silent), [*placed(), *aborted])))
    assert len(verdicts) == told
    assert {n for one in verdicts for n in one.members or (one.node,)} == {*names(*silent)}


CARDS = ("gpu_power_watts", "gpu_utilization_ratio", "gpu_pcie_tx_bytes_per_second")


def of_cards(silent: Sequence[int], goes_on_at: int = 10**9, seconds: int = 112) -> list[Verdict]:
    """A job that tells of its cards alone, and spins in a collective since nodes fell silent."""
    rng, batches = np.random.default_rng(0), []
    for second in range(seconds):
        away = {at for at in silent if 90 + at % 2 <= second < goes_on_at}
        heard = [at for at in range(NODES) if at not in away]
        level = (130.0, 1.0, 0.0) if 92 <= second < goes_on_at else (300.0, 1.0, 1e9)
        values = np.array(level)[:, None] * rng.normal(1, 0.01, (3, len(heard)))
        columns = dict(zip(CARDS, values.tolist(), strict=True))
        table = Table(Entity.GPU, names(*heard), (0,) * len(heard), columns)
        batches.append(TelemetryBatch(JOB, 0, START + second, (table,)))
    settings = DepartureSettings(smoothing_seconds=(1.0,), settle_seconds=80)
    return diagnose(merged(batches, placed()), DetectorConfig(departure=settings))


def test_a_switch_of_cards_that_cease_is_a_group_until_they_come_again() -> None:
    told, over = of_cards(LEAF, goes_on_at=115, seconds=130)
    assert (told.members, told.phase) == (names(*LEAF), Phase.FAILED)
    assert told.detected_at.timestamp() - START <= 103
    assert (over.id, over.status) == (told.id, Status.RESOLVED)
    assert "heard of again" in over.summary


def test_a_pair_whose_cards_cease_as_the_job_comes_to_stand_is_named_whole() -> None:
    told = of_cards((4, 13))
    assert {(one.node, one.fault) for one in told} == {
        (node_name(at), Fault.MACHINE_UNREACHABLE) for at in (4, 13)
    }


def test_a_switch_whose_ranks_go_on_unheard_is_told_of_as_one() -> None:
    batches = Scene(NODES, 85).batches()
    for number in LEAF:
        for entity in Entity:
            batches = without_rows(batches, entity, node_name(number), range(40, 10**4))
    config = DetectorConfig(silence=SilenceSettings(telemetry_timeout_seconds=30))
    (told,) = diagnose(merged(batches, placed()), config)
    assert (told.members, told.severity) == (names(*LEAF), Severity.P2)
