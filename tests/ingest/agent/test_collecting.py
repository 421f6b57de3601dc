"""How a second's samples and reports become batches."""

from __future__ import annotations

import math
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from paramedic.ingest.agent.collecting import NodeSample, collect
from paramedic.ingest.agent.datagrams import RankReport
from paramedic.ingest.batch.decode import decode
from paramedic.ingest.batch.encode import encode
from paramedic.ingest.contract import Entity, JobName, NodeName, Table, TelemetryBatch

JOB = JobName("job")
A, B = NodeName("a"), NodeName("b")


def test_node_and_rank_rows_of_a_second_leave_in_one_batch() -> None:
    samples = [NodeSample(B, {"load_average": 2.0}), NodeSample(A, {"load_average": 1.0})]
    reports = [RankReport(B, 1, 0, 10, {"step": 5.0}), RankReport(A, 0, 0, 10, {"step": 5.0})]
    assert collect(JOB, 10, samples, reports, 0) == (
        TelemetryBatch(
            JOB,
            0,
            10,
            (
                Table(Entity.NODE, (A, B), None, {"load_average": (1.0, 2.0)}),
                Table(Entity.RANK, (A, B), (0, 1), {"step": (5.0, 5.0)}),
            ),
        ),
    )


def test_a_value_that_one_row_lacks_is_nan() -> None:
    (batch,) = collect(JOB, 10, [NodeSample(A, {"x": 1.0}), NodeSample(B, {"y": 2.0})], [], 0)
    columns = batch.tables[0].columns
    assert columns["x"][0] == 1.0
    assert math.isnan(columns["x"][1])
    assert math.isnan(columns["y"][0])


def test_reports_keep_the_second_of_their_sender() -> None:
    reports = [RankReport(A, 0, 0, second, {"step": float(second)}) for second in (11, 9, 10)]
    batches = collect(JOB, 10, [NodeSample(A, {"x": 1.0})], reports, 0)
    assert [batch.second for batch in batches] == [9, 10, 11]
    assert [[table.entity for table in batch.tables] for batch in batches] == [
        [Entity.RANK],
        [Entity.NODE, Entity.RANK],
        [Entity.RANK],
    ]


def test_generations_are_not_mixed_and_samples_go_with_the_newest() -> None:
    reports = [RankReport(A, 0, 1, 10, {"step": 5.0}), RankReport(B, 1, 0, 10, {"step": 4.0})]
    old, new = collect(JOB, 10, [NodeSample(A, {"x": 1.0})], reports, 0)
    assert (old.generation, [table.nodes for table in old.tables]) == (0, [(B,)])
    assert (new.generation, [table.entity for table in new.tables]) == (
        1,
        [Entity.NODE, Entity.RANK],
    )


def test_without_reports_the_last_known_generation_is_stated() -> None:
    (batch,) = collect(JOB, 10, [NodeSample(A, {"x": 1.0})], [], 3)
    assert batch.generation == 3


def test_an_old_report_does_not_turn_the_generation_back() -> None:
    batches = collect(JOB, 10, [NodeSample(A, {"x": 1.0})], [RankReport(A, 0, 2, 10, {})], 3)
    assert [(batch.generation, batch.tables[0].entity) for batch in batches] == [
        (2, Entity.RANK),
        (3, Entity.NODE),
    ]


def test_the_workers_of_a_node_are_added_up_but_for_being_stopped() -> None:
    samples = [
        NodeSample(A, {"process_resident_bytes": 1.0, "process_stopped": 1.0}),
        NodeSample(A, {"process_resident_bytes": 2.0, "process_stopped": 1.0}),
    ]
    (batch,) = collect(JOB, 10, samples, [], 0)
    assert batch.tables[0].columns == {
        "process_resident_bytes": (3.0,),
        "process_stopped": (1.0,),
    }


def test_of_a_value_that_was_sent_twice_the_last_one_stays() -> None:
    reports = [
        RankReport(A, 0, 0, 10, {"step": 1.0, "loss": 3.0}),
        RankReport(A, 0, 0, 10, {"step": 2.0}),
    ]
    (batch,) = collect(JOB, 10, [], reports, 0)
    assert batch.tables[0].columns == {"loss": (3.0,), "step": (2.0,)}


def test_nothing_to_tell_is_no_batch() -> None:
    assert collect(JOB, 10, [], [], 0) == ()


reports = st.lists(
    st.builds(
        RankReport,
        node=st.sampled_from([A, B]),
        rank=st.integers(0, 3),
        generation=st.integers(0, 2),
        second=st.integers(100, 103),
        values=st.dictionaries(st.sampled_from(["step", "heartbeat"]), st.integers(0, 99)),
    ),
    max_size=20,
)


@settings(max_examples=40)
@given(reports=reports)
def test_every_row_leaves_exactly_once_and_can_be_written_and_read(
    reports: list[RankReport],
) -> None:
    batches = collect(JOB, 101, [], reports, 0)
    assert [decode(encode(batch)).second for batch in batches] == [b.second for b in batches]
    rows = Counter(
        (batch.second, batch.generation, node, rank)
        for batch in batches
        for table in batch.tables
        for node, rank in zip(table.nodes, table.indices or (), strict=True)
    )
    expected = {(r.second, r.generation, r.node, r.rank) for r in reports}
    assert rows == Counter(expected)
