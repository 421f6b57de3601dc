"""What happens when workers that carry ranks are lost."""

from __future__ import annotations

import signal

from paramedic.ingest.contract import EventKind, NodeName
from paramedic.remediation.launchers.local.commands import JobEnd, MembershipRules
from paramedic.remediation.launchers.local.messages import (
    Abort,
    Assign,
    Committed,
    Failed,
    Finished,
)
from paramedic.remediation.launchers.port import Effect
from remediation.launchers.rehearsal import Rehearsal

NODES = [NodeName(f"node-{number:04d}") for number in range(12)]


def training_job(ranks: int = 3, spares: int = 1, retries: int = 3) -> Rehearsal:
    rules = MembershipRules(ranks=ranks, spares=spares, max_recoveries_without_progress=retries)
    job = Rehearsal(rules)
    job.cooperate()
    assert job.states()[-1] == "training"
    return job


def lose(job: Rehearsal, node: NodeName) -> None:
    job.exit(node, by=signal.SIGKILL)


def test_a_lost_rank_goes_to_the_ready_spare_in_the_same_breath() -> None:
    job = training_job()
    lose(job, NODES[1])
    assert job.alive[NODES[0]].received[-2:] == [Abort(0), Assign(1, 0, 3, "127.0.0.1", None)]
    assert job.node_of(1) == NODES[3]

    job.cooperate()
    assert job.alive[NODES[3]].assignment == Assign(1, 1, 3, "127.0.0.1", 4000)
    assert job.states() == ["starting", "warming_up", "training", "recovering", "training"]


def test_the_exit_is_published_before_anything_else() -> None:
    job = training_job()
    told_before = len(job.commands)
    lose(job, NODES[1])
    exit_event, state_event = job.commands[told_before : told_before + 2]
    assert exit_event == job.events(EventKind.PROCESS_EXIT)[0]
    assert state_event == job.events(EventKind.JOB_STATE)[-1]
    (event,) = job.events(EventKind.PROCESS_EXIT)
    assert (event.node, event.rank, event.generation) == (NODES[1], 1, 0)
    assert event.details == {"signal": 9, "expected": False}


def test_the_spare_is_named_as_the_replacement() -> None:
    job = training_job()
    lose(job, NODES[1])
    event = job.events(EventKind.MEMBERSHIP)[-1]
    assert (event.node, event.rank, event.generation) == (NODES[1], 1, 1)
    assert event.details == {"change": "replaced_by", "by": NODES[3]}


def test_a_used_spare_is_replaced_only_after_training_goes_on() -> None:
    job = training_job()
    lose(job, NODES[1])
    assert NODES[4] not in job.alive
    job.cooperate()
    assert list(job.alive) == [NODES[0], NODES[2], NODES[3], NODES[4]]


def test_without_a_spare_a_new_worker_is_started_and_awaited() -> None:
    job = training_job(spares=0)
    lose(job, NODES[0])
    assert job.alive[NODES[3]].started.rank is None
    assert job.alive[NODES[1]].received[-1] == Abort(0)
    job.cooperate()
    assert job.membership.generation == 1
    assert job.alive[NODES[3]].assignment == Assign(1, 0, 3, "127.0.0.1", None)


def test_a_spare_that_still_warms_up_is_taken_before_a_new_worker_is_started() -> None:
    job = training_job()
    job.exit(NODES[3], code=1)
    job.wait(1)
    assert NODES[4] in job.alive
    lose(job, NODES[1])
    assert NODES[5] not in job.alive
    assert job.node_of(1) == NODES[4]


def test_two_that_die_together_are_one_recovery() -> None:
    job = training_job(spares=0, retries=1)
    lose(job, NODES[0])
    lose(job, NODES[2])
    job.cooperate()
    assert job.membership.generation == 1
    assert job.states()[-1] == "training"


def test_a_death_before_the_new_generation_has_committed_forms_another() -> None:
    job = training_job()
    lose(job, NODES[1])
    lose(job, NODES[2])
    assert Abort(1) in job.alive[NODES[0]].received
    assert Abort(1) not in job.alive[NODES[3]].received
    job.cooperate()
    assert job.membership.generation == 2
    assert job.states()[-1] == "training"


def test_survivors_need_not_have_said_that_they_failed() -> None:
    job = training_job()
    job.say(NODES[0], Failed(0, "connection closed by peer"))
    lose(job, NODES[1])
    assert job.alive[NODES[0]].assignment == Assign(1, 0, 3, "127.0.0.1", None)


