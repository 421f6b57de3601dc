"""Workers that are waited for: the ranks of the start, and those that wait for an assignment."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from paramedic.ingest.contract import EventKind, NodeName
from paramedic.remediation.launchers.local.commands import MembershipRules, Note
from paramedic.remediation.launchers.local.messages import Pong
from remediation.launchers.rehearsal import Rehearsal

NODES = [NodeName(f"node-{number:04d}") for number in range(12)]


def started_job(ranks: int = 3, spares: int = 1) -> Rehearsal:
    return Rehearsal(MembershipRules(ranks=ranks, spares=spares))


def training_job(ranks: int = 3, spares: int = 1) -> Rehearsal:
    job = started_job(ranks, spares)
    job.cooperate()
    assert job.states()[-1] == "training"
    return job


def notes_of(job: Rehearsal, words: str) -> list[str]:
    return [c.text for c in job.commands if isinstance(c, Note) and words in c.text]


def pass_seconds(job: Rehearsal, seconds: int) -> None:
    for _ in range(seconds):
        job.wait(1.0)


def test_a_rank_that_freezes_in_its_start_is_named_and_its_rank_goes_to_the_spare() -> None:
    job = started_job()
    job.alive[NODES[1]].is_frozen = True
    job.cooperate()
    job.wait(30)
    (note,) = notes_of(job, "has not joined")
    assert note == (
        "node-0001 (rank 1) has not joined, other ranks wait for it: unless it is ready in 90 s "
        "it is ended and its rank is started anew"
    )
    job.wait(89.9)
    assert job.alive[NODES[1]].signals == []
    job.wait(0.1)
    assert job.alive[NODES[1]].signals == [signal.SIGKILL]
    job.exit(NODES[1], by=signal.SIGKILL)
    job.cooperate()
    assert (job.node_of(1), job.states()[-1]) == (NODES[3], "training")
    (event,) = job.events(EventKind.PROCESS_EXIT)
    assert event.details["ended_by"] == "launcher"
    assert event.details["reason"] == "has not joined within 120 s of the first rank"


def test_ranks_that_all_load_for_long_are_left_alone() -> None:
    job = started_job()
    for node in NODES[:3]:
        job.greet(node)
    job.wait(3600)
    job.cooperate()
    assert job.states()[-1] == "training"
    assert notes_of(job, "has not joined") == []


def test_a_ready_rank_that_freezes_before_the_others_are_there_is_started_anew() -> None:
    job = started_job(spares=0)
    for node in NODES[:2]:
        job.greet(node)
        job.make_ready(node)
    job.alive[NODES[0]].is_frozen = True
    pass_seconds(job, 12)
    assert job.alive[NODES[0]].signals == [signal.SIGKILL]
    job.exit(NODES[0], by=signal.SIGKILL)
    job.cooperate()
    assert (job.node_of(0), job.states()[-1]) == (NODES[3], "training")


def test_a_spare_that_freezes_while_it_waits_is_replaced_without_being_assigned() -> None:
    job = training_job()
    frozen = job.alive[NODES[3]]
    frozen.is_frozen = True
    pass_seconds(job, 11)
    assert frozen.signals == []
    pass_seconds(job, 1)
    assert frozen.signals == [signal.SIGKILL]
    job.exit(NODES[3], by=signal.SIGKILL)
    job.wait(0.5)
    assert frozen.assignment is None
    assert NODES[4] in job.alive
    (event,) = job.events(EventKind.PROCESS_EXIT)
    assert (event.rank, event.details["reason"]) == (None, "has not answered for 10 s")
    assert "recovering" not in job.states()


def test_a_silent_spare_is_passed_over_before_it_is_ended() -> None:
    job = training_job()
    job.alive[NODES[3]].is_frozen = True
    pass_seconds(job, 4)
    job.exit(NODES[1], by=signal.SIGKILL)
    job.cooperate()
    assert (job.node_of(1), job.states()[-1]) == (NODES[4], "training")
    assert job.alive[NODES[3]].assignment is None


def test_a_spare_that_was_given_a_rank_just_after_it_froze_is_ended_soon() -> None:
    job = training_job()
    job.alive[NODES[3]].is_frozen = True
    pass_seconds(job, 2)
    job.exit(NODES[1], by=signal.SIGKILL)
    job.cooperate()
    assert job.node_of(1) == NODES[3]
    pass_seconds(job, 10)
    assert job.alive[NODES[3]].signals == [signal.SIGKILL]


def test_a_spare_that_answers_again_is_as_good_as_before() -> None:
    job = training_job()
    spare = job.alive[NODES[3]]
    spare.is_frozen = True
    pass_seconds(job, 9)
    spare.is_frozen = False
    job.say(NODES[3], Pong())
    pass_seconds(job, 60)
    assert spare.signals == []
    job.exit(NODES[1], by=signal.SIGKILL)
    job.cooperate()
    assert (job.node_of(1), job.states()[-1]) == (NODES[3], "training")


def test_a_supervisor_that_was_stopped_itself_blames_nobody() -> None:
    job = training_job()
    spare = job.alive[NODES[3]]
    spare.is_frozen = True
    pass_seconds(job, 4)
    job.wait(3600)
    assert spare.signals == []


def test_members_are_never_pinged() -> None:
    job = training_job(spares=0)
    for worker in job.alive.values():
        worker.is_frozen = True
    pass_seconds(job, 60)
    assert not any(worker.signals for worker in job.alive.values())


@pytest.mark.parametrize("name", ["start_timeout_seconds", "ping_seconds", "unanswered_pings"])
def test_a_patience_of_nothing_is_refused(name: str) -> None:
    given: dict[str, Any] = {name: 0}
    with pytest.raises(ValueError, match=f"{name}: 0 is not above zero"):
        MembershipRules(ranks=1, **given)
