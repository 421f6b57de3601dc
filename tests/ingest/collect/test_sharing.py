"""A table's rows are divided among jobs and shards, none twice in a job and none invented."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ingest.collect.imagined import START, Host, page_of, split
from paramedic.ingest.collect.configuration import LabelSettings, TenancySettings
from paramedic.ingest.collect.sharing import Shard, Share, divide, taken, without
from paramedic.ingest.collect.tenancy import Tenancy
from paramedic.ingest.contract import Entity, JobName, NodeName, Table

NODES = tuple(NodeName(name) for name in "abcd")


def tenancy_of(jobs: dict[str, tuple[str, ...]]) -> Tenancy:
    """Nodes whose GPUs belong to these jobs, one each; an empty name is no job."""
    tenancy = Tenancy(LabelSettings(), TenancySettings())
    for node, of_gpus in jobs.items():
        (table,) = Host(node, gpus=len(of_gpus)).page(START).tables
        tenancy.observe(START, table, split(node, *of_gpus), (True,) * len(of_gpus))
    return tenancy


def node_table(*nodes: str) -> Table:
    names = tuple(NodeName(node) for node in nodes)
    loads = tuple(float(at) for at in range(len(nodes)))
    return Table(Entity.NODE, names, None, {"load_average": loads})


def test_gpu_rows_go_to_their_own_job_and_node_rows_to_every_job_of_the_node() -> None:
    tenancy = tenancy_of({"a": ("x", "y"), "b": ("y", "y"), "c": ("", "")})
    (gpus,) = page_of([Host("a"), Host("b"), Host("c")], START, "p").tables
    of_gpus = divide(gpus, tenancy)
    assert [(share.shard.job, share.rows) for share in of_gpus.shares] == [
        ("x", (0,)),
        ("y", (1, 2, 3)),
    ]
    assert of_gpus.ownerless == 2
    of_nodes = divide(node_table("a", "b", "c", "elsewhere"), tenancy)
    assert [(share.shard.job, share.nodes) for share in of_nodes.shares] == [
        ("x", ("a",)),
        ("y", ("a", "b")),
    ]
    assert of_nodes.ownerless == 2


def test_a_division_holds_for_the_same_layout_as_long_as_nobody_moves() -> None:
    tenancy = tenancy_of({"a": ("x", "x")})
    first, second = (Host("a").page(START + at).tables[0] for at in range(2))
    division = divide(first, tenancy)
    assert division.holds_for(second, tenancy.version)
    assert not division.holds_for(Host("a", gpus=1).page(START).tables[0], tenancy.version)
    tenancy.observe(START + 1, first, split("a", "x", "y"), (True, True))
    assert not division.holds_for(second, tenancy.version)


def test_all_rows_are_the_table_itself_and_one_row_is_still_a_table() -> None:
    table = node_table("a", "b")
    shard = Shard(JobName("x"), 0, 1)
    assert taken(table, Share(shard, (0, 1), table.nodes)) is table
    one = taken(table, Share(shard, (1,), (NodeName("b"),)))
    assert (one.nodes, one.indices, dict(one.columns)) == (("b",), None, {"load_average": (1.0,)})


@given(
    st.lists(st.lists(st.sampled_from(["", "x", "y"]), min_size=1, max_size=3), max_size=4),
    st.sets(st.sampled_from(NODES)),
)
def test_every_row_is_in_the_share_of_its_job_or_counted_as_nobodys(
    jobs: list[list[str]], left_out: set[NodeName]
) -> None:
    by_node = {str(node): tuple(of_gpus) for node, of_gpus in zip(NODES, jobs, strict=False)}
    tenancy = tenancy_of(by_node)
    hosts = [Host(node, gpus=len(of_gpus)) for node, of_gpus in by_node.items()]
    (table,) = page_of(hosts, START, "p").tables
    division = divide(table, tenancy)
    placed = [
        (share.shard.job, row_node, index)
        for share in division.shares
        for row_node, index in _rows(taken(table, share))
    ]
    wanted = [(job, node, gpu) for node, of in by_node.items() for gpu, job in enumerate(of) if job]
    assert sorted(placed) == sorted(wanted)
    assert division.ownerless == len(table.nodes) - len(wanted)
    for share in division.shares:
        kept = without(share, frozenset(left_out))
        assert set(kept.nodes) == set(share.nodes) - left_out
        assert len(kept.rows) == len(kept.nodes)


def test_values_stay_with_their_rows() -> None:
    (table,) = page_of([Host("a"), Host("b")], START, "p").tables
    share = Share(Shard(JobName("x"), 0, 1), (3, 0), (NodeName("b"), NodeName("a")))
    chosen = taken(table, share)
    assert chosen.indices == (1, 0)
    for metric, column in table.columns.items():
        assert tuple(chosen.columns[metric]) == (column[3], column[0])


def _rows(table: Table) -> list[tuple[NodeName, int]]:
    return list(zip(table.nodes, table.indices or (), strict=True))
