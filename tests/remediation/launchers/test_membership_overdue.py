"""Workers that hang where no heart-beat shows it: in their imports, or between ready and a step."""

from __future__ import annotations

import signal

import pytest

from paramedic.ingest.contract import EventKind, NodeName
from paramedic.remediation.launchers.local.commands import JobEnd, MembershipRules, Note
from paramedic.remediation.launchers.local.messages import Committed, Failed, Hello, Store
from paramedic.remediation.launchers.port import Effect
from remediation.launchers.rehearsal import Rehearsal

NODES = [NodeName(f"node-{number:04d}") for number in range(12)]
LIMIT_SECONDS = 300.0


def rehearse(ranks: int = 3, spares: int = 1, retries: int = 3) -> Rehearsal:
    return Rehearsal(
        MembershipRules(ranks=ranks, spares=spares, max_recoveries_without_progress=retries)
    )


def training_job(ranks: int = 3, spares: int = 1, retries: int = 3) -> Rehearsal:
    job = rehearse(ranks, spares, retries)
    job.cooperate()
    assert job.states()[-1] == "training"
    return job


def lose(job: Rehearsal, node: NodeName) -> None:
    job.exit(node, by=signal.SIGKILL)


def cooperate_without(job: Rehearsal, frozen: NodeName) -> None:
    """All but this one do what is due."""
    job.alive[frozen].is_frozen = True
    job.cooperate()


def test_a_newcomer_that_hangs_in_its_imports_is_ended_and_another_one_started() -> None:
    job = training_job(spares=0)
    lose(job, NODES[1])
    assert job.node_of(1) == NODES[3]
    job.wait(LIMIT_SECONDS - 0.1)
    assert job.alive[NODES[3]].signals == []
    job.wait(0.1)
    assert job.alive[NODES[3]].signals == [signal.SIGKILL]
    lose(job, NODES[3])
    assert job.node_of(1) == NODES[4]
    job.cooperate()
    assert job.states()[-1] == "training"
    assert job.membership.generation == 1, "no generation was handed out in between"


def test_a_hello_alone_does_not_save_a_newcomer() -> None:
    job = training_job(spares=0)
    lose(job, NODES[1])
    job.wait(200)
    job.greet(NODES[3])
    job.wait(100)
    assert job.alive[NODES[3]].signals == [signal.SIGKILL]


def test_a_newcomer_that_is_ready_in_time_is_left_alone() -> None:
    job = training_job(spares=0)
    lose(job, NODES[1])
    job.wait(LIMIT_SECONDS - 0.1)
    job.cooperate()
    job.wait(10 * LIMIT_SECONDS)
    assert job.alive[NODES[3]].signals == []


def test_newcomers_that_hang_one_after_the_other_use_up_the_retry_budget() -> None:
    job = training_job(spares=0)
    lose(job, NODES[1])
    for number in (3, 4, 5):
        assert job.over is None
        job.wait(LIMIT_SECONDS)
        lose(job, NODES[number])
    job.cooperate()
    assert job.over is not None
    assert (job.over.end, job.over.node) == (JobEnd.FAILED, NODES[5])
    assert job.over.reason == (
        "node-0005 (rank 1) was ended by SIGKILL (was not ready within 300 s) "
        "and 3 recoveries in a row brought no progress"
    )


def test_a_spare_that_hangs_is_ended_and_costs_no_recovery() -> None:
    job = training_job(retries=0)
    lose(job, NODES[3])
    job.wait(0.5)
    assert NODES[4] in job.alive
    job.wait(LIMIT_SECONDS)
    assert job.alive[NODES[4]].signals == [signal.SIGKILL]
    lose(job, NODES[4])
    job.wait(0.5)
    assert NODES[5] in job.alive
    assert job.over is None
    assert "recovering" not in job.states()


def test_a_ready_spare_may_wait_for_ever() -> None:
    job = training_job()
    job.wait(100 * LIMIT_SECONDS)
    assert not any(worker.signals for worker in job.alive.values())


def test_a_spare_that_took_a_rank_before_it_was_ready_has_no_more_time_than_it_had() -> None:
    job = training_job()
    lose(job, NODES[3])
    job.wait(0.5)
    job.wait(200)
    lose(job, NODES[1])
    assert job.node_of(1) == NODES[4]
    job.wait(100)
    assert job.alive[NODES[4]].signals == [signal.SIGKILL]


def test_the_ranks_of_the_start_may_take_any_time() -> None:
    job = rehearse()
    job.greet(NODES[0])
    job.wait(5 * LIMIT_SECONDS)
    assert not any(job.alive[node].signals for node in NODES[:3])


