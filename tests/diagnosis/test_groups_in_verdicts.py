"""Groups as verdicts: what fires, who joins, what is one with it, when it is over."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.synthetic import JOB, START, exit_of, job_state, node_name
from diagnosis.test_docket import finding as of_node
from paramedic.diagnosis.admission import Admission
from paramedic.diagnosis.blame import causes
from paramedic.diagnosis.contract import (
    Evidence,
    Fault,
    Phase,
    RecommendedAction,
    Scope,
    Severity,
    Status,
    Tier,
    Verdict,
    verdict_id,
)
from paramedic.diagnosis.docket import Docket
from paramedic.diagnosis.finding import Finding, Trouble, moment
from paramedic.diagnosis.going_on import GoingOn
from paramedic.diagnosis.group_words import finding_of_group
from paramedic.diagnosis.grouping import Domain, DomainKind, Group
from paramedic.diagnosis.history.fleet import is_failure
from paramedic.diagnosis.liveness import Liveness
from paramedic.diagnosis.maintenance.plan import MaintenancePlan, Stay
from paramedic.diagnosis.motion import Motion
from paramedic.diagnosis.picture import JobPicture
from paramedic.ingest.contract import NodeName

TENSOR = Evidence("gpu_tensor_active_ratio", 0.2, 0.4, -9.0, moment(START))
LEAF = Domain(DomainKind.SWITCH, "leaf-7")


def names(*numbers: int) -> tuple[NodeName, ...]:
    return tuple(map(node_name, numbers))


def of_group(*numbers: int, at: int = 100, domain: Domain = LEAF) -> Finding:
    return finding_of_group(
        Group(domain, names(*numbers), at - 11.0),
        generation=0,
        second=at,
        confidence=0.97,
        strengths={node_name(number): 20.0 - number for number in range(9)},
        evidence=(TENSOR,),
        shown=Fault.THERMAL_THROTTLE,
    )


def departed(number: int, at: int = 100, gpu: int | None = None) -> Finding:
    return replace(of_node(Fault.UNKNOWN, number, at), phase=Phase.SYMPTOM, gpu=gpu)


def with_group(*numbers: int) -> tuple[Docket, Verdict]:
    docket = Docket(JOB)
    (fired,) = docket.report(of_group(*numbers))
    return docket, fired


def test_a_group_has_one_verdict_and_accuses_no_single_machine() -> None:
    _, fired = with_group(1, 2, 3)
    assert (fired.scope, fired.node, fired.members) == (Scope.GROUP, None, names(1, 2, 3))
    assert fired.id == verdict_id(JOB, 0, Scope.GROUP, None, names(1, 2, 3), None, moment(100))
    assert (fired.severity, fired.tier) == (Severity.P0, Tier.PATTERN)
    assert Verdict.from_json(fired.to_json()) == fired
    assert not is_failure(fired)


def test_its_words_name_what_is_shared_and_what_to_look_at() -> None:
    _, fired = with_group(1, 2, 3)
    assert fired.fault is Fault.NETWORK_GROUP
    assert fired.summary == (
        "the 3 nodes behind switch leaf-7 depart together (node-0001, node-0002, node-0003),"
        " for 12 s: GPU tensor active 20 % against 40 %"
    )
    assert fired.action.recommended is RecommendedAction.NOTIFY
    assert "replacing one of them would not help" in fired.action.reason
    assert [one.node for one in fired.candidates] == list(names(1, 2, 3, 0, 4, 5))


def test_a_stage_shows_the_fault_of_its_members() -> None:
    told = of_group(0, 1, 2, 3, domain=Domain(DomainKind.STAGE, "2"))
    assert told.fault is Fault.THERMAL_THROTTLE
    assert told.recommendation.recommended is RecommendedAction.RUN_TEST
    assert told.summary.startswith("the 4 nodes of pipeline stage 2 depart together")
    quiet = replace(told, evidence=())
    assert quiet.scope is Scope.GROUP


@pytest.mark.parametrize("members", [names(1, 2), names(1)])
def test_fewer_than_three_are_no_group(members: tuple[NodeName, ...]) -> None:
    with pytest.raises(ValueError, match="3 members"):
        replace(of_group(1, 2, 3), members=members)
    with pytest.raises(ValueError, match="no node of its own"):
        replace(of_group(1, 2, 3), node=node_name(1))


def test_members_that_join_update_it_under_its_id() -> None:
    docket, fired = with_group(1, 2, 3)
    assert docket.report(of_group(1, 2, 3, at=101)) == ()
    (updated,) = docket.report(of_group(2, 3, 4, at=102))
    assert (updated.id, updated.status) == (fired.id, Status.UPDATED)
    assert updated.members == names(1, 2, 3, 4)
    assert docket.report(of_group(1, 4, 3, at=103)) == ()
    assert docket.groups == (updated,)
    assert len(docket.open) == 1


def test_two_groups_without_a_common_member_are_two() -> None:
    docket, fired = with_group(1, 2, 3)
    (other,) = docket.report(of_group(5, 6, 7))
    assert other.status is Status.FIRING
    assert other.id != fired.id


def test_what_was_open_about_its_members_ends_in_it() -> None:
    docket = Docket(JOB)
    (alone,) = docket.report(departed(1, at=97))
    docket.report(departed(8, at=97))
    fired, ended = docket.report(of_group(1, 2, 3))
    assert fired.status is Status.FIRING
    assert (ended.id, ended.status) == (alone.id, Status.RESOLVED)
    assert "3 nodes together" in ended.summary
    assert {one.node for one in docket.open.values()} == {None, node_name(8)}


@pytest.mark.parametrize(
    ("why", "told", "is_news"),
    [
        ("it departs with the others", departed(1, at=105), False),
        ("it departs still", departed(1, at=900), False),
        ("it is slow with the others", of_node(rank=1, at=105), False),
        ("nobody of the group", departed(4, at=105), True),
        ("it stands still, which is more", of_node(Fault.HANG, rank=1, at=105), True),
        ("a GPU that departs with the others", departed(1, at=105, gpu=3), False),
        ("a GPU that departs much later", departed(1, at=900, gpu=3), True),
        ("it began long before", replace(departed(1), onset=moment(20)), True),
    ],
)
def test_what_a_member_shares_with_the_group_is_no_news(
    why: str, told: Finding, *, is_news: bool
) -> None:
    docket, _ = with_group(1, 2, 3)
    assert docket.would_change(told) is is_news, why
    assert bool(docket.report(told)) is is_news, why


def test_it_is_resolved_when_its_members_are_well() -> None:
    docket, fired = with_group(1, 2, 3)
    (updated,) = docket.report(of_group(1, 2, 3, 4, at=102))
    (resolved,) = docket.clear_group(updated, moment(300), "all work like their peers again")
    assert (resolved.id, resolved.status) == (fired.id, Status.RESOLVED)
    assert docket.clear_group(updated, moment(301), "again") == ()
    assert docket.report(departed(1, at=310))


def trains_again(*gone: int) -> JobPicture:
    picture = JobPicture()
    for number in gone:
        picture.record(exit_of(number, 99 - START, expected=True))
    picture.record(job_state("training", 150 - START, generation=1))
    return picture


def test_a_recovery_resolves_it_once_all_members_have_left() -> None:
    docket, _ = with_group(1, 2, 3)
    assert docket.clear_after_recovery(trains_again(1, 2)) == ()
    assert len(docket.clear_after_recovery(trains_again(1, 2, 3))) == 1


def test_who_takes_over_goes_on_with_it() -> None:
    docket, fired = with_group(1, 2, 3)
    successor = Docket(JOB)
    successor.adopt(docket.groups)
    assert successor.report(of_group(1, 2, 3, at=101)) == ()
    (updated,) = successor.report(of_group(1, 2, 3, 4, at=102))
    assert updated.id == fired.id
    assert not successor.would_change(departed(4, at=103))


def test_a_group_that_has_failed_explains_why_the_job_stands() -> None:
    docket = Docket(JOB)
    docket.report(replace(of_group(1, 2, 3), phase=Phase.FAILED))
    assert causes(docket, GoingOn(Liveness(5), Motion()))


def in_maintenance(*numbers: int) -> Admission:
    stays: dict[tuple[str, NodeName | None], Stay] = {
        (str(number), node_name(number)): Stay(node_name(number), 0, 1e12, (0, False))
        for number in numbers
    }
    return Admission(MaintenancePlan(_stays=stays))


def test_members_under_maintenance_are_left_out() -> None:
    (fired,) = Docket(JOB, in_maintenance(2)).report(of_group(1, 2, 3, 4))
    assert fired.members == names(1, 3, 4)
    assert Docket(JOB, in_maintenance(2)).report(of_group(1, 2, 3)) == ()


def test_a_failure_that_is_put_aside_explains_the_standstill() -> None:
    admission = in_maintenance(2)
    docket = Docket(JOB, admission)
    docket.report(replace(of_group(1, 2, 3, 4), phase=Phase.FAILED))
    assert admission.plan.explains_standstill(200)


_MEMBERS = st.sets(st.integers(0, 7), min_size=3, max_size=5)


@given(st.lists(_MEMBERS, min_size=1, max_size=6))
def test_in_its_life_a_group_only_grows_and_none_lies_within_another(told: list[set[int]]) -> None:
    docket, lives = Docket(JOB), dict[str, set[NodeName]]()
    for at, members in enumerate(told):
        news, *absorbed = docket.report(of_group(*sorted(members), at=100 + at)) or (None,)
        if news is not None:
            assert all(lives.pop(one.id) <= set(news.members) for one in absorbed)
            assert lives.get(news.id, set()) < set(news.members)
            assert news.status is (Status.UPDATED if news.id in lives else Status.FIRING)
            lives[news.id] = set(news.members)
    assert {one.id: {*one.members} for one in docket.groups} == lives
    assert all(one.members == subject.members for subject, one in docket.open.items())


def test_a_rack_takes_in_the_groups_of_its_switches() -> None:
    docket, first = with_group(0, 1, 2)
    (second,) = docket.report(of_group(3, 4, 5))
    rack, absorbed = docket.report(of_group(*range(6), at=103))
    assert rack.id in {first.id, second.id}
    assert absorbed.status is Status.RESOLVED
    assert docket.groups == (rack,)


def test_the_trouble_of_a_group_is_nobody_elses() -> None:
    docket, _ = with_group(1, 2, 3)
    assert [subject.trouble for subject in docket.open] == [Trouble.GROUP]
    assert docket.clear(None, Trouble.JOB, moment(200), "the job goes on") == ()
    assert len(docket.close(moment(300), "over")) == 1
