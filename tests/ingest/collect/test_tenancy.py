"""Which job GPUs and nodes belong to, and when that changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ingest.collect.imagined import START, Host, split
from paramedic.ingest.collect.configuration import LabelSettings, TenancySettings
from paramedic.ingest.collect.tenancy import Tenancy
from paramedic.ingest.collect.usage import gpus_in_use
from paramedic.ingest.contract import Entity, JobName, NodeName, Table

SETTINGS = TenancySettings(
    busy_seconds=5, idle_seconds=60, unlabelled_seconds=20, absent_seconds=300
)
EVERYBODY = JobName("cluster")


def new() -> Tenancy:
    return Tenancy(LabelSettings(role_labels={"rack": "rack"}), SETTINGS)


def see(tenancy: Tenancy, second: int, *hosts: Host) -> None:
    for host in hosts:
        page = host.page(START + second)
        (table,) = page.tables
        tenancy.observe(page.second, table, page.labels, gpus_in_use(table, SETTINGS))


def moves(tenancy: Tenancy) -> list[tuple[str, str, bool]]:
    return [(move.job, move.node, move.has_joined) for move in tenancy.take_moves()]


def test_a_label_puts_a_node_into_its_job_at_once_whether_it_works_or_not() -> None:
    tenancy = new()
    see(tenancy, 0, Host("a", labels={"hpc_job": "j", "rack": "r1"}, utilization=0.0))
    (move,) = tenancy.take_moves()
    assert (move.job, move.node, move.has_joined, move.roles) == ("j", "a", True, {"rack": "r1"})
    assert tenancy.jobs_of(NodeName("a")) == ("j",)


def test_without_labels_busy_hosts_are_one_job_and_idle_ones_in_none() -> None:
    tenancy = new()
    for second in range(7):
        see(tenancy, second, Host("busy"), Host("idle", utilization=0.0))
        assert (tenancy.size_of(EVERYBODY) > 0) is (second >= 5)
    assert moves(tenancy) == [("cluster", "busy", True)]
    assert tenancy.gpus_of(EVERYBODY) == 2


def test_a_short_burst_makes_no_member() -> None:
    tenancy = new()
    for second in range(60):
        see(tenancy, second, Host("a", utilization=0.9 if second % 5 else 0.0))
    assert moves(tenancy) == []


def test_a_checkpoint_pause_does_not_end_a_membership_and_a_long_idle_time_does() -> None:
    tenancy = new()
    for second in range(10):
        see(tenancy, second, Host("a"))
    for second in range(10, 69):
        see(tenancy, second, Host("a", utilization=0.0))
    assert moves(tenancy) == [("cluster", "a", True)]
    see(tenancy, 69, Host("a", utilization=0.0))
    assert moves(tenancy) == [("cluster", "a", False)]


def test_a_gpu_that_falls_idle_beside_busy_ones_stays_in_the_job() -> None:
    tenancy = new()
    labels = Host("a", gpus=2).page(START).labels
    for second in range(300):
        usage = (True, second < 20)
        (table,) = Host("a").page(START + second).tables
        tenancy.observe(START + second, table, labels, usage)
    assert tenancy.gpus_of(EVERYBODY) == 2


def test_a_host_that_is_used_in_part_brings_only_the_gpus_that_ever_worked() -> None:
    tenancy = new()
    for second in range(20):
        (table,) = Host("a").page(START + second).tables
        tenancy.observe(START + second, table, {}, (True, False))
    assert tenancy.job_of(NodeName("a"), 0) == EVERYBODY
    assert tenancy.job_of(NodeName("a"), 1) is None


def test_once_a_label_names_a_job_nobody_is_in_the_job_of_all() -> None:
    tenancy = new()
    for second in range(10):
        see(tenancy, second, Host("a"), Host("b"))
    see(tenancy, 10, Host("a", labels={"hpc_job": "j"}), Host("b"))
    assert moves(tenancy) == [("j", "a", True)]
    assert tenancy.jobs_of(NodeName("b")) == ()


def test_a_label_that_is_missing_for_a_moment_changes_nothing() -> None:
    tenancy = new()
    see(tenancy, 0, Host("a", labels={"hpc_job": "j"}))
    tenancy.take_moves()
    for second in range(1, 20):
        see(tenancy, second, Host("a"))
    assert moves(tenancy) == []
    see(tenancy, 20, Host("a"))
    assert moves(tenancy) == [("j", "a", False)]


def test_a_label_that_names_another_job_moves_the_node_at_once() -> None:
    tenancy = new()
    see(tenancy, 0, Host("a", labels={"hpc_job": "old"}))
    tenancy.take_moves()
    see(tenancy, 1, Host("a", labels={"hpc_job": "new"}))
    assert moves(tenancy) == [("new", "a", True), ("old", "a", False)]


def test_a_node_whose_gpus_are_split_is_in_both_jobs_until_the_last_gpu_leaves() -> None:
    tenancy = new()
    page = Host("a").page(START)
    (table,) = page.tables
    tenancy.observe(START, table, split("a", "x", "y"), (True, True))
    assert tenancy.jobs_of(NodeName("a")) == ("x", "y")
    tenancy.take_moves()
    tenancy.observe(START + 1, table, split("a", "x", "x"), (True, True))
    assert moves(tenancy) == [("y", "a", False)]
    assert tenancy.gpus_of(JobName("x")) == 2


def test_a_silent_node_stays_for_long_and_then_leaves() -> None:
    tenancy = new()
    see(tenancy, 0, Host("a", labels={"hpc_job": "j"}), Host("b", labels={"hpc_job": "j"}))
    tenancy.take_moves()
    see(tenancy, 300, Host("b", labels={"hpc_job": "j"}))
    assert tenancy.expire(START + 300) == []
    assert tenancy.expire(START + 301) == ["a"]
    assert moves(tenancy) == [("j", "a", False)]
    assert tenancy.hosts() == (1, 2)


def test_while_everybody_is_silent_nobody_leaves() -> None:
    tenancy = new()
    see(tenancy, 0, Host("a", labels={"hpc_job": "j"}))
    assert tenancy.expire(START) == []


def test_a_gpu_of_which_nothing_is_known_may_be_in_use() -> None:
    blank = (float("nan"), float("nan"))
    columns = {"gpu_utilization_ratio": blank, "gpu_memory_used_bytes": (float("nan"), 5e9)}
    nodes = (NodeName("a"), NodeName("a"))
    assert list(gpus_in_use(Table(Entity.GPU, nodes, (0, 1), columns), SETTINGS)) == [True, True]
    columns["gpu_memory_used_bytes"] = (1e8, 1e8)
    assert list(gpus_in_use(Table(Entity.GPU, nodes, (0, 1), columns), SETTINGS)) == [False, False]
    power = {"gpu_power_watts": (90.0, 90.0)}
    assert list(gpus_in_use(Table(Entity.GPU, nodes, (0, 1), power), SETTINGS)) == [True, True]


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"),
            st.sampled_from(["", "x", "y"]),
            st.booleans(),
            st.integers(0, 40),
        ),
        max_size=40,
    )
)
def test_moves_tell_exactly_who_is_a_member(
    pages: list[tuple[str, str, bool, int]],
) -> None:
    tenancy = new()
    second = 0
    told: set[tuple[str, str]] = set()
    for node, job, is_used, later in pages:
        second += later
        labels = {"hpc_job": job} if job else {}
        see(tenancy, second, Host(node, labels=labels, utilization=0.9 * is_used))
        tenancy.expire(START + second)
        for move_job, move_node, has_joined in moves(tenancy):
            assert ((move_job, move_node) in told) is not has_joined
            told ^= {(move_job, move_node)}
    members = {
        (job, node) for job in ("x", "y", "cluster") for node in tenancy.nodes_of(JobName(job))
    }
    assert members == told
    assert members == {(job, node) for node in "abc" for job in tenancy.jobs_of(NodeName(node))}


A = NodeName("a")


def said(tenancy: Tenancy, second: int, **jobs: str) -> None:
    """What origins say of the GPUs of a host `a`: the jobs that their labels name."""
    for origin, job in jobs.items():
        page = Host("a", labels={"hpc_job": job} if job else {}).page(START + second)
        (table,) = page.tables
        in_use = gpus_in_use(table, SETTINGS)
        tenancy.observe(page.second, table, page.labels, in_use, origin)


def test_two_machines_of_one_name_are_each_in_the_job_that_their_own_origin_names() -> None:
    tenancy = new()
    for second in range(60):
        said(tenancy, second, north="x", south="y")
        if second == 1:
            assert moves(tenancy) == [("x", "a", True), ("y", "a", True)]
    assert moves(tenancy) == []
    assert [tenancy.job_of(A, 0, origin) for origin in ("north", "south")] == ["x", "y"]
    assert tenancy.twins == ("a",)
    assert (tenancy.gpus_of(JobName("x")), tenancy.gpus_of(JobName("y"))) == (2, 2)


def test_when_one_of_them_is_not_heard_any_more_the_name_is_the_other_ones() -> None:
    tenancy = new()
    for second in range(10):
        said(tenancy, second, north="x", south="y")
    moves(tenancy)
    for second in range(10, 40):
        said(tenancy, second, south="y")
    assert moves(tenancy) == [("x", "a", False)]
    assert tenancy.twins == ()
    assert tenancy.job_of(A, 1, "south") == "y"


def test_an_exporter_that_names_no_job_speaks_of_the_machine_that_the_other_names() -> None:
    tenancy = new()
    for second in range(10):
        said(tenancy, second, dcgm="x", smi="")
    assert moves(tenancy) == [("x", "a", True)]
    assert tenancy.job_of(A, 0, "smi") == "x"
    assert tenancy.twins == ()


def test_a_job_that_one_origin_names_sooner_than_another_makes_no_twin_that_stays() -> None:
    tenancy = new()
    for second in range(40):
        first = "x" if second < 20 else "y"
        said(tenancy, second, prometheus="x" if second < 23 else "y", exporter=first)
    assert moves(tenancy) == [("y", "a", True)]
    assert tenancy.twins == ()
    assert tenancy.gpus_of(JobName("y")) == 2


def test_a_twin_that_is_not_heard_for_long_has_left() -> None:
    tenancy = new()
    for second in range(10):
        said(tenancy, second, north="x", south="y")
    moves(tenancy)
    for second in (200, 320):
        said(tenancy, second, north="x")
        tenancy.expire(START + second)
        assert moves(tenancy) == ([] if second == 200 else [("y", "a", False)])
    assert tenancy.twins == ()
