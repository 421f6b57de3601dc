"""What is told of an exit: who ended the process and why, and which rank truly failed."""

from __future__ import annotations

import itertools
import signal

import pytest

from paramedic.ingest.contract import EventKind, NodeName
from paramedic.remediation.launchers.local.commands import JobEnd, MembershipRules
from paramedic.remediation.launchers.local.messages import Failed, FromWorker, Raised, Store
from remediation.launchers.rehearsal import Rehearsal

NODES = [NodeName(f"node-{number:04d}") for number in range(12)]
ERROR = "ValueError: a bad batch"


def training_job(retries: int = 3) -> Rehearsal:
    rules = MembershipRules(ranks=3, spares=1, max_recoveries_without_progress=retries)
    job = Rehearsal(rules)
    job.cooperate()
    assert job.states()[-1] == "training"
    return job


def told_of(job: Rehearsal, node: NodeName) -> dict[str, object]:
    (event,) = [e for e in job.events(EventKind.PROCESS_EXIT) if e.node == node]
    return dict(event.details)


def test_a_lost_control_connection_is_told_as_the_launcher_s_doing() -> None:
    job = training_job()
    job.membership.disconnected(NODES[1], job.now)
    job.wait(15)
    job.exit(NODES[1], by=signal.SIGKILL)
    assert told_of(job, NODES[1]) == {
        "signal": 9,
        "expected": False,
        "ended_by": "launcher",
        "reason": "lost its control connection",
    }


def test_a_process_that_ended_by_itself_is_not_told_as_the_launcher_s_doing() -> None:
    job = training_job()
    job.exit(NODES[1], by=signal.SIGKILL)
    assert told_of(job, NODES[1]) == {"signal": 9, "expected": False}


def test_a_signal_that_came_too_late_did_not_end_the_process() -> None:
    job = Rehearsal(MembershipRules(ranks=2, spares=0))
    job.exit(NODES[0], code=1)
    assert job.alive[NODES[1]].signals == [signal.SIGTERM]
    job.membership.ended_before_the_signal(NODES[1])
    job.exit(NODES[1], code=1)
    assert told_of(job, NODES[1]) == {"exit_code": 1, "expected": True}


def test_those_that_are_ended_with_the_job_are_told_so() -> None:
    job = Rehearsal(MembershipRules(ranks=2, spares=0))
    job.exit(NODES[0], code=1)
    job.cooperate()
    told = told_of(job, NODES[1])
    assert (told["ended_by"], told["reason"]) == ("launcher", "its job has failed")


def test_a_rank_that_fails_while_it_is_asked_to_stop_failed_by_itself() -> None:
    job = training_job()
    job.stop()
    job.exit(NODES[1], code=1)
    job.exit(NODES[0], code=0)
    assert "ended_by" not in told_of(job, NODES[1])
    assert told_of(job, NODES[0])["reason"] == "its job has stopped"


def test_the_error_of_a_process_is_told_with_its_exit_and_with_the_job_s_end() -> None:
    job = training_job(retries=0)
    job.say(NODES[1], Raised(ERROR))
    job.exit(NODES[1], code=1)
    job.cooperate()
    assert told_of(job, NODES[1]) == {"exit_code": 1, "expected": False, "reason": ERROR}
    assert job.over is not None
    assert job.over.reason.startswith(f"node-0001 (rank 1) exited with 1 ({ERROR}) ")


TOLD: dict[str, tuple[NodeName, FromWorker]] = {
    "the culprit": (NODES[1], Raised(ERROR)),
    "a survivor": (NODES[0], Failed(0, "Connection closed by peer")),
    "another survivor": (NODES[2], Failed(0, "Connection reset by peer")),
}


@pytest.mark.parametrize("order", list(itertools.permutations(TOLD)))
def test_the_rank_that_raised_is_named_in_whatever_order_it_is_heard(
    order: tuple[str, ...],
) -> None:
    job = Rehearsal(MembershipRules(ranks=3, spares=0, max_recoveries_without_progress=0))
    for node in NODES[:3]:
        job.greet(node)
        job.make_ready(node)
    job.say(NODES[0], Store(0, port=1))
    for who in order:
        job.say(*TOLD[who])
        job.wait(0.1)
    job.wait(20)
    assert "failed" not in str(job.events(EventKind.JOB_STATE)), "a slow exit is waited for"
    assert job.membership.generation == 0
    job.exit(NODES[1], code=1)
    job.cooperate()
    assert job.over is not None
    assert (job.over.end, job.over.node, job.over.rank) == (JobEnd.FAILED, NODES[1], 1)


def test_a_process_that_raised_and_does_not_exit_is_made_to() -> None:
    job = training_job()
    job.say(NODES[1], Raised(ERROR))
    job.say(NODES[0], Failed(0, "Connection closed by peer"))
    job.wait(30)
    assert job.alive[NODES[1]].signals == [signal.SIGKILL]
    job.exit(NODES[1], by=signal.SIGKILL)
    job.cooperate()
    assert told_of(job, NODES[1])["reason"] == f"raised {ERROR} and has not exited"
    assert (job.node_of(1), job.states()[-1]) == (NODES[3], "training")


def test_a_newcomer_that_raised_is_made_to_exit_though_it_says_that_it_is_ready() -> None:
    job = training_job()
    job.membership.disconnected(NODES[3], job.now)
    job.exit(NODES[0], by=signal.SIGKILL)
    newcomer = job.node_of(0)
    job.say(newcomer, Raised(ERROR))
    job.greet(newcomer)
    job.make_ready(newcomer)
    job.wait(30)
    assert job.alive[newcomer].signals == [signal.SIGKILL]


def test_a_rank_on_its_way_out_is_given_no_new_generation() -> None:
    job = training_job()
    job.say(NODES[1], Raised(ERROR))
    job.exit(NODES[2], by=signal.SIGKILL)
    assert job.membership.generation == 0
    job.exit(NODES[1], code=1)
    job.cooperate()
    assert job.states()[-1] == "training"
    assert {job.node_of(1), job.node_of(2)} == {NODES[3], NODES[4]}
