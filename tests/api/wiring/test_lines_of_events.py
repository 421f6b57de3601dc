"""The line of each event, word for word: what somebody at a terminal reads."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.verdicts import NOON, a_verdict
from paramedic.api.wiring import many_jobs
from paramedic.api.wiring.many_jobs import ManyJobs
from paramedic.api.wiring.narration import Theme, lines_of_job, narrate
from paramedic.diagnosis.contract import Status, Verdict
from paramedic.ingest.contract import Event, EventKind, JobName, NodeName

JOB = JobName("train")
EXIT, STATE = EventKind.PROCESS_EXIT, EventKind.JOB_STATE


def event(kind: EventKind, node: str | None = None, **given_fields: Any) -> Event:
    """An event of the job; `rank`, `gpu` and `generation` are its own, the rest details."""
    own = {name: given_fields.pop(name) for name in ("rank", "gpu", "generation", "job")
           if name in given_fields}  # fmt: skip
    job = own.pop("job", JOB)
    return Event(
        NOON, kind, job, None if node is None else NodeName(node), details=given_fields, **own
    )


@pytest.mark.parametrize(
    ("said", "theme", "text"),
    [
        (event(EXIT, "n1", rank=2, signal=9), Theme.EVENT,
         "process of rank 2 on n1 ended with signal 9"),
        (event(EXIT, "n1", rank=2, exit_code=3), Theme.EVENT,
         "process of rank 2 on n1 ended with exit code 3"),
        (event(EXIT, "n4", exit_code=1), Theme.EVENT,
         "process of a spare on n4 ended with exit code 1"),
        (event(EXIT, "n1", rank=0, signal=9, expected=True), Theme.EVENT,
         "process of rank 0 on n1 ended with signal 9"),
        (event(EXIT, "n1", rank=0, signal=9, ended_by="launcher", reason="not ready in 300 s"),
         Theme.EVENT,
         "process of rank 0 on n1 ended with signal 9 (ended by the launcher: not ready in 300 s)"),
        (event(EXIT, "n1", rank=0, signal=9, ended_by="launcher"), Theme.EVENT,
         "process of rank 0 on n1 ended with signal 9 (ended by the launcher)"),
        (event(EXIT, "n1", rank=0, exit_code=1, reason="ValueError: x"), Theme.EVENT,
         "process of rank 0 on n1 ended with exit code 1"),
        (event(EventKind.MEMBERSHIP, "n1", rank=2, change="replaced_by", by="n4"), Theme.ACTION,
         "rank 2 moves from n1 to n4"),
        (event(STATE, state="starting", generation=0), Theme.EVENT,
         "job is starting (generation 0)"),
        (event(STATE, state="recovering", generation=1), Theme.ACTION,
         "job is recovering (generation 1)"),
        (event(STATE, state="training", generation=0), Theme.EVENT,
         "job trains (generation 0)"),
        (event(STATE, state="training", generation=2, step=0, steps_lost=0), Theme.RECOVERY,
         "job trains (generation 2, step 0, 0 steps lost)"),
        (event(STATE, state="finished", generation=1), Theme.EVENT,
         "job has finished (generation 1)"),
        (event(STATE, state="finished", generation=1, result="finished", reason="every rank"),
         Theme.EVENT, "job has finished (generation 1)"),
        (event(STATE, state="finished", generation=1, result="failed", reason="no rank came up"),
         Theme.EVENT, "job has failed: no rank came up (generation 1)"),
        (event(STATE, state="finished", generation=0, result="stopped"), Theme.EVENT,
         "job has stopped (generation 0)"),
        (event(EventKind.CHECKPOINT, result="saved", step=9), Theme.EVENT, "checkpoint saved"),
    ],
)  # fmt: skip
def test_an_event_is_a_line(said: Event, theme: Theme, text: str) -> None:
    line = narrate(said)
    assert line is not None
    assert (line.theme, line.text) == (theme, text)


@pytest.mark.parametrize(
    "said",
    [
        event(EXIT, "n1", rank=0, exit_code=0, expected=True),
        event(EXIT, "n4", signal=15, expected=True),
        event(EventKind.MEMBERSHIP, "n1", rank=0, change="joined"),
        event(EventKind.MEMBERSHIP, "n1", change="left"),
        event(EventKind.KERNEL_LOG, "n1", text="x"),
        event(EventKind.XID, "n1", gpu=3, code=79),
    ],
)
def test_what_only_fills_the_screen_is_no_line(said: Event) -> None:
    assert narrate(said) is None
    assert lines_of_job("train")(said) == []


def test_the_narrator_of_a_job_hears_its_own_and_puts_the_theme_before() -> None:
    hear = lines_of_job("train")
    assert hear(event(EventKind.CHECKPOINT, result="failed")) == ["event: checkpoint failed"]
    assert hear(event(EventKind.CHECKPOINT, result="failed", job=JobName("other"))) == []
    assert hear(a_verdict(job=JobName("other"))) == []
    (line,) = hear(a_verdict())
    assert line.startswith("verdict: firing P1 hang on node-0002 ")


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (event(EventKind.XID, "a", gpu=3, code=79), "xid 79 on GPU 3 of a"),
        (event(EventKind.XID, "a", gpu=0, xid=119), "xid 119 on GPU 0 of a"),
        (event(EventKind.XID, "a"), "xid on a"),
        (event(EventKind.SXID, "a", code=12028), "sxid 12028 on a"),
        (event(EventKind.TELEMETRY, "a", change="silent"), "silent on a"),
    ],
)
def test_a_hard_fact_says_what_and_where(said: Event, line: str) -> None:
    assert ManyJobs(lambda: 0.0).hear(said) == [f"12:00:00Z job train: {line}"]


def test_lines_begin_with_their_own_time_in_utc() -> None:
    late = a_verdict(detected_at=(NOON + timedelta(hours=1)).astimezone())
    (line,) = ManyJobs(lambda: 0.0).hear(late)
    assert line.startswith("13:00:00Z job train: firing")


def test_a_job_that_ends_before_it_was_told_ends_unsaid() -> None:
    many = ManyJobs(lambda: 0.0)
    said = [event(STATE, state="starting"), event(STATE, state="finished", reason="x")]
    assert [line for one in said for line in many.hear(one)] == []


def test_an_end_without_a_reason_says_so() -> None:
    many = ManyJobs(lambda: 0.0)
    many.hear(event(STATE, state="training", sampling_seconds=1))
    (line,) = many.hear(event(STATE, state="finished"))
    assert line.endswith("has ended: nothing is known of why")


def test_membership_of_nobody_and_gpus_that_are_no_number_hurt_nobody() -> None:
    many = ManyJobs(lambda: 0.0)
    many.hear(event(EventKind.MEMBERSHIP, change="joined", gpus=8))
    many.hear(event(EventKind.MEMBERSHIP, "a", change="joined", gpus="eight"))
    many.hear(event(EventKind.MEMBERSHIP, "b", change="left"))
    (line,) = many.hear(event(STATE, state="training", sampling_seconds=1))
    assert line.endswith("trains: 1 node, 0 GPUs, a sample every second")


def test_jobs_are_told_apart() -> None:
    many = ManyJobs(lambda: 0.0)
    for job, nodes in (("one", "ab"), ("two", "c")):
        for node in nodes:
            many.hear(event(EventKind.MEMBERSHIP, node, change="joined", gpus=4, job=JobName(job)))
    lines = [
        many.hear(event(STATE, state="training", sampling_seconds=2, job=JobName(job)))[0]
        for job in ("one", "two")
    ]
    assert [line.partition("job ")[2] for line in lines] == [
        "one: trains: 2 nodes, 8 GPUs, a sample every 2 s",
        "two: trains: 1 node, 4 GPUs, a sample every 2 s",
    ]


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(list(Status)), st.integers(0, 2))))
def test_each_state_of_a_verdict_is_taken_once_in_whatever_order(
    states: list[tuple[int, Status, int]],
) -> None:
    taken: list[Verdict] = []
    many = ManyJobs(lambda: 0.0, taken.append)
    said = [
        a_verdict(id=f"V{number}", status=status, detected_at=NOON + timedelta(seconds=seconds))
        for number, status, seconds in states
    ]
    lines = [line for verdict in said for line in many.hear(verdict)]
    assert taken == list({(one.id, one.status, one.detected_at): one for one in said}.values())
    assert len(lines) == sum(one.status is not Status.UPDATED for one in taken)


def test_what_was_heard_long_ago_is_forgotten_and_memory_stays_small() -> None:
    many, limit = ManyJobs(lambda: 0.0), many_jobs._VERDICTS_REMEMBERED
    said = [a_verdict(id=f"V{number}") for number in range(3)]
    many.hear(said[0])
    many._order.extend((f"filler{number}", Status.FIRING, NOON) for number in range(limit - 2))
    many.hear(said[1])
    assert many.hear(said[0]) == [], "the last that has room is remembered"
    many.hear(said[2])
    assert len(many._order) == limit
    assert len(many.hear(said[0])) == 1


def test_who_joins_a_job_that_trains_is_told_at_once_and_not_again() -> None:
    many = ManyJobs(lambda: 0.0)
    many.hear(event(STATE, state="training"))
    joined = event(EventKind.MEMBERSHIP, "b", change="joined", gpus=8)
    assert many.hear(joined) == ["12:00:00Z job train: b has joined"]
    assert many.hear(joined) == []
    assert many.hear(event(EventKind.MEMBERSHIP, "b", change="left")) == [
        "12:00:00Z job train: b has left"
    ]


def test_a_job_that_does_not_tell_its_cadence_has_a_sample_every_second() -> None:
    (line,) = ManyJobs(lambda: 0.0).hear(event(STATE, state="training"))
    assert line.endswith("a sample every second")