def test_a_break_without_a_death_waits_for_the_exit_and_then_forms_anew() -> None:
    job = training_job()
    job.say(NODES[0], Failed(0, "time-out"))
    job.wait(2.9)
    assert "recovering" not in job.states()
    job.wait(0.1)
    job.cooperate()
    assert job.membership.generation == 1
    assert list(job.alive) == NODES[:4]
    assert job.events(EventKind.PROCESS_EXIT) == []
    assert job.states()[-1] == "training"


def test_a_late_failed_of_an_older_generation_changes_nothing() -> None:
    job = training_job()
    lose(job, NODES[1])
    job.say(NODES[2], Failed(0, "aborted"))
    job.wait(5)
    job.cooperate()
    assert job.membership.generation == 1


def test_steps_lost_is_zero_when_the_interrupted_step_is_tried_again() -> None:
    job = training_job()
    job.say(NODES[2], Failed(0, "broken", step=41))
    job.first_step = 42
    lose(job, NODES[1])
    job.cooperate()
    details = job.events(EventKind.JOB_STATE)[-1].details
    assert details == {"state": "training", "step": 42, "steps_lost": 0}


def test_steps_lost_counts_what_a_checkpoint_did_not_hold() -> None:
    job = training_job()
    job.first_step = 31
    lose(job, NODES[1])
    job.say(NODES[2], Failed(0, "broken", step=41))
    job.cooperate()
    details = job.events(EventKind.JOB_STATE)[-1].details
    assert details == {"state": "training", "step": 31, "steps_lost": 11}


def test_the_job_fails_after_three_recoveries_without_progress() -> None:
    job = training_job(ranks=2, spares=0)
    for number in range(1, 5):
        assert job.over is None
        lose(job, NODES[number])
    job.cooperate()
    assert job.over is not None
    assert job.over.end is JobEnd.FAILED
    assert job.over.reason == (
        "node-0004 (rank 1) was ended by SIGKILL and 3 recoveries in a row brought no progress"
    )


def test_progress_starts_the_count_anew() -> None:
    job = training_job(ranks=2, spares=0)
    for number in range(1, 8):
        lose(job, NODES[number])
        job.cooperate()
    assert job.over is None
    assert job.membership.generation == 7


def test_breaks_without_a_death_are_counted_too() -> None:
    job = training_job(ranks=2, spares=0, retries=0)
    job.say(NODES[0], Failed(0, "time-out"))
    job.wait(3.0)
    job.cooperate()
    assert job.over is not None
    assert "node-0000 says: time-out" in job.over.reason


def test_a_job_that_never_committed_a_step_is_not_tried_again() -> None:
    job = Rehearsal(MembershipRules(ranks=2, spares=1))
    job.greet(NODES[0])
    job.greet(NODES[1])
    job.exit(NODES[1], code=3)
    job.cooperate()
    assert job.over is not None
    assert (job.over.end, job.over.node, job.over.rank) == (JobEnd.FAILED, NODES[1], 1)
    assert "exited with 3 before any rank had committed" in job.over.reason
    expected = {e.node: e.details["expected"] for e in job.events(EventKind.PROCESS_EXIT)}
    assert expected == {NODES[0]: True, NODES[1]: False, NODES[2]: True}


def test_a_survivor_that_finishes_during_a_recovery_ends_it() -> None:
    job = training_job(spares=0)
    lose(job, NODES[1])
    job.say(NODES[0], Finished(9))
    job.cooperate()
    assert job.over is not None
    assert (job.over.end, job.over.node) == (JobEnd.FAILED, NODES[1])
    assert job.over.reason == "rank 0 finished while rank 1 was lost"


def test_a_worker_that_lost_its_connection_is_ended_and_replaced() -> None:
    job = training_job()
    job.membership.disconnected(NODES[1], job.now)
    job.wait(14.9)
    assert job.alive[NODES[1]].signals == []
    job.wait(0.1)
    job.cooperate()
    assert job.membership.generation == 1
    assert job.states()[-1] == "training"


def test_a_replaced_node_is_killed_and_its_exit_is_expected() -> None:
    job = training_job()
    assert job.replace(NODES[2], 0, "verdict-1").effect is Effect.APPLIED
    assert job.alive[NODES[2]].signals == [signal.SIGKILL]
    job.cooperate()
    assert job.node_of(2) == NODES[3]
    (event,) = job.events(EventKind.PROCESS_EXIT)
    told = {"ended_by": "launcher", "reason": "a test"}
    assert event.details == {"signal": 9, "expected": True, **told}


