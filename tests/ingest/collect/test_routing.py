"""Pages become rows of jobs in slots, and events about who is in which job."""

from __future__ import annotations

from collections.abc import Iterable

from ingest.collect.imagined import START, Host, page_of, split
from paramedic.ingest.cleaning.port import CleanPage
from paramedic.ingest.collect.configuration import CollectConfig, TenancySettings
from paramedic.ingest.collect.routing import Routed, Router
from paramedic.ingest.contract import Entity, Event, EventKind, NodeName
from paramedic.ingest.sources.port import NodeFact

J = {"hpc_job": "j"}


def new(absent_seconds: float = 900) -> Router:
    return Router(CollectConfig(tenancy=TenancySettings(absent_seconds=absent_seconds)))


def play(
    router: Router, pages: Iterable[CleanPage]
) -> tuple[list[tuple[int, Event]], list[tuple[int, Routed]]]:
    """Events and rows, each with the second of the page that brought it, from the start."""
    events: list[tuple[int, Event]] = []
    rows: list[tuple[int, Routed]] = []
    for page in pages:
        told, routed = router.route(page)
        events += [(page.second - START, event) for event in told]
        rows += [(page.second - START, one) for one in routed]
    return events, rows


def words(events: list[tuple[int, Event]]) -> list[tuple[int, str, str | None]]:
    return [
        (at, str(event.details.get("state") or event.details.get("change")), event.node)
        for at, event in events
    ]


def test_a_job_is_announced_with_its_cadence_and_its_nodes_before_any_of_its_rows() -> None:
    hosts = [Host("a", labels=J), Host("b", labels=J)]
    pages = [page_of(hosts, START + second, "p") for second in range(8)]
    events, rows = play(new(), pages)
    assert words(events) == [
        (3, "starting", None),
        (3, "joined", "a"),
        (3, "joined", "b"),
        (5, "training", None),
    ]
    assert events[0][1].details["sampling_seconds"] == 1
    assert [at for at, _ in rows] == [3, 4, 5, 6, 7]
    assert all(one.slot == START + at and one.shard.job == "j" for at, one in rows)


def test_samples_of_a_slow_source_stand_in_the_slots_of_its_grid() -> None:
    hosts = [Host("a", labels=J), Host("b", labels=J)]
    pages = [
        page_of([host], START + second + phase, "p")
        for second in range(0, 120, 15)
        for phase, host in ((2, hosts[0]), (11, hosts[1]))
    ]
    events, rows = play(new(), pages)
    assert events[0][1].details["sampling_seconds"] == 15
    slots = [(one.slot - START, one.table.nodes[0]) for _, one in rows]
    assert slots[-4:] == [(90, "a"), (90, "b"), (105, "a"), (105, "b")]


def test_rows_that_come_faster_than_the_grid_are_left_out() -> None:
    router = new()
    slow, quick = Host("a", labels=J), Host("a", labels=J)
    pages = []
    for second in range(150):
        if second % 10 == 0:
            pages.append(slow.page(START + second))
        pages.append(quick.node_page(START + second))
    _, rows = play(router, pages)
    node_rows = [one.slot - START for _, one in rows if one.table.entity is Entity.NODE]
    assert node_rows == list(range(30, 150, 10))
    assert router.leftovers.rows["faster_than_grid"] > 0


def test_repeats_are_left_out_and_counted() -> None:
    router = new()
    host = Host("a", labels=J)
    pages = [host.page(START + at, collected_at=at - at % 10) for at in range(100)]
    _, rows = play(router, pages)
    assert [at for at, _ in rows] == list(range(30, 100, 10))
    assert router.leftovers.rows["repeat"] > 0


def test_rows_of_a_node_go_to_every_job_of_its_gpus() -> None:
    router = new()
    labels = split("a", "x", "y")
    pages = []
    for second in range(6):
        page = Host("a").page(START + second)
        pages.append(
            CleanPage(page.origin, page.second, page.tables, labels, page.facts, page.rejected)
        )
        pages.append(Host("a").node_page(START + second))
    _, rows = play(router, pages)
    last = [one for at, one in rows if at == 5]
    assert [(one.shard.job, one.table.entity, one.table.indices) for one in last] == [
        ("x", Entity.GPU, (0,)),
        ("y", Entity.GPU, (1,)),
        ("x", Entity.NODE, None),
        ("y", Entity.NODE, None),
    ]


