"""Jobs whose processes never say hello."""

from __future__ import annotations

import itertools
import signal

import pytest

from paramedic.ingest.contract import EventKind, NodeName
from paramedic.remediation.launchers.local.commands import JobEnd, MembershipRules
from paramedic.remediation.launchers.port import Effect
from remediation.launchers.rehearsal import Rehearsal

NODES = [NodeName(f"node-{number:04d}") for number in range(12)]


def plain_job(ran_seconds: float = 0.0) -> Rehearsal:
    job = Rehearsal(MembershipRules(ranks=2, spares=1))
    job.wait(ran_seconds)
    return job


def end_the_signalled(job: Rehearsal) -> None:
    for worker in tuple(job.alive.values()):
        if worker.signals:
            job.exit(worker.node, by=worker.signals[-1])


def test_it_is_finished_when_every_process_exited_with_0() -> None:
    job = plain_job()
    job.exit(NODES[1], code=0)
    assert "finished" not in job.states()
    job.exit(NODES[0], code=0)
    assert job.over is not None
    assert job.over.end is JobEnd.FINISHED
    assert all(e.details["expected"] for e in job.events(EventKind.PROCESS_EXIT))


def test_it_trains_with_all_its_ranks_once_all_processes_have_run_for_a_while() -> None:
    job = plain_job(ran_seconds=29.9)
    assert job.states() == ["starting"]
    assert job.events(EventKind.MEMBERSHIP) == []
    job.wait(0.1)
    job.wait(300)
    assert job.states() == ["starting", "training"]
    joined = [(e.node, e.rank, e.details["change"]) for e in job.events(EventKind.MEMBERSHIP)]
    assert joined == [(NODES[0], 0, "joined"), (NODES[1], 1, "joined")]


def test_it_does_not_train_when_a_process_of_it_has_ended() -> None:
    job = plain_job()
    job.exit(NODES[1], code=0)
    job.wait(300)
    assert job.states() == ["starting"]


def test_a_hello_that_comes_late_starts_the_job_as_one_with_the_library() -> None:
    job = plain_job(ran_seconds=60)
    job.cooperate()
    assert job.states() == ["starting", "training", "starting", "warming_up", "training"]
    ranks = [e.node for e in job.events(EventKind.MEMBERSHIP) if e.rank is not None]
    assert ranks == NODES[:2]


def test_a_failure_soon_after_the_start_fails_the_job() -> None:
    job = plain_job(ran_seconds=29)
    job.exit(NODES[1], code=2)
    end_the_signalled(job)
    assert job.over is not None
    assert job.over.reason == "node-0001 (rank 1) exited with 2 after 29.0 s"


def test_a_failure_later_starts_everybody_anew_in_a_new_generation() -> None:
    job = plain_job(ran_seconds=30)
    job.exit(NODES[1], code=2)
    assert job.alive[NODES[0]].signals == [signal.SIGTERM]
    assert list(job.alive) == [NODES[0]]

    end_the_signalled(job)
    assert list(job.alive) == NODES[2:4]
    started = [(w.started.rank, w.started.generation) for w in job.alive.values()]
    assert started == [(0, 1), (1, 1)]
    assert job.states() == ["starting", "training", "recovering", "starting"]


def test_a_process_that_ignores_the_request_is_killed() -> None:
    job = plain_job(ran_seconds=30)
    job.exit(NODES[1], code=2)
    job.wait(5)
    assert job.alive[NODES[0]].signals == [signal.SIGTERM, signal.SIGKILL]


def test_restarts_are_limited() -> None:
    job = plain_job()
    for restart in range(4):
        assert job.over is None
        job.wait(30)
        job.exit(NODES[2 * restart], code=2)
        end_the_signalled(job)
    assert job.over is not None
    assert "3 restarts did not help" in job.over.reason


def test_a_replacement_starts_everybody_anew_however_young_the_job_is() -> None:
    job = plain_job(ran_seconds=1)
    assert job.replace(NODES[0], 0, "verdict").effect is Effect.APPLIED
    end_the_signalled(job)
    end_the_signalled(job)
    assert list(job.alive) == NODES[2:4]


def test_a_stop_during_a_restart_starts_nobody() -> None:
    job = plain_job(ran_seconds=30)
    job.exit(NODES[1], code=2)
    job.stop()
    end_the_signalled(job)
    assert job.over is not None
    assert job.over.end is JobEnd.STOPPED
    assert job.alive == {}


def test_a_rank_that_left_before_the_others_said_hello_fails_the_job() -> None:
    job = plain_job()
    job.exit(NODES[0], code=0)
    job.greet(NODES[1])
    job.cooperate()
    assert job.over is not None
    assert job.over.reason == "node-0000 (rank 0) exited with 0 before it said hello"


def exit_with_1(job: Rehearsal, node: NodeName, *, blames_a_peer: bool) -> None:
    job.exit(node, code=1, blames_a_peer=blames_a_peer)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_rank_that_raised_is_blamed_whichever_process_ends_first(order: tuple[int]) -> None:
    job = Rehearsal(MembershipRules(ranks=3, spares=0))
    for rank in order:
        if NODES[rank] in job.alive:
            exit_with_1(job, NODES[rank], blames_a_peer=rank != 1)
            job.wait(0.1)
    end_the_signalled(job)
    assert job.over is not None
    assert (job.over.node, job.over.rank) == (NODES[1], 1)
    blamed = [e.node for e in job.events(EventKind.PROCESS_EXIT) if not e.details["expected"]]
    assert blamed == [NODES[1]]
    assert len(job.events(EventKind.PROCESS_EXIT)) == 3


def test_the_first_victim_is_blamed_when_nobody_explains_it() -> None:
    job = plain_job()
    exit_with_1(job, NODES[0], blames_a_peer=True)
    job.wait(2.9)
    assert job.events(EventKind.PROCESS_EXIT) == []
    job.wait(0.1)
    end_the_signalled(job)
    assert job.over is not None
    assert job.over.node == NODES[0]


def test_the_last_process_is_not_waited_for() -> None:
    job = plain_job()
    exit_with_1(job, NODES[0], blames_a_peer=True)
    exit_with_1(job, NODES[1], blames_a_peer=True)
    assert job.over is not None
    assert job.over.node == NODES[0]
    told = [(e.node, e.details["expected"]) for e in job.events(EventKind.PROCESS_EXIT)]
    assert told == [(NODES[0], False), (NODES[1], True)]


def test_a_stop_tells_of_what_was_kept_back() -> None:
    job = plain_job()
    exit_with_1(job, NODES[0], blames_a_peer=True)
    job.stop()
    end_the_signalled(job)
    told = job.events(EventKind.PROCESS_EXIT)[0]
    assert (told.node, told.details["reason"]) == (NODES[0], "lost the connection to another rank")
    job.wait(10)
    assert job.over is not None
    assert job.over.end is JobEnd.STOPPED
