"""From pages to batches: every fresh row of a job is published once, where it belongs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from ingest.collect.imagined import START, Host, page_of
from paramedic.ingest.cleaning.port import CleanPage
from paramedic.ingest.collect.assembling import Assembler
from paramedic.ingest.collect.configuration import CollectConfig
from paramedic.ingest.collect.routing import Router
from paramedic.ingest.contract import Event, EventKind, JobName, TelemetryBatch

SECONDS = 14
HOSTS = [
    Host("a", labels={"hpc_job": "x"}),
    Host("b", labels={"hpc_job": "x"}),
    Host("c", gpus=1, labels={"hpc_job": "y"}),
    Host("d", gpus=1),
]
JOBS = {"a": "x", "b": "x", "c": "y"}


@dataclass(frozen=True)
class Played:
    """What came of some pages."""

    router: Router
    batches: Sequence[TelemetryBatch]
    events: Sequence[Event]

    @property
    def cells(self) -> Counter[tuple[str, int, str, int]]:
        """Job, slot, node and GPU of every row that was published."""
        return Counter(
            (batch.job, batch.second - START, node, gpu)
            for batch in self.batches
            for table in batch.tables
            for node, gpu in zip(table.nodes, table.indices or (), strict=True)
        )


def play(pages: Iterable[tuple[float, CleanPage]]) -> Played:
    """Pages with the times of their arrival, through router and assembler."""
    router, assembler = Router(CollectConfig()), Assembler(1.0)
    batches: list[TelemetryBatch] = []
    events: list[Event] = []
    now = 0.0
    for now, page in pages:
        batches += assembler.due(now)
        told, routed = router.route(page)
        events += told
        batches += assembler.add(page.origin, routed, now)
    batches += assembler.due(now + 1.0)
    return Played(router, batches, events)


def in_time(hosts: Sequence[Host], seconds: Iterable[int]) -> list[tuple[float, CleanPage]]:
    return [
        (second + at / 10, host.page(START + second))
        for second in seconds
        for at, host in enumerate(hosts)
    ]


DELAYS = st.lists(st.floats(0, 3, allow_nan=False), min_size=4, max_size=4)


@given(st.lists(DELAYS, min_size=SECONDS, max_size=SECONDS))
def test_whatever_the_delays_each_row_is_published_once_in_its_slot(
    delays: list[list[float]],
) -> None:
    pages = sorted(
        (
            (second + delays[second][at], host.page(START + second))
            for second in range(SECONDS)
            for at, host in enumerate(HOSTS)
        ),
        key=lambda one: one[0],
    )
    played = play(pages)
    cells = played.cells
    assert set(cells.values()) <= {1}
    assert all(JOBS[node] == job for job, _, node, _ in cells)
    leftovers = played.router.leftovers.rows
    rows = SECONDS * sum(host.gpus for host in HOSTS)
    assert sum(cells.values()) + leftovers.total() == rows


def test_values_arrive_as_they_were_said() -> None:
    played = play(in_time(HOSTS, range(SECONDS)))
    for batch in played.batches:
        for table in batch.tables:
            for at, (node, gpu) in enumerate(zip(table.nodes, table.indices or (), strict=True)):
                host = next(one for one in HOSTS if one.name == node)
                (said,) = host.page(batch.second).tables
                for metric, column in table.columns.items():
                    assert column[at] == said.columns[metric][gpu]


def test_pages_in_time_make_one_batch_a_job_and_second_in_order() -> None:
    played = play(in_time(HOSTS, range(SECONDS)))
    for job in ("x", "y"):
        slots = [batch.second - START for batch in played.batches if batch.job == job]
        assert slots == list(range(slots[0], SECONDS))


def test_a_past_that_comes_at_once_is_published_in_order() -> None:
    pages = [(0.001 * at, page) for at, (_, page) in enumerate(in_time(HOSTS, range(60)))]
    played = play(pages)
    slots = [batch.second - START for batch in played.batches if batch.job == "x"]
    assert slots == sorted(slots)
    assert set(slots) == set(range(slots[0], 60))


def test_machines_of_one_name_in_two_jobs_are_published_in_both_without_a_flood() -> None:
    twins = {job: Host("a", gpus=1, labels={"hpc_job": job}) for job in "xy"}
    pages = [
        (float(second), page)
        for second in range(SECONDS)
        for page in (
            *(page_of([twin], START + second, job) for job, twin in twins.items()),
            Host("a").node_page(START + second),
        )
    ]
    played = play(pages)
    changes = Counter(str(e.details.get("state") or e.details.get("change")) for e in played.events)
    assert changes == {"starting": 2, "joined": 2, "training": 2}
    for job in "xy":
        assert sum(count for cell, count in played.cells.items() if cell[0] == job) == SECONDS - 3
    assert played.router.leftovers.rows["no_job"] == SECONDS, "nothing says whose host rows are"


def test_a_collect_that_starts_anew_finds_the_same_jobs() -> None:
    whole, later = (play(in_time(HOSTS, range(first, 40))) for first in (0, 20))
    for job in map(JobName, ("x", "y")):
        nodes = whole.router.tenancy.nodes_of(job)
        assert nodes
        assert later.router.tenancy.nodes_of(job) == nodes
    last = (39, "a", 0)
    assert ("x", *last) in whole.cells
    assert ("x", *last) in later.cells
    starts = [e.job for e in later.events if e.kind is EventKind.JOB_STATE]
    assert set(starts) == {"x", "y"}


STEP = st.tuples(st.sampled_from("abc"), st.sampled_from(["", "x", "y"]), st.booleans())


@given(st.lists(STEP, max_size=60))
def test_whoever_follows_the_events_knows_who_is_in_which_job(
    steps: list[tuple[str, str, bool]],
) -> None:
    router = Router(CollectConfig())
    members: dict[str, set[str]] = {}
    for at, (name, job, is_used) in enumerate(steps):
        labels = {"hpc_job": job} if job else {}
        page = Host(name, labels=labels, utilization=0.9 * is_used).page(START + 2 * at)
        for event in router.route(page)[0]:
            _follow(members, event)
    assert members == {
        str(job): set(router.tenancy.nodes_of(job)) for job in router.lives.announced
    }


def _follow(members: dict[str, set[str]], event: Event) -> None:
    match event.details.get("state") or event.details["change"]:
        case "starting":
            assert event.job not in members
            members[event.job] = set()
        case "joined":
            assert event.node not in members[event.job]
            members[event.job].add(str(event.node))
        case "left":
            members[event.job].remove(str(event.node))
        case "finished":
            assert members.pop(event.job) == set()