def test_rows_of_nobody_are_counted_and_not_published() -> None:
    router = new()
    _, rows = play(router, [Host("lonely").node_page(START + second) for second in range(3)])
    assert (rows, router.leftovers.rows["no_job"]) == ([], 3)


def test_a_host_is_a_stranger_until_a_gpu_of_it_is_known() -> None:
    router, host = new(), Host("a")
    pages = (host.node_page(START), page_of([host], START + 1, "p"))
    seen = [router.strangers for page in pages if router.route(page)]
    assert seen == [("a",), ()]


def test_a_job_grows_shrinks_ends_and_may_begin_anew() -> None:
    a, b = Host("a", labels=J), Host("b", labels=J)
    idle = Host("a", utilization=0.0)
    pages = [page_of([a], START + at, "p") for at in range(10)]
    pages += [page_of([a, b], START + at, "p") for at in range(10, 20)]
    pages += [page_of([a, Host("b", labels={"hpc_job": "k"})], START + 20, "p")]
    pages += [page_of([idle], START + at, "p") for at in range(21, 60)]
    pages += [page_of([a], START + at, "p") for at in range(60, 70)]
    events, _ = play(new(), pages)
    of_j = [(at, event) for at, event in events if event.job == "j"]
    assert words(of_j) == [
        (3, "starting", None),
        (3, "joined", "a"),
        (5, "training", None),
        (10, "joined", "b"),
        (20, "left", "b"),
        (50, "left", "a"),
        (50, "finished", None),
        (60, "starting", None),
        (60, "joined", "a"),
        (65, "training", None),
    ]


def test_a_labelled_job_that_does_not_work_is_starting_and_not_training() -> None:
    host = Host("a", labels=J, utilization=0.0)
    events, rows = play(new(), [host.page(START + at) for at in range(30)])
    assert words(events) == [(3, "starting", None), (3, "joined", "a")]
    assert len(rows) == 27


def test_a_silent_node_has_not_left_before_its_time() -> None:
    a, b = Host("a", labels=J), Host("b", labels=J)
    pages = [page_of([a, b], START + at, "p") for at in range(10)]
    pages += [page_of([a], START + at, "p") for at in range(10, 150)]
    events, _ = play(new(absent_seconds=120), pages)
    assert words(events)[-1] == (130, "left", "b")


def test_a_cadence_that_changes_for_good_is_told() -> None:
    host = Host("a", labels=J)
    pages = [host.page(START + at) for at in range(60)]
    pages += [host.page(START + at) for at in range(60, 400, 5)]
    events, rows = play(new(), pages)
    told = [
        (at, e.details["sampling_seconds"]) for at, e in events if "sampling_seconds" in e.details
    ]
    assert told[0] == (3, 1)
    assert told[-1][1] == 5
    assert all(one.slot % 5 == 0 for at, one in rows if at > told[-1][0])


def test_facts_become_events_of_the_job_of_their_gpu() -> None:
    router = new()
    host = Host("a", labels=J)
    play(router, [host.page(START + at) for at in range(5)])
    fact = NodeFact(START + 4.5, EventKind.XID, NodeName("a"), 1, {"code": 79})
    (event,) = router.facts([fact])
    assert (event.job, event.kind, event.node, event.gpu) == ("j", EventKind.XID, "a", 1)
    assert event.details == {"code": 79}
    assert event.timestamp.timestamp() == START + 4.5


def test_a_fact_waits_for_the_job_of_its_node_and_not_for_ever() -> None:
    router = new()
    early = NodeFact(START - 1, EventKind.XID, NodeName("a"), 1)
    stray = NodeFact(START - 1, EventKind.XID, NodeName("elsewhere"))
    assert router.facts([early, stray]) == []
    events, _ = play(router, [Host("a", labels=J).page(START + at) for at in range(70)])
    assert [event.node for _, event in events if event.kind is EventKind.XID] == ["a"]
    assert router.leftovers.facts["no_job"] == 1


def test_a_large_job_has_shards_and_every_row_is_in_one() -> None:
    hosts = [Host(f"n{number:04d}", gpus=1, labels=J) for number in range(600)]
    pages = [page_of(hosts, START + second, "p") for second in range(4)]
    _, rows = play(new(), pages)
    assert {(one.shard.number, one.shard.of) for _, one in rows} == {(0, 2), (1, 2)}
    assert sum(len(one.table.nodes) for _, one in rows) == 600