def test_nobody_is_killed_twice_for_one_verdict() -> None:
    job = training_job()
    job.replace(NODES[2], 0, "verdict-1")
    assert job.replace(NODES[2], 0, "verdict-1").effect is Effect.ALREADY_DONE
    assert job.replace(NODES[2], 0, "verdict-2").effect is Effect.ALREADY_DONE
    job.cooperate()
    assert job.replace(NODES[2], 0, "verdict-3").effect is Effect.ALREADY_DONE
    assert job.replace(NODES[3], 0, "verdict-4").effect is Effect.ALREADY_DONE
    assert job.replace(NODES[3], 1, "verdict-5").effect is Effect.APPLIED


def test_a_frozen_survivor_of_an_earlier_recovery_can_still_be_replaced() -> None:
    job = training_job()
    lose(job, NODES[1])
    assert job.replace(NODES[2], 0, "verdict-1").effect is Effect.APPLIED
    job.cooperate()
    assert job.membership.generation == 2


def test_a_newcomer_that_hangs_before_it_is_assigned_can_be_replaced() -> None:
    job = training_job(spares=0)
    lose(job, NODES[1])
    assert job.node_of(1) == NODES[3]
    assert job.replace(NODES[3], 0, "verdict-1").effect is Effect.APPLIED
    job.cooperate()
    assert job.node_of(1) == NODES[4]
    assert job.states()[-1] == "training"


def test_what_carries_no_rank_is_not_replaced() -> None:
    job = training_job()
    assert job.replace(NODES[3], 0, "a").effect is Effect.REFUSED
    assert job.replace(NODES[9], 0, "b").effect is Effect.REFUSED
    assert job.replace(NODES[1], 5, "c").effect is Effect.REFUSED
    job.stop()
    assert job.replace(NODES[1], 0, "d").effect is Effect.REFUSED
    assert not any(worker.signals for worker in job.alive.values())


def test_a_replacement_waits_for_the_end_of_a_process_that_does_not_die_at_once() -> None:
    job = training_job()
    job.replace(NODES[2], 0, "verdict-1")
    job.say(NODES[0], Failed(0, "time-out"))
    job.wait(3.0)
    assert job.membership.generation == 0
    lose(job, NODES[2])
    assert job.membership.generation == 1


def test_a_committed_of_a_spare_or_an_old_generation_resumes_nothing() -> None:
    job = training_job()
    lose(job, NODES[1])
    for node in (NODES[0], NODES[2], NODES[3]):
        job.say(node, Committed(0, 99))
    assert job.states()[-1] == "recovering"


def test_a_repeated_committed_says_only_once_that_the_job_trains() -> None:
    job = training_job()
    job.say(NODES[0], Committed(0, 7))
    assert job.states().count("training") == 1
    lose(job, NODES[1])
    job.cooperate()
    job.say(NODES[0], Committed(1, 8))
    assert job.states().count("training") == 2


def test_a_break_before_any_step_is_not_tried_again() -> None:
    job = Rehearsal(MembershipRules(ranks=2, spares=0))
    for node in NODES[:2]:
        job.greet(node)
        job.make_ready(node)
    job.say(NODES[0], Failed(0, "no route to host"))
    job.wait(3.0)
    job.cooperate()
    assert job.over is not None
    assert job.over.end is JobEnd.FAILED
    assert job.over.reason == (
        "generation 0 broke with every process alive: node-0000 says: no route to host; "
        "no step was ever committed"
    )


def test_a_break_is_forgotten_when_the_job_is_stopped() -> None:
    job = training_job()
    job.say(NODES[0], Failed(0, "time-out"))
    job.stop()
    told = len(job.commands)
    job.wait(3.0)
    assert job.commands[told:] == []
    job.cooperate()
    assert job.over is not None
    assert job.over.end is JobEnd.STOPPED


def test_only_the_first_report_of_a_break_is_its_reason() -> None:
    job = training_job(ranks=2, spares=0, retries=0)
    job.say(NODES[1], Failed(0, "connection reset"))
    job.wait(0.3)
    job.say(NODES[0], Failed(0, "aborted"))
    job.wait(2.7)
    job.cooperate()
    assert job.over is not None
    assert "node-0001 says: connection reset" in job.over.reason
