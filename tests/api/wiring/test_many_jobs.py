"""Who watches many jobs hears each of them by name, with its size, verdicts and hard facts."""

from __future__ import annotations

from datetime import timedelta

from api.verdicts import NOON, a_verdict
from paramedic.api.wiring.many_jobs import ManyJobs
from paramedic.diagnosis.contract import Status, Verdict
from paramedic.ingest.contract import Event, EventKind, JobName, NodeName


def state(state: str, **details: str | int) -> Event:
    return Event(NOON, EventKind.JOB_STATE, JobName("llama"), details={"state": state, **details})


def move(node: str, change: str, gpus: int = 8) -> Event:
    details: dict[str, str | int] = {"change": change, "gpus": gpus}
    return Event(NOON, EventKind.MEMBERSHIP, JobName("llama"), node=NodeName(node), details=details)


def lines(*said: Event | Verdict) -> list[str]:
    many = ManyJobs(lambda: 0.0)
    return [line for one in said for line in many.hear(one)]


def test_a_job_is_told_when_it_trains_with_its_size_and_cadence() -> None:
    begins = (state("starting", sampling_seconds=15), move("a", "joined"), move("b", "joined"))
    assert lines(*begins, state("training", sampling_seconds=15)) == [
        "12:00:00Z job llama: trains: 2 nodes, 16 GPUs, a sample every 15 s"
    ]


def test_what_changes_in_a_job_that_trains_is_told_once() -> None:
    told = lines(
        move("a", "joined"),
        state("training", sampling_seconds=1),
        state("training", sampling_seconds=1),
        move("b", "joined"),
        move("b", "joined"),
        move("a", "left"),
        state("training", sampling_seconds=5),
        state("finished", reason="no node carries it any more"),
        state("training", sampling_seconds=1),
    )
    assert [line.partition("llama: ")[2] for line in told] == [
        "trains: 1 node, 8 GPUs, a sample every second",
        "b has joined",
        "a has left",
        "trains: 1 node, 8 GPUs, a sample every 5 s",
        "has ended: no node carries it any more",
        "trains: 0 nodes, 0 GPUs, a sample every second",
    ]


def test_verdicts_are_told_by_job_when_they_fire_and_resolve() -> None:
    firing = a_verdict()
    later = NOON + timedelta(seconds=5)
    told = lines(
        firing,
        a_verdict(status=Status.UPDATED, detected_at=later),
        a_verdict(status=Status.RESOLVED, detected_at=later),
    )
    assert [line.partition(" P1 ")[0] for line in told] == [
        "12:00:00Z job train: firing",
        "12:00:05Z job train: resolved",
    ]


def test_a_verdict_that_is_decided_again_is_taken_and_told_once() -> None:
    taken: list[Verdict] = []
    many = ManyJobs(lambda: 0.0, taken.append)
    told = [line for _ in range(3) for line in many.hear(a_verdict())]
    assert (len(told), taken) == (1, [a_verdict()])


def test_hard_facts_are_told_with_their_gpu() -> None:
    xid = Event(NOON, EventKind.XID, JobName("llama"), NodeName("a"), gpu=3, details={"code": 79})
    blind = Event(
        NOON, EventKind.TELEMETRY, JobName("llama"), NodeName("a"), details={"change": "gpu_lost"}
    )
    log = Event(NOON, EventKind.KERNEL_LOG, JobName("llama"), NodeName("a"))
    assert lines(xid, blind, log) == [
        "12:00:00Z job llama: xid 79 on GPU 3 of a",
        "12:00:00Z job llama: gpu_lost on a",
    ]
