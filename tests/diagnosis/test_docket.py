"""The life of verdicts: firing, updated, resolved, each change once and under one id."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from diagnosis.synthetic import JOB, START, exit_of, job_state, node_name
from paramedic.diagnosis.contract import Fault, Phase, Status, Tier, Verdict, verdict_id
from paramedic.diagnosis.docket import Docket
from paramedic.diagnosis.finding import Finding, Trouble, moment
from paramedic.diagnosis.picture import JobPicture


def finding(
    fault: Fault = Fault.STRAGGLER, rank: int = 1, at: int = 100, generation: int = 0
) -> Finding:
    return Finding(
        node=node_name(rank),
        rank=rank,
        generation=generation,
        fault=fault,
        phase=Phase.DEGRADED if fault is Fault.STRAGGLER else Phase.FAILED,
        tier=Tier.PATTERN,
        confidence=0.9,
        onset=moment(at - 5),
        detected_at=moment(at),
        summary=fault.value,
        candidates=(),
        evidence=(),
    )


def test_a_finding_fires_once() -> None:
    docket = Docket(JOB)
    (fired,) = docket.report(finding())
    assert fired.status is Status.FIRING
    assert docket.report(finding(at=101)) == ()


def test_the_id_follows_from_the_first_firing() -> None:
    (fired,) = Docket(JOB).report(finding())
    assert fired.id == verdict_id(JOB, 0, fired.scope, fired.node, (), None, moment(100))


def test_a_straggler_that_hangs_is_updated_under_its_id() -> None:
    docket = Docket(JOB)
    (fired,) = docket.report(finding())
    (updated,) = docket.report(finding(Fault.HANG, at=120))
    assert (updated.id, updated.status, updated.fault) == (fired.id, Status.UPDATED, Fault.HANG)
    assert updated.onset == fired.onset
    assert updated.phase is Phase.FAILED
    assert updated.detected_at == moment(120)
    assert updated.first_detected_at == fired.first_detected_at == moment(100)
    assert Verdict.from_json(updated.to_json()) == updated


def test_a_lesser_fault_is_no_news() -> None:
    docket = Docket(JOB)
    docket.report(finding(Fault.HANG))
    assert docket.report(finding(Fault.STRAGGLER, at=120)) == ()


def test_the_end_of_the_process_is_a_verdict_of_its_own() -> None:
    docket = Docket(JOB)
    (hang,) = docket.report(finding(Fault.HANG))
    (gone,) = docket.report(finding(Fault.PROCESS_EXIT, at=130))
    assert gone.status is Status.FIRING
    assert gone.id != hang.id
    assert len(docket.open) == 2


def test_the_nodes_have_verdicts_of_their_own() -> None:
    docket = Docket(JOB)
    verdicts = [v for rank in range(3) for v in docket.report(finding(rank=rank))]
    assert len({verdict.id for verdict in verdicts}) == 3


def test_clearing_resolves_once() -> None:
    docket = Docket(JOB)
    (fired,) = docket.report(finding())
    (resolved,) = docket.clear(node_name(1), Trouble.ALIVE, moment(200), "well again")
    assert (resolved.id, resolved.status) == (fired.id, Status.RESOLVED)
    assert resolved.detected_at == moment(200)
    assert resolved.onset == fired.onset
    assert docket.clear(node_name(1), Trouble.ALIVE, moment(201), "well again") == ()


def trains(generation: int, at: int, *departed: int) -> JobPicture:
    """A job that trains since then, and which nodes have left it before."""
    picture = JobPicture()
    for rank in departed:
        picture.record(exit_of(rank, at - START - 1, expected=True))
    picture.record(job_state("training", at - START, generation))
    return picture


def test_training_again_resolves_what_the_recovery_removed() -> None:
    docket = Docket(JOB)
    docket.report(finding(Fault.HANG, rank=1))
    docket.report(finding(Fault.PROCESS_EXIT, rank=2))
    docket.report(finding(Fault.STRAGGLER, rank=3))
    assert docket.clear_after_recovery(trains(0, 90, 1)) == ()
    resolved = docket.clear_after_recovery(trains(1, 150, 1))
    assert [verdict.node for verdict in resolved] == [node_name(1), node_name(2)]
    assert [verdict.node for verdict in docket.open.values()] == [node_name(3)]


def test_a_job_that_does_not_train_yet_resolves_nothing() -> None:
    docket = Docket(JOB)
    docket.report(finding(Fault.HANG, rank=1))
    picture = trains(1, 150, 1)
    picture.record(job_state("recovering", 160 - START))
    assert docket.clear_after_recovery(picture) == ()


def test_a_fault_after_a_recovery_is_a_new_verdict() -> None:
    docket = Docket(JOB)
    (first,) = docket.report(finding(Fault.PROCESS_EXIT))
    docket.clear_after_recovery(trains(1, 150))
    (second,) = docket.report(finding(Fault.PROCESS_EXIT, at=160, generation=1))
    assert second.status is Status.FIRING
    assert second.id != first.id


def test_the_newest_state_has_the_newest_time() -> None:
    """A hang may be known at an earlier event time than the slowness that was judged before it."""
    docket = Docket(JOB)
    docket.report(finding(at=100))
    life = [
        *docket.report(finding(Fault.HANG, at=98)),
        *docket.report(finding(Fault.MACHINE_UNREACHABLE, at=99)),
        *docket.clear(node_name(1), Trouble.ALIVE, moment(97), "beats again"),
    ]
    assert [verdict.detected_at for verdict in life] == [moment(100)] * 3
    assert [v.status for v in life] == [Status.UPDATED, Status.UPDATED, Status.RESOLVED]
    assert life[1].fault is Fault.MACHINE_UNREACHABLE


def test_the_end_of_the_job_resolves_everything() -> None:
    docket = Docket(JOB)
    for rank in range(3):
        docket.report(finding(rank=rank))
    assert [v.status for v in docket.close(moment(300), "over")] == [Status.RESOLVED] * 3
    assert not docket.open


_FAULTS = st.sampled_from(
    [Fault.STRAGGLER, Fault.HANG, Fault.MACHINE_UNREACHABLE, Fault.PROCESS_EXIT]
)
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("report"), _FAULTS, st.integers(0, 2)),
        st.tuples(st.just("clear"), st.sampled_from(Trouble), st.integers(0, 2)),
        st.tuples(st.just("recovered"), st.just(None), st.integers(0, 2)),
        st.tuples(st.just("close"), st.just(None), st.just(0)),
    )
)


@given(_STEPS)
def test_every_life_begins_with_firing_and_ends_with_resolved(
    steps: list[tuple[str, Fault | Trouble | None, int]],
) -> None:
    docket, lives = Docket(JOB), dict[str, list[Verdict]]()
    for at, (what, subject, rank) in enumerate(steps):
        for verdict in _do(docket, what, subject, rank, at):
            lives.setdefault(verdict.id, []).append(verdict)
    for life in lives.values():
        statuses = [verdict.status for verdict in life]
        assert statuses[0] is Status.FIRING
        assert set(statuses[1:-1]) <= {Status.UPDATED}
        assert len({(verdict.node, verdict.onset) for verdict in life}) == 1
        times = [verdict.detected_at for verdict in life]
        assert times == sorted(times)
    still_open = {life[-1].id for life in lives.values() if life[-1].status is not Status.RESOLVED}
    assert still_open == {verdict.id for verdict in docket.open.values()}


def _do(
    docket: Docket, what: str, subject: Fault | Trouble | None, rank: int, at: int
) -> tuple[Verdict, ...]:
    if isinstance(subject, Fault):
        return docket.report(replace(finding(subject, rank, 1000 + 10 * at), generation=at))
    if isinstance(subject, Trouble):
        return docket.clear(node_name(rank), subject, moment(1000 + 10 * at), "well")
    if what == "recovered":
        return docket.clear_after_recovery(trains(at + 1, 1000 + 10 * at, rank))
    return docket.close(moment(1000 + 10 * at), "over")