def test_a_spare_that_froze_when_it_was_ready_is_ended_when_its_step_does_not_come() -> None:
    job = training_job()
    lose(job, NODES[1])
    cooperate_without(job, NODES[3])
    assert job.node_of(1) == NODES[3]
    assert job.states()[-1] == "recovering"
    job.wait(LIMIT_SECONDS)
    ended = [worker.node for worker in job.alive.values() if worker.signals]
    assert ended == [NODES[3]], "the survivors have committed before and are not to blame"
    lose(job, NODES[3])
    job.cooperate()
    assert job.states()[-1] == "training"
    assert job.node_of(1) == NODES[4]
    (note,) = [c.text for c in job.commands if isinstance(c, Note) and "is ended" in c.text]
    assert note == "node-0003 (rank 1) did not make a step within 300 s and is ended"


def test_a_frozen_spare_that_is_to_open_the_store_is_ended_too() -> None:
    job = training_job()
    lose(job, NODES[0])
    cooperate_without(job, NODES[3])
    job.wait(LIMIT_SECONDS)
    assert job.alive[NODES[3]].signals == [signal.SIGKILL]


def test_the_next_verdict_replaces_a_frozen_spare_that_took_a_rank() -> None:
    job = training_job(spares=2)
    lose(job, NODES[1])
    cooperate_without(job, NODES[3])
    assert job.node_of(1) == NODES[3]
    assert job.replace(NODES[3], 0, "before it came").effect is Effect.ALREADY_DONE
    assert job.replace(NODES[3], 1, "about itself").effect is Effect.APPLIED
    lose(job, NODES[3])
    job.cooperate()
    assert (job.node_of(1), job.states()[-1]) == (NODES[4], "training")
    assert job.membership.generation == 2


def test_a_verdict_of_any_generation_since_a_node_took_its_rank_may_end_it() -> None:
    job = training_job(spares=0)
    for lost in (NODES[1], NODES[2]):
        lose(job, lost)
        job.cooperate()
    assert job.membership.generation == 2
    assert job.replace(NODES[3], 1, "seen in 1").effect is Effect.APPLIED
    assert job.replace(NODES[4], 1, "seen in 1, and 2").effect is Effect.ALREADY_DONE
    assert job.replace(NODES[0], 0, "seen in 0").effect is Effect.APPLIED


def test_a_newcomer_that_says_that_it_failed_lives_and_gets_its_time_anew() -> None:
    job = training_job(spares=0)
    lose(job, NODES[1])
    job.greet(NODES[3])
    job.make_ready(NODES[3])
    job.say(NODES[0], Store(1, port=1))
    job.wait(290)
    job.say(NODES[3], Failed(1, "time-out"))
    job.wait(20)
    assert job.membership.generation == 2
    job.say(NODES[0], Store(2, port=1))
    job.wait(LIMIT_SECONDS - 1)
    assert job.alive[NODES[3]].signals == []
    job.wait(1)
    assert job.alive[NODES[3]].signals == [signal.SIGKILL]


def test_a_newcomer_waits_without_a_limit_while_somebody_else_is_being_replaced() -> None:
    job = training_job(spares=1)
    lose(job, NODES[1])
    cooperate_without(job, NODES[3])
    lose(job, NODES[2])
    assert job.node_of(2) == NODES[4]
    job.wait(LIMIT_SECONDS - 1)
    job.cooperate()
    job.wait(2)
    assert job.alive[NODES[3]].signals == []


def test_a_first_step_is_all_that_is_asked_of_a_newcomer() -> None:
    job = training_job(spares=0)
    lose(job, NODES[1])
    job.greet(NODES[3])
    job.make_ready(NODES[3])
    job.say(NODES[0], Store(1, port=1))
    job.say(NODES[3], Committed(1, 5))
    job.wait(LIMIT_SECONDS)
    assert not any(worker.signals for worker in job.alive.values())


def test_the_shell_is_told_when_the_next_one_is_overdue() -> None:
    job = training_job(spares=0)
    assert job.membership.next_deadline() is None
    job.wait(50)
    lose(job, NODES[1])
    assert job.membership.next_deadline() == 50 + LIMIT_SECONDS
    job.wait(LIMIT_SECONDS)
    assert job.membership.next_deadline() is None, "it is ended, and nothing is left to do"


def test_an_overdue_worker_ends_unexpectedly_for_whoever_watches() -> None:
    job = training_job(spares=0)
    lose(job, NODES[1])
    job.wait(LIMIT_SECONDS)
    lose(job, NODES[3])
    event = job.events(EventKind.PROCESS_EXIT)[-1]
    assert (event.node, event.rank, event.details["expected"]) == (NODES[3], 1, False)


@pytest.mark.parametrize("spares", [0, 1])
def test_a_stop_is_not_delayed_by_a_worker_that_hangs(spares: int) -> None:
    job = training_job(spares=spares)
    lose(job, NODES[1])
    job.stop()
    job.wait(5)
    assert all(worker.signals for worker in job.alive.values())


def test_a_hello_from_a_worker_that_is_being_ended_does_not_save_it() -> None:
    job = training_job(spares=0)
    lose(job, NODES[1])
    job.wait(LIMIT_SECONDS)
    job.say(NODES[3], Hello(NODES[3], 3))
    job.make_ready(NODES[3])
    assert job.membership.generation == 0
    assert job.alive[NODES[3]].received == []
