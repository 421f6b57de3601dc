"""How a job starts, gets its spares and comes to its end."""

from __future__ import annotations

import signal

from paramedic.ingest.contract import EventKind, NodeName
from paramedic.remediation.launchers.local.commands import JobEnd, MembershipRules
from paramedic.remediation.launchers.local.exit_status import ExitStatus
from paramedic.remediation.launchers.local.messages import (
    Abort,
    Assign,
    Checkpoint,
    CheckpointResult,
    Committed,
    Finished,
    Stop,
    Store,
)
from remediation.launchers.rehearsal import Rehearsal

NODES = [NodeName(f"node-{number:04d}") for number in range(10)]


def rehearse(ranks: int = 3, spares: int = 1) -> Rehearsal:
    return Rehearsal(MembershipRules(ranks=ranks, spares=spares))


def training_job(ranks: int = 3, spares: int = 1) -> Rehearsal:
    job = rehearse(ranks, spares)
    job.cooperate()
    assert job.states()[-1] == "training"
    return job


def test_all_ranks_start_at_once_and_no_spare_before_the_first_hello() -> None:
    job = rehearse()
    assert list(job.alive) == NODES[:3]
    assert [worker.started.rank for worker in job.alive.values()] == [0, 1, 2]

    job.greet(NODES[1])
    assert list(job.alive) == NODES[:4]
    assert job.alive[NODES[3]].started.rank is None


def test_a_script_without_the_library_never_gets_a_spare() -> None:
    job = rehearse()
    job.wait(3600)
    assert list(job.alive) == NODES[:3]


def test_the_first_generation_is_assigned_when_the_last_rank_is_ready() -> None:
    job = rehearse(ranks=2, spares=0)
    job.greet(NODES[0])
    job.greet(NODES[1])
    job.make_ready(NODES[0])
    assert job.alive[NODES[0]].received == []

    job.make_ready(NODES[1])
    assert job.alive[NODES[0]].received == [Assign(0, 0, 2, "127.0.0.1", None)]
    assert job.alive[NODES[1]].received == []


def test_the_others_are_assigned_when_rank_0_has_opened_the_store() -> None:
    job = rehearse(ranks=2, spares=0)
    for node in NODES[:2]:
        job.greet(node)
        job.make_ready(node)
    job.say(NODES[1], Store(0, port=1))
    job.say(NODES[0], Store(7, port=1))
    assert job.alive[NODES[1]].received == []

    job.say(NODES[0], Store(0, port=4711))
    assert job.alive[NODES[1]].received == [Assign(0, 1, 2, "127.0.0.1", 4711)]


def test_ranks_join_at_the_first_assignment_and_spares_when_ready() -> None:
    job = training_job()
    joined = [(e.node, e.rank, e.generation) for e in job.events(EventKind.MEMBERSHIP)]
    assert sorted(joined, key=str) == sorted(
        [(NODES[0], 0, 0), (NODES[1], 1, 0), (NODES[2], 2, 0), (NODES[3], None, 0)], key=str
    )
    assert {e.details["change"] for e in job.events(EventKind.MEMBERSHIP)} == {"joined"}


def test_the_job_trains_when_the_last_rank_has_committed() -> None:
    job = rehearse(ranks=2, spares=0)
    for node in NODES[:2]:
        job.greet(node)
        job.make_ready(node)
    job.say(NODES[0], Store(0, port=1))
    job.say(NODES[0], Committed(0, 5))
    assert job.states() == ["starting", "warming_up"]

    job.say(NODES[1], Committed(0, 5))
    assert job.states() == ["starting", "warming_up", "training"]
    assert job.events(EventKind.JOB_STATE)[-1].details == {"state": "training", "step": 5}


def test_checkpoints_are_published() -> None:
    job = training_job()
    job.say(NODES[0], Checkpoint(0, 12, CheckpointResult.FAILED, "the disk is full"))
    (event,) = job.events(EventKind.CHECKPOINT)
    assert (event.node, event.rank, event.generation) == (NODES[0], 0, 0)
    assert event.details == {"result": "failed", "step": 12, "reason": "the disk is full"}


def test_a_spare_that_exits_is_replaced_later_each_time_and_no_rank_is_touched() -> None:
    job = training_job()
    job.exit(NODES[3], code=1)
    assert list(job.alive) == NODES[:3]
    job.wait(0.5)
    assert list(job.alive) == [*NODES[:3], NODES[4]]

    job.exit(NODES[4], code=1)
    job.wait(0.5)
    assert list(job.alive) == NODES[:3]
    job.wait(0.5)
    assert list(job.alive) == [*NODES[:3], NODES[5]]
    assert "recovering" not in job.states()
    assert [e.details["expected"] for e in job.events(EventKind.PROCESS_EXIT)] == [False, False]


def test_the_spares_are_stopped_when_every_rank_has_finished() -> None:
    job = training_job()
    for node in NODES[:2]:
        job.say(node, Finished(9))
    assert job.alive[NODES[3]].received == []
    job.exit(NODES[0], code=0)
    job.say(NODES[2], Finished(9))
    assert job.alive[NODES[3]].received == [Stop()]

    for node in NODES[1:4]:
        job.exit(node, code=0)
    assert job.over is not None
    assert job.over.end is JobEnd.FINISHED
    assert job.states()[-1] == "finished"
    assert all(e.details["expected"] for e in job.events(EventKind.PROCESS_EXIT))


