"""A recovery says whether it waits for a worker, and the ledger books it so."""

from __future__ import annotations

import signal
from collections.abc import Callable
from datetime import datetime

from paramedic.ingest.contract import Event, EventKind, JobName, NodeName
from paramedic.remediation.contract import LedgerClass
from paramedic.remediation.launchers.local.commands import MembershipRules
from paramedic.remediation.launchers.local.messages import Failed
from paramedic.remediation.ledger import book, goodput
from remediation.launchers.rehearsal import Rehearsal

NODES = [NodeName(f"node-{number:04d}") for number in range(12)]
DEMO = JobName("demo")
At = Callable[[float], datetime]


def training_job(spares: int) -> Rehearsal:
    job = Rehearsal(MembershipRules(ranks=3, spares=spares))
    job.cooperate()
    job.first_step = 1
    return job


def lose(job: Rehearsal, node: NodeName) -> None:
    job.exit(node, by=signal.SIGKILL)


def recovering(job: Rehearsal) -> list[object]:
    """Whether each `recovering` that was published says that it waits."""
    states = [event.details for event in job.events(EventKind.JOB_STATE)]
    return [told.get("waiting", False) for told in states if told["state"] == "recovering"]


def booked(job: Rehearsal, at: At) -> dict[str, float]:
    """Seconds of each class, from the events as they were published until now."""
    events = [
        Event(at(seconds), p.kind, DEMO, p.node, None, p.rank, p.generation, p.details)
        for seconds, p in job.published
    ]
    spent: dict[str, float] = {}
    for row in book(DEMO, events, [], at(job.now)):
        seconds = (row.ended_at - row.started_at).total_seconds()
        spent[row.spent_on.value] = spent.get(row.spent_on.value, 0.0) + seconds
    return spent


def test_nobody_waits_when_a_spare_is_ready() -> None:
    job = training_job(spares=1)
    lose(job, NODES[1])
    assert recovering(job) == [False]


def test_a_recovery_without_a_spare_waits() -> None:
    job = training_job(spares=0)
    lose(job, NODES[1])
    assert recovering(job) == [True]


def test_a_spare_that_is_still_starting_is_waited_for() -> None:
    job = training_job(spares=1)
    lose(job, NODES[3])
    job.wait(3.0)
    job.greet(NODES[4])
    lose(job, NODES[1])
    assert job.node_of(1) == NODES[4]
    assert recovering(job) == [True]


def test_a_second_loss_that_finds_no_spare_says_once_more_that_the_job_waits() -> None:
    job = training_job(spares=1)
    job.membership.disconnected(NODES[0], job.now)
    lose(job, NODES[1])
    assert recovering(job) == [False]
    lose(job, NODES[2])
    lose(job, NODES[0])
    assert recovering(job) == [False, True]
    assert job.membership.generation == 0, "all of it is one recovery"


def test_the_same_members_that_form_anew_wait_for_nobody() -> None:
    job = training_job(spares=0)
    job.say(NODES[0], Failed(0, "time-out"))
    job.wait(3.0)
    assert recovering(job) == [False]


def test_a_wait_in_one_recovery_is_not_carried_into_the_next() -> None:
    job = training_job(spares=1)
    lose(job, NODES[1])
    job.cooperate()
    lose(job, NODES[2])
    job.cooperate()
    assert recovering(job) == [False, False]


def test_the_wait_for_a_new_worker_is_booked_as_waiting_for_capacity(at: At) -> None:
    job = training_job(spares=0)
    job.wait(100)
    lose(job, NODES[1])
    job.wait(40)
    job.greet(NODES[3])
    job.make_ready(NODES[3])
    job.wait(2)
    job.cooperate()
    job.wait(58)
    assert booked(job, at) == {"productive": 158, "waiting_for_capacity": 40, "recovery": 2}


def test_no_wait_is_booked_with_a_ready_spare(at: At) -> None:
    job = training_job(spares=1)
    job.wait(10)
    lose(job, NODES[1])
    job.wait(3)
    job.cooperate()
    job.wait(7)
    assert booked(job, at) == {"productive": 17, "recovery": 3}


def test_a_job_that_waits_now_is_booked_as_waiting_up_to_now(at: At) -> None:
    job = training_job(spares=0)
    job.wait(30)
    lose(job, NODES[1])
    job.wait(70)
    assert booked(job, at) == {"productive": 30, LedgerClass.WAITING_FOR_CAPACITY.value: 70}


def test_goodput_counts_a_wait_as_lost(at: At) -> None:
    job = training_job(spares=0)
    job.wait(75)
    lose(job, NODES[1])
    job.wait(25)
    events = [Event(at(t), p.kind, DEMO, details=p.details) for t, p in job.published]
    assert goodput(book(DEMO, events, [], at(100))) == 0.75
