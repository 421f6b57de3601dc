"""A loop that is left early, with exit code 0, must not keep a job going round for ever."""

from __future__ import annotations

import signal

import pytest

from paramedic.ingest.contract import EventKind, NodeName
from paramedic.remediation.launchers.local.commands import JobEnd, MembershipRules
from paramedic.remediation.launchers.local.messages import Failed, Finished
from remediation.launchers.rehearsal import Rehearsal

MOST_ROUNDS = 20


def training_job(ranks: int, retries: int = 3, spares: int = 1) -> Rehearsal:
    rules = MembershipRules(ranks=ranks, spares=spares, max_recoveries_without_progress=retries)
    job = Rehearsal(rules)
    job.cooperate()
    return job


def leave(job: Rehearsal, rank: int) -> NodeName:
    node = job.node_of(rank)
    job.exit(node, code=0)
    return node


def test_one_early_leave_is_a_loss_like_any_other() -> None:
    job = training_job(ranks=2)
    node = leave(job, 1)
    job.cooperate()
    assert job.states()[-2:] == ["recovering", "training"]
    (event,) = job.events(EventKind.PROCESS_EXIT)
    assert (event.node, event.details) == (node, {"exit_code": 0, "expected": False})


@pytest.mark.parametrize(
    ("retries", "in_vain"),
    [
        (0, "no recovery is allowed"),
        (1, "1 recovery from that did not help"),
        (3, "3 recoveries from that did not help"),
    ],
)
def test_progress_between_early_leaves_does_not_buy_more_of_them(
    retries: int, in_vain: str
) -> None:
    job = training_job(ranks=2, retries=retries)
    rounds = 0
    while job.over is None and rounds < MOST_ROUNDS:
        leave(job, 1)
        job.cooperate()
        rounds += 1
    assert rounds == retries + 1
    assert job.over is not None
    assert job.over.end is JobEnd.FAILED
    assert job.over.reason.endswith(
        f"(rank 1) exited with 0 without having finished, and {in_vain}: "
        "let the loop over the steps come to its end, or close it"
    )


def test_early_leaves_count_over_all_ranks() -> None:
    job = training_job(ranks=4)
    for rank in range(4):
        assert job.over is None
        leave(job, rank)
    job.cooperate()
    assert job.over is not None
    assert job.over.end is JobEnd.FAILED


def test_early_leaves_cost_the_budget_of_losses_too() -> None:
    job = training_job(ranks=2, retries=1, spares=0)
    leave(job, 1)
    job.exit(job.node_of(1), by=signal.SIGKILL)
    job.cooperate()
    assert job.over is not None
    assert "1 recovery brought no progress" in job.over.reason


def test_losses_of_other_kinds_may_go_on_after_an_early_leave() -> None:
    job = training_job(ranks=2)
    leave(job, 0)
    job.cooperate()
    for _ in range(6):
        job.exit(job.node_of(1), by=signal.SIGKILL)
        job.cooperate()
    assert job.over is None


def test_a_worker_that_was_told_to_exit_has_not_left_early() -> None:
    job = training_job(ranks=2, retries=0)
    job.replace(job.node_of(1), 0, "verdict-1")
    leave(job, 1)
    assert job.over is None or "without having finished" not in job.over.reason


def test_who_said_that_it_finished_has_not_left_early() -> None:
    job = training_job(ranks=2, retries=0)
    nodes = [job.node_of(rank) for rank in (0, 1)]
    for node in nodes:
        job.say(node, Finished(9))
        job.exit(node, code=0)
    job.cooperate()
    assert job.over is not None
    assert job.over.end is JobEnd.FINISHED


def test_a_rank_that_leaves_alone_ends_the_job_that_the_others_cannot_go_on_with() -> None:
    job = training_job(ranks=3)
    job.say(job.node_of(1), Finished(9))
    job.exit(job.node_of(1), code=0)
    job.say(job.node_of(0), Failed(0, "connection closed by peer", 9))
    job.wait(3.0)
    job.cooperate()
    assert job.over is not None
    assert job.over.end is JobEnd.FAILED
    assert job.over.reason.startswith("rank 1 left its loop before the others, ")