def test_a_finished_rank_may_take_its_time_and_a_deaf_spare_may_not() -> None:
    job = training_job(ranks=1)
    job.say(NODES[0], Finished(9))
    job.wait(5)
    assert job.alive[NODES[0]].signals == []
    assert job.alive[NODES[1]].signals == [signal.SIGKILL]


def test_a_job_without_a_step_to_do_finishes_before_anybody_is_assigned() -> None:
    job = rehearse(ranks=2, spares=0)
    for node in NODES[:2]:
        job.greet(node)
        job.say(node, Finished(-1))
        job.exit(node, code=0)
    assert job.over is not None
    assert job.over.end is JobEnd.FINISHED


def test_a_failure_after_the_last_step_fails_the_job_and_repeats_nothing() -> None:
    job = training_job(ranks=2, spares=0)
    for node in NODES[:2]:
        job.say(node, Finished(9))
    job.exit(NODES[1], code=7)
    job.exit(NODES[0], code=0)
    assert job.over is not None
    assert (job.over.end, job.over.node) == (JobEnd.FAILED, NODES[1])
    assert job.over.status == ExitStatus(exit_code=7)
    assert "recovering" not in job.states()


def test_a_rank_lost_when_one_of_the_others_had_finished_fails_the_job() -> None:
    job = training_job(ranks=3, spares=0)
    job.say(NODES[0], Finished(9))
    job.exit(NODES[1], by=signal.SIGKILL)
    job.cooperate()
    assert job.over is not None
    assert job.over.end is JobEnd.FAILED
    assert job.over.reason == (
        "node-0001 (rank 1) was ended by SIGKILL when rank 0 had already finished"
    )


def test_a_rank_lost_when_all_the_others_had_finished_fails_but_no_step_is_lost() -> None:
    job = training_job(ranks=3, spares=1)
    for node in (NODES[0], NODES[2]):
        job.say(node, Finished(9))
        job.exit(node, code=0)
    job.exit(NODES[1], by=signal.SIGKILL)
    job.cooperate()
    assert job.over is not None
    assert (job.over.end, job.over.node) == (JobEnd.FAILED, NODES[1])
    assert job.over.reason == (
        "node-0001 (rank 1) was ended by SIGKILL when every other rank had finished: "
        "step 9 is done, but what this rank does after its last step may be missing"
    )
    assert "recovering" not in job.states(), "nobody is left to train with"


def test_the_first_failure_is_the_result_even_if_others_follow() -> None:
    job = training_job(ranks=3, spares=0)
    job.say(NODES[0], Finished(9))
    job.exit(NODES[0], code=7)
    job.exit(NODES[1], by=signal.SIGKILL)
    job.cooperate()
    assert job.over is not None
    assert job.over.reason == "node-0000 (rank 0) exited with 7 after its last step"


def test_a_stop_after_a_late_failure_ends_the_job_with_that_failure() -> None:
    job = training_job(ranks=2, spares=0)
    job.say(NODES[0], Finished(9))
    job.exit(NODES[0], code=7)
    job.stop()
    job.cooperate()
    assert job.over is not None
    assert (job.over.end, job.over.node) == (JobEnd.FAILED, NODES[0])
    assert job.states()[-1] == "finished"


def test_a_rank_lost_in_a_job_without_a_step_speaks_of_no_step() -> None:
    job = rehearse(ranks=2, spares=0)
    job.greet(NODES[0])
    job.say(NODES[0], Finished(-1))
    job.exit(NODES[1], code=5)
    job.exit(NODES[0], code=0)
    assert job.over is not None
    assert job.over.reason == "node-0001 (rank 1) exited with 5 when rank 0 had already finished"


def test_a_stop_is_a_message_where_there_is_a_library_and_a_signal_elsewhere() -> None:
    job = rehearse(ranks=2, spares=0)
    job.greet(NODES[0])
    job.stop()
    assert job.alive[NODES[0]].received == [Stop()]
    assert job.alive[NODES[1]].signals == [signal.SIGTERM]


def test_members_of_a_generation_are_freed_before_they_are_stopped() -> None:
    job = training_job(ranks=2, spares=0)
    job.stop()
    assert job.alive[NODES[1]].received[-2:] == [Abort(0), Stop()]


def test_who_does_not_leave_within_the_grace_is_killed() -> None:
    job = training_job()
    job.stop()
    job.wait(4.9)
    assert not any(worker.signals for worker in job.alive.values())
    job.wait(0.1)
    assert all(worker.signals == [signal.SIGKILL] for worker in job.alive.values())
    job.cooperate()
    assert job.over is not None
    assert job.over.end is JobEnd.STOPPED


def test_a_second_stop_kills_at_once() -> None:
    job = training_job()
    job.stop()
    job.stop()
    assert all(worker.signals == [signal.SIGKILL] for worker in job.alive.values())


def test_a_stop_while_a_failed_job_ends_keeps_the_failure() -> None:
    job = rehearse(ranks=2)
    job.exit(NODES[1], code=4)
    job.stop()
    job.cooperate()
    assert job.over is not None
    assert (job.over.end, job.over.node) == (JobEnd.FAILED, NODES[1])


def test_the_newest_step_of_each_worker_is_told_with_its_place_and_at_the_end() -> None:
    job = training_job(ranks=2, spares=1)
    job.say(NODES[1], Committed(0, 41))
    steps = {place.node: place.step for place in job.membership.placements()}
    assert steps == {NODES[0]: 0, NODES[1]: 41, NODES[2]: None}
    job.stop()
    job.cooperate()
    assert job.events(EventKind.JOB_STATE)[-1].details["step"] == 41
