"""People are told each thing once, in a line."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paramedic.ingest.collect.configuration import CollectConfig
from paramedic.ingest.collect.reporting import Reporter
from paramedic.ingest.collect.status import CollectStatus, JobStatus, progress_line
from paramedic.ingest.contract import Event, EventKind, JobName, NodeName

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
EMPTY = CollectStatus()


def new() -> tuple[Reporter, list[str]]:
    lines: list[str] = []
    return Reporter(CollectConfig(), lines.append, lines.append), lines


def event(job: str, node: str | None = None, **details: str | int) -> Event:
    kind = EventKind.JOB_STATE if node is None else EventKind.MEMBERSHIP
    return Event(
        NOON, kind, JobName(job), None if node is None else NodeName(node), details=details
    )


def status_of(job: str, nodes: int = 64, grid: int = 1) -> CollectStatus:
    return CollectStatus(
        hosts=nodes, gpus=8 * nodes, jobs={JobName(job): JobStatus(nodes, 8 * nodes, grid, True)}
    )


def test_a_job_is_told_with_its_size_and_cadence_and_without_a_list_of_its_nodes() -> None:
    reporter, lines = new()
    events = [event("llama", state="starting"), event("llama", "a", change="joined")]
    reporter.events(events, lambda: status_of("llama", grid=15))
    assert lines == ["job llama: 64 nodes, 512 GPUs, a sample every 15 s"]


def test_the_job_of_all_busy_hosts_is_explained_once() -> None:
    reporter, lines = new()
    for _ in range(2):
        reporter.events([event("cluster", state="starting")], lambda: status_of("cluster"))
    assert [line.split(",")[0] for line in lines] == [
        "no label names a job",
        "job cluster: 64 nodes",
        "job cluster: 64 nodes",
    ]


def test_members_that_come_and_go_are_named_as_long_as_they_are_few() -> None:
    reporter, lines = new()
    came = [event("llama", f"n{number}", change="joined") for number in range(5)]
    left = [event("llama", "n9", change="left")]
    over = [event("llama", state="finished", reason="no node carries it any more")]
    reporter.events([*came, *left, *over], lambda: EMPTY)
    assert lines == [
        "job llama has ended: no node carries it any more",
        "job llama: n0, n1, n2 and 2 more joined",
        "job llama: n9 left",
    ]


def test_a_lack_of_gpu_metrics_is_told_once_and_not_at_once() -> None:
    reporter, lines = new()
    reporter.look(EMPTY, None, 100.0)
    reporter.heard("origin", 100.0)
    for now in (101.0, 114.0):
        reporter.look(EMPTY, None, now)
    assert lines == []
    for now in (115.0, 116.0):
        reporter.look(EMPTY, None, now)
    assert len(lines) == 1
    assert "no GPU metrics" in lines[0]


def test_idle_hosts_without_labels_are_told_once() -> None:
    reporter, lines = new()
    reporter.heard("origin", 0.0)
    for now in (15.0, 16.0):
        reporter.look(CollectStatus(hosts=2, gpus=16), None, now)
    (line,) = lines
    assert line.startswith("2 hosts with 16 GPUs, but no label names a job and none is in use")


def test_nothing_is_missing_once_there_is_a_job() -> None:
    reporter, lines = new()
    reporter.heard("origin", 0.0)
    reporter.look(status_of("llama"), None, 60.0)
    assert lines == []


def test_who_gives_nothing_is_told_with_the_reason_and_told_again_when_it_is_over() -> None:
    reporter, lines = new()
    for now in range(3):
        reporter.silent("http://prometheus:9090", "connection refused", float(now))
        reporter.look(EMPTY, None, float(now))
    reporter.heard("http://prometheus:9090", 20.0)
    reporter.look(EMPTY, None, 20.0)
    assert lines == [
        "http://prometheus:9090 gives nothing: connection refused",
        "http://prometheus:9090 answers again",
    ]
    assert reporter.silent_origins == 0


def test_another_reason_of_the_same_silence_is_told_and_a_longer_one_is_not() -> None:
    reporter, lines = new()
    for now, reason in enumerate(
        ["no samples for 3 s", "no samples for 4 s", "refused", "refused"]
    ):
        reporter.silent("http://p", reason, now * 20.0)
        reporter.look(EMPTY, None, now * 20.0)
    reporter.silent("http://p", "no samples for 80 s", 80.0)
    reporter.look(EMPTY, None, 80.0)
    assert lines == [
        "http://p gives nothing: no samples for 3 s",
        "http://p gives nothing: refused",
    ]


def test_hosts_whose_telemetry_keeps_matching_no_job_are_told_once() -> None:
    reporter, lines = new()
    reporter.heard("origin", 0.0)
    lost = replace(status_of("llama"), strangers=(NodeName("10.0.0.1"), NodeName("10.0.0.2")))
    for now, status in ((20.0, lost), (30.0, EMPTY), (31.0, lost), (45.0, lost)):
        reporter.look(replace(status, gpus=512, jobs=lost.jobs), None, now)
    assert lines == []
    for now in (46.0, 90.0):
        reporter.look(lost, None, now)
    (line,) = lines
    assert line.startswith("host telemetry of 2 hosts matches no job: 10.0.0.1, 10.0.0.2 (no GPU")


@pytest.mark.parametrize(
    ("reason", "line"),
    [
        ("http://p: refused", "http://p/ gives nothing: refused"),
        ("http://p gives no answer of a Prometheus: x", None),
        ("http://p answers with HTTP 503: busy", None),
        ("http://p:9090: refused", "http://p/ gives nothing: http://p:9090: refused"),
    ],
)
def test_an_address_stands_once_in_a_line(reason: str, line: str | None) -> None:
    reporter, lines = new()
    reporter.silent("http://p/", reason, 0.0)
    reporter.look(EMPTY, None, 0.0)
    assert lines == [line or reason]


def test_many_that_fall_silent_are_a_line_now_and_then_and_not_one_each() -> None:
    reporter, lines = new()
    for number in range(200):
        reporter.silent(f"n{number:03d}", "timed out", number / 10)
        reporter.look(EMPTY, None, number / 10)
    assert len(lines) == 2
    assert lines[1] == "n001, n002, n003 and 97 more give nothing: timed out"


def test_a_silence_that_nobody_speaks_of_any_more_is_over() -> None:
    reporter, _ = new()
    reporter.silent("http://prometheus:9090 instance n1", "down", 0.0)
    reporter.look(EMPTY, None, 61.0)
    assert reporter.silent_origins == 0


def test_a_bus_that_is_away_is_told_once_and_so_is_its_return() -> None:
    reporter, lines = new()
    for now, trouble in enumerate((None, "no broker at b:9092", "no broker", None, None)):
        reporter.look(EMPTY, trouble, float(now))
    assert lines == [
        "no broker at b:9092; up to 60 s of telemetry are kept meanwhile",
        "the bus takes messages again",
    ]


def test_progress_tells_what_happened_since_the_last_line() -> None:
    before = CollectStatus(samples=1000, dropped={"page": 1}, rejected={("blank", "x"): 5})
    now = CollectStatus(
        samples=31_000,
        dropped={"page": 3},
        rejected={("blank", "x"): 6},
        silent_origins=1,
        lag_seconds=1.25,
        hosts=2,
        gpus=16,
        jobs={JobName("j"): JobStatus(2, 16, 1, True)},
    )
    assert progress_line(before, now, 10.0) == (
        "2 hosts, 16 GPUs, j (2 nodes); 3,000 samples/s, 1 rejected, lag 1.2 s, 2 dropped,"
        " 1 source silent"
    )


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=30))
def test_silence_and_its_end_are_told_in_turns(steps: list[tuple[str, bool]]) -> None:
    reporter, lines = new()
    silent: set[str] = set()
    for at, (origin, answers) in enumerate(steps):
        now = 20.0 * at
        for one in silent:  # sources say it again and again
            reporter.silent(one, "refused", now)
        if answers:
            silent.discard(origin)
            reporter.heard(origin, now)
        else:
            silent.add(origin)
            reporter.silent(origin, "refused", now)
        reporter.look(EMPTY, None, now)
        assert reporter.silent_origins == len(silent)
        assert all(one in reporter.silence for one in silent)
        assert reporter.silence.endswith("nothing: refused") == bool(silent)
        told = [line for line in lines if line.startswith(origin)]
        assert not told or ("again" in told[-1]) is answers
        turns = ["again" in line for line in told]
        assert all(one is not other for one, other in pairwise(turns))


def test_machines_of_one_name_are_told_once() -> None:
    reporter, lines = new()
    reporter.heard("a", 0.0)
    for now, twins in enumerate(((), ("n1", "n2"), ("n1",), (), ("n3",)), 20):
        named = tuple(map(NodeName, twins))
        reporter.look(replace(status_of("llama"), twins=named), None, float(now))
    (line,) = lines
    assert line.startswith("n1, n2 are the names of machines in different jobs at once")
